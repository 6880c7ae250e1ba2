//! Token verification for a customer's backend (introspection). The API key, its organization and the session behind the token are
//! read in one statement, so that the answer is true at one moment; then key, scope and token are judged in this order.

use std::marker::PhantomData;

use tracing::Instrument;

use crate::{
    caller::{Backend, Tenant},
    error::Error,
    id::{ApiKeyId, SessionId},
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
    token: Option<AccessToken>,
    session: Option<LiveSession>,
}

/// An API key as it was presented: well-formed, and not yet believed.
pub(crate) struct PresentedKey {
    id: ApiKeyId,
    text: ApiKeyText,
}

impl PresentedKey {
    /// The whole text.
    #[cfg(feature = "http")]
    pub(crate) fn text(&self) -> &ApiKeyText {
        &self.text
    }

    /// `pk_live_`, the id's body, the secret.
    pub(crate) fn parse(key: &ApiKeyText) -> Option<Self> {
        let body = key.expose().strip_prefix(super::api_keys::PREFIX)?.get(..26)?;
        Some(Self { id: format!("key_{body}").parse().ok()?, text: key.clone() })
    }
}

impl TenantAuth {
    /// Authenticates a backend by its API key. A wrong key, another organization's key and an unknown slug give the same refusal,
    /// so that a caller cannot find out which slugs exist.
    ///
    /// # Errors
    /// [`Error::InvalidApiKey`].
    pub async fn backend(&self, slug: &Slug, key: &ApiKeyText) -> Result<Backend, Error> {
        let key = PresentedKey::parse(key).ok_or(Error::InvalidApiKey)?;
        Ok(self.holder_of(slug, &key, None).await?.0)
    }

    /// Verifies an access token for a backend with an API key.
    ///
    /// # Errors
    /// [`Error::InvalidApiKey`], the same for every reason; [`Error::MissingScope`] without the scope `verify`. An invalid token is
    /// no error.
    pub async fn verify_with_key(&self, slug: &Slug, key: &ApiKeyText, access_token: &str) -> Result<Verification, Error> {
        let key = PresentedKey::parse(key).ok_or(Error::InvalidApiKey)?;
        self.token_query(slug, &key, || Some(access_token.to_owned())).await?.about(access_token)
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
        read: impl FnOnce() -> Option<String> + Send,
    ) -> Result<TokenQuery, Error> {
        if !self.master_keys().made(key.text.expose()) {
            // A false key, or one that was made under a master key that is gone.
            self.holder_of(slug, key, None).await?;
        }
        let ahead = read().map(|text| {
            let token = self.signer().read_access(&text, self.now());
            (SignedToken::new(text), token)
        });
        let session = ahead.as_ref().and_then(|(_, token)| Some(&token.as_ref()?.session));
        let (backend, session) = self.holder_of(slug, key, session).await?;
        let ahead = ahead.map(|(text, token)| LookedUp { text, token, session });
        Ok(TokenQuery { backend: backend.having()?, ahead })
    }

    /// Authenticates a backend by its API key and reads the session of the token it asks about.
    ///
    /// # Errors
    /// [`Error::InvalidApiKey`], the same for every reason.
    pub(crate) async fn holder_of(
        &self,
        slug: &Slug,
        key: &PresentedKey,
        session: Option<&SessionId>,
    ) -> Result<(Backend, Option<LiveSession>), Error> {
        let record = self.store().read().await?.api_keys().asking(&key.id, session).await?.ok_or(Error::InvalidApiKey)?;
        let genuine = record.digest.matches(&key.text.digest());
        let alive = record.expires_at.is_none_or(|end| self.now() < end);
        if !genuine || !alive || record.org.slug != *slug {
            return Err(Error::InvalidApiKey);
        }
        self.note_key_use(&record.id, record.last_used_at);
        let backend = Backend { auth: self.clone(), org: record.org, scopes: record.scopes, found: PhantomData };
        Ok((backend, record.live))
    }

    /// Writes that a key was used, in a task of its own.
    fn note_key_use(&self, key: &ApiKeyId, last_used_at: Option<Timestamp>) {
        let now = self.now();
        if !self.key_uses().is_news(key, last_used_at, now) {
            return;
        }
        let (auth, key) = (self.clone(), key.clone());
        let noting = async move {
            let written = async {
                let mut tx = auth.begin().await?;
                tx.api_keys().mark_used(&key).await?;
                tx.commit().await
            };
            if let Err(error) = written.await {
                tracing::debug!(key = %key, error = %error.causes(), "the use of a key was not written");
            }
        };
        self.runtime().spawn(noting.in_current_span());
    }
}

impl TokenQuery {
    /// Verifies the token. An invalid token is no error.
    ///
    /// # Errors
    /// [`Error::Internal`] for another token than the one that was looked up: nothing is known of it.
    pub(crate) fn about(self, access_token: &str) -> Result<Verification, Error> {
        match self.ahead {
            Some(LookedUp { text, token, session }) if text.expose() == access_token => {
                Ok(answer(&self.backend.auth, &self.backend.org, token, session))
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
        let token = self.auth.signer().read_access(access_token, self.auth.now());
        let live = match &token {
            Some(token) => self.auth.store().read().await?.sessions().find_live(&token.session).await?,
            None => None,
        };
        Ok(answer(&self.auth, &self.org, token, live))
    }
}

fn answer(auth: &TenantAuth, org: &Organization, token: Option<AccessToken>, live: Option<LiveSession>) -> Verification {
    let answer = match (token, live) {
        (Some(token), Some(live)) => judge(auth, org, &token, live),
        _ => Verification::Invalid,
    };
    auth.metrics().verification(VerifyOutcome::of(&answer));
    answer
}

impl VerifyOutcome {
    fn of(answer: &Verification) -> Self {
        match answer {
            Verification::Valid(principal) if principal.membership.status == Status::Suspended => Self::Suspended,
            Verification::Valid(_) => Self::Valid,
            Verification::Invalid => Self::Invalid,
        }
    }
}

fn judge(auth: &TenantAuth, org: &Organization, token: &AccessToken, live: LiveSession) -> Verification {
    let here = live.org.id == org.id && live.matches(token);
    if !here || !live.is_live(auth.now()) || live.org.status == Status::Suspended {
        return Verification::Invalid;
    }
    Verification::Valid(Box::new(live.into()))
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
        let query = test.auth.token_query(&slug, &presented(key.expose()), || Some("rubbish".to_owned())).await;
        assert!(matches!(query.expect("a live key").about("rubbish"), Ok(Verification::Invalid)));
    }
}
