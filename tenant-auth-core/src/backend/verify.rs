//! Token verification for a customer's backend (introspection). The API key, its organization and the session behind the token are
//! read in one statement, so that the answer is true at one moment; then key, scope and token are judged in this order.

use std::sync::Arc;

use super::{key_lookup::Question, presented_key::PresentedKey};
use crate::{
    caller::{Backend, Tenant},
    error::Error,
    metrics::VerifyOutcome,
    model::{Organization, Status},
    principal::Principal,
    scope::Verify,
    secret::{ApiKeyText, SignedToken},
    service::TenantAuth,
    store::LiveSession,
    time::Timestamp,
    token::AccessToken,
    value::Slug,
};

/// The result of verifying an access token.
#[derive(Debug)]
#[non_exhaustive]
pub enum Verification {
    /// The token is live. Grant access only when `membership.status` is active: a valid token may be a suspended member's.
    Valid(Box<Principal>),
    /// The token is not live. The reason is not told.
    Invalid,
}

/// A backend with the scope `verify` and the session of the token it asks about. Both are read in one statement, so that the answer
/// is true at one moment.
#[derive(Debug)]
pub(crate) struct TokenQuery {
    backend: Backend<Verify>,
    ahead: Option<LookedUp>,
}

/// An access token and the live session found for it.
#[derive(Debug)]
struct LookedUp {
    text: SignedToken,
    token: Option<Arc<AccessToken>>,
    session: Option<Arc<LiveSession>>,
}

/// What a backend asks about.
pub(crate) struct AskedAbout {
    pub(crate) token: String,
    /// Whether the backend has seen later than what this process may remember: it gave a cursor, which can be of this very moment. Then
    /// the answer is of no earlier moment than the request.
    pub(crate) is_after: bool,
}

/// A token that was found live, and what it was found to be of.
struct Judged {
    token: Arc<AccessToken>,
    live: Arc<LiveSession>,
}

impl From<&Judged> for Verification {
    fn from(Judged { token, live }: &Judged) -> Self {
        Self::Valid(Box::new(Principal::of(live, token)))
    }
}

impl TenantAuth {
    /// Verifies an access token for a backend with an API key.
    ///
    /// # Errors
    /// [`Error::InvalidApiKey`], the same for every reason; [`Error::MissingScope`] without the scope `verify`. An invalid token is
    /// no error.
    pub async fn verify_with_key(&self, slug: &Slug, key: &ApiKeyText, access_token: &str) -> Result<Verification, Error> {
        let key = PresentedKey::parse(key).ok_or(Error::InvalidApiKey)?;
        let asked = || Some(AskedAbout { token: access_token.to_owned(), is_after: false });
        self.token_query(slug, &key, asked).await?.about(access_token)
    }

    /// Authenticates a backend and reads the session of the token it asks about in the same statement. `read` reads the token out
    /// of the request, and is asked only once the key is believed or was at least made here: nothing is parsed for strangers. A
    /// query without a token cannot be answered.
    ///
    /// # Errors
    /// As [`TenantAuth::verify_with_key`].
    pub(crate) async fn token_query(
        &self,
        slug: &Slug,
        key: &PresentedKey,
        read: impl FnOnce() -> Option<AskedAbout> + Send,
    ) -> Result<TokenQuery, Error> {
        if !self.is_remembered(slug, key) && !self.master_keys().made(key.text().expose()) {
            // A false key, or one that was made under a master key that is gone.
            self.holder_of(slug, key).await?;
        }
        let asked = read();
        let view = match &asked {
            Some(asked) if asked.is_after => self.memory().view_from_now().await?,
            _ => self.memory().view().await?,
        };
        let ahead = match asked {
            Some(AskedAbout { token: text, .. }) => {
                let genuine = self.read_access_of_any_key(view, &text).await?;
                Some((SignedToken::new(text), genuine))
            }
            None => None,
        };
        let genuine = ahead.as_ref().and_then(|(text, genuine)| Some((text, genuine.as_ref()?)));
        let token = genuine.map(|(_, genuine)| &*genuine.token);
        let (backend, session) = self.ask(view, &Question { slug, key, token }).await?;
        if let Some((text, genuine)) = genuine {
            genuine.keep(view, text.expose());
        }
        let ahead = ahead.map(|(text, genuine)| LookedUp { text, token: genuine.map(|genuine| genuine.token), session });
        Ok(TokenQuery { backend: backend.having()?, ahead })
    }
}

impl TokenQuery {
    /// Verifies the token. An invalid token is no error.
    ///
    /// # Errors
    /// [`Error::Internal`] for another token than the one that was looked up: nothing is known of it.
    pub(crate) fn about(self, access_token: &str) -> Result<Verification, Error> {
        Ok(self.judged(access_token)?.map_or(Verification::Invalid, |judged| (&judged).into()))
    }

    /// The same as a text, which is kept for when the same is asked again. `write` writes it.
    ///
    /// # Errors
    /// As [`TokenQuery::about`]; those of `write`.
    #[cfg(feature = "http")]
    pub(crate) fn told(
        self,
        access_token: &str,
        write: impl FnOnce(Verification) -> Result<bytes::Bytes, Error>,
    ) -> Result<bytes::Bytes, Error> {
        let Some(judged) = self.judged(access_token)? else { return write(Verification::Invalid) };
        let memory = self.backend.auth.memory();
        if let Some(told) = memory.told(access_token, &judged.live) {
            return Ok(told);
        }
        let told = write((&judged).into())?;
        memory.keep_told(access_token, &judged.live, &told);
        Ok(told)
    }

    fn judged(&self, access_token: &str) -> Result<Option<Judged>, Error> {
        match &self.ahead {
            Some(LookedUp { text, token, session }) if text.expose() == access_token => {
                Ok(judge(&self.backend.auth, &self.backend.org, token.as_ref().zip(session.as_ref())))
            }
            _ => Err(Error::internal("a token was asked about that was not looked up")),
        }
    }
}

impl Tenant {
    /// Verifies an access token from inside the process; no API key is needed.
    ///
    /// # Errors
    /// [`Error::Unavailable`]. An invalid token is no error.
    pub async fn verify(&self, access_token: &str) -> Result<Verification, Error> {
        let view = self.auth.memory().view().await?;
        let Some(genuine) = self.auth.read_access_of_any_key(view, access_token).await? else {
            judge(&self.auth, &self.org, None);
            return Ok(Verification::Invalid);
        };
        let live = self.auth.session_of(view, &genuine.token).await?;
        genuine.keep(view, access_token);
        let judged = judge(&self.auth, &self.org, live.as_ref().map(|live| (&genuine.token, live)));
        Ok(judged.map_or(Verification::Invalid, |judged| (&judged).into()))
    }
}

/// Judges a genuine token and the session that was found for it.
fn judge(auth: &TenantAuth, org: &Organization, found: Option<(&Arc<AccessToken>, &Arc<LiveSession>)>) -> Option<Judged> {
    let judged = found.filter(|(token, live)| is_valid(auth, org, token, live));
    let judged = judged.map(|(token, live)| Judged { token: Arc::clone(token), live: Arc::clone(live) });
    auth.metrics().verification(match &judged {
        Some(judged) if judged.live.membership.status == Status::Suspended => VerifyOutcome::Suspended,
        Some(_) => VerifyOutcome::Valid,
        None => VerifyOutcome::Invalid,
    });
    judged
}

/// Whether a genuine token is valid in an organization, by the session that was found for it.
fn is_valid(auth: &TenantAuth, org: &Organization, token: &AccessToken, live: &LiveSession) -> bool {
    live.matches(token) && counts_in(auth, org, &live.org, live.session.expires_at)
}

/// Whether a session of this organization, which ends then, counts in an organization that is asked about it.
pub(super) fn counts_in(auth: &TenantAuth, asked: &Organization, its: &Organization, expires_at: Timestamp) -> bool {
    its.id == asked.id && auth.now() < expires_at && its.status == Status::Active
}

#[cfg(all(test, feature = "testing", feature = "sqlite"))]
mod tests {
    use super::*;
    use crate::testing::{SLUG, TestAuth};

    fn presented(key: &str) -> PresentedKey {
        PresentedKey::parse(&ApiKeyText::new(key)).expect("well-formed")
    }

    #[tokio::test]
    async fn nothing_is_read_for_a_false_key() {
        let test = TestAuth::new().await;
        let (slug, key) = (SLUG.parse().expect("a slug"), test.api_key(&[crate::model::Scope::Verify]).await);
        let end = key.expose().len() - 1;
        for changed in ["-", "_"] {
            let false_key = presented(&format!("{}{changed}", &key.expose()[..end]));
            let query = test.auth.token_query(&slug, &false_key, || panic!("the token of a stranger is read")).await;
            assert!(matches!(query, Err(Error::InvalidApiKey)));
        }
        let query = test
            .auth
            .token_query(&slug, &presented(key.expose()), || Some(AskedAbout { token: "rubbish".to_owned(), is_after: false }))
            .await;
        assert!(matches!(query.expect("a live key").about("rubbish"), Ok(Verification::Invalid)));
    }
}
