//! Token verification for a customer's backend (introspection). The API key, its organization and the session behind the token are
//! read in one statement, so that the answer is true at one moment; then key, scope and token are judged in this order.

use std::{marker::PhantomData, net::IpAddr, sync::Arc};

use tracing::Instrument;

use super::presented_key::PresentedKey;
use crate::{
    caller::{Backend, Tenant},
    error::Error,
    id::KeyId,
    memory::{Recalled, View},
    metrics::VerifyOutcome,
    model::{Organization, Status},
    principal::Principal,
    scope::Verify,
    secret::{ApiKeyText, SignedToken},
    service::TenantAuth,
    store::{KeyRecord, LiveSession, Witnessed},
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

/// What a backend asks: with which key of which organization, and about which genuine token.
pub(super) struct Question<'a> {
    pub(super) slug: &'a Slug,
    pub(super) key: &'a PresentedKey,
    pub(super) token: Option<&'a AccessToken>,
}

/// What a backend asks about.
pub(crate) struct AskedAbout {
    pub(crate) token: String,
    /// Whether the backend has seen later than what this process may remember: it gave a cursor, which can be of this very moment. Then
    /// the answer is of no earlier moment than the request.
    pub(crate) is_after: bool,
}

/// What was found of a question: a key that counts, the organization, and the session if there is one.
pub(super) struct Found {
    pub(super) key: Arc<KeyRecord>,
    pub(super) org: Arc<Organization>,
    pub(super) live: Option<Arc<LiveSession>>,
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
    /// Authenticates a backend by its API key. A wrong key, another organization's key and an unknown slug give the same refusal,
    /// so that a caller cannot find out which slugs exist.
    ///
    /// # Errors
    /// [`Error::InvalidApiKey`].
    pub async fn backend(&self, slug: &Slug, key: &ApiKeyText) -> Result<Backend, Error> {
        let key = PresentedKey::parse(key).ok_or(Error::InvalidApiKey)?;
        self.holder_of(slug, &key).await
    }

    /// Authenticates the product's own backend by a deployment key, in any organization. `sender` is the address that shows the key,
    /// for a key that counts from some networks only.
    ///
    /// # Errors
    /// [`Error::InvalidApiKey`], the same for every reason; [`Error::UnknownOrganization`].
    pub async fn backend_of_deployment(&self, slug: &Slug, key: &ApiKeyText, sender: Option<IpAddr>) -> Result<Backend, Error> {
        let key = PresentedKey::of_deployment(key, sender).ok_or(Error::InvalidApiKey)?;
        self.holder_of(slug, &key).await
    }

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

    /// Authenticates a backend by its API key.
    ///
    /// # Errors
    /// [`Error::InvalidApiKey`], the same for every reason.
    pub(crate) async fn holder_of(&self, slug: &Slug, key: &PresentedKey) -> Result<Backend, Error> {
        let view = self.memory().view().await?;
        Ok(self.ask(view, &Question { slug, key, token: None }).await?.0)
    }

    /// The backend of a key and the session it asks about: both remembered, or both of one statement.
    async fn ask(&self, view: Option<View<'_>>, question: &Question<'_>) -> Result<(Backend, Option<Arc<LiveSession>>), Error> {
        let Found { key, org, live } = self.find(view, question).await?;
        Ok((self.holder(&key, org), live))
    }

    /// A key that counts in this organization, and the organization.
    ///
    /// # Errors
    /// [`Error::InvalidApiKey`], the same for every reason; [`Error::UnknownOrganization`] for a deployment key.
    pub(super) async fn key_in(&self, slug: &Slug, key: &PresentedKey) -> Result<(Arc<KeyRecord>, Arc<Organization>), Error> {
        let view = self.memory().view().await?;
        let Found { key, org, .. } = self.find(view, &Question { slug, key, token: None }).await?;
        Ok((key, org))
    }

    async fn find(&self, view: Option<View<'_>>, question: &Question<'_>) -> Result<Found, Error> {
        let found = match view.and_then(|view| self.recalled(view, question)) {
            Some(found) => found,
            None => self.read_for(view, question).await?,
        };
        // The operators' own organization is not the product's.
        if found.key.home().is_none() && self.config().organizations.operator_org.as_ref() == Some(question.slug) {
            return Err(Error::UnknownOrganization);
        }
        Ok(found)
    }

    /// The answer from memory; `None` when it does not know the key, the organization or the session, or would refuse the key.
    pub(super) fn recalled(&self, view: View<'_>, question: &Question<'_>) -> Option<Found> {
        let key = view.key(question.key.id()).filter(|key| question.key.is_believed(key, Some(question.slug), self.now()))?;
        let org = match key.home() {
            Some(org) => Arc::clone(org),
            None => view.organization(question.slug)?,
        };
        match question.token.map(|token| view.recall(token, self.now())) {
            Some(Recalled::Live(live)) => Some(Found { key, org, live: Some(live) }),
            Some(Recalled::Superseded) | None => Some(Found { key, org, live: None }),
            Some(Recalled::Unknown) => None,
        }
    }

    /// The answer of the database, which is kept.
    async fn read_for(&self, view: Option<View<'_>>, question: &Question<'_>) -> Result<Found, Error> {
        let session = question.token.map(|token| &token.session);
        let fill = view.map(|view| (view, view.fill()));
        let asked = self.lookups().of_key(question.key.id(), Some(question.slug), session, fill.is_some()).await?;
        let Witnessed { value: asked, incarnation } = asked.ok_or(Error::InvalidApiKey)?;
        let (key, live) = (Arc::new(asked.key), asked.live.map(Arc::new));
        if let Some((view, fill)) = fill {
            let incarnation = incarnation.as_deref();
            view.keep_key(fill, &key, incarnation);
            // A key of an organization holds it.
            if let (None, Some(org)) = (key.home(), &asked.org) {
                view.keep_organization(fill, org, incarnation);
            }
            if let Some(live) = &live {
                view.keep_session(fill, live, incarnation);
            }
        }
        if !question.key.is_believed(&key, Some(question.slug), self.now()) {
            return Err(Error::InvalidApiKey);
        }
        Ok(Found { key, org: asked.org.ok_or(Error::UnknownOrganization)?, live })
    }

    /// Whether memory believes the key: then its tag need not be computed.
    fn is_remembered(&self, slug: &Slug, key: &PresentedKey) -> bool {
        let remembered = self.memory().view_now().and_then(|view| view.peek_key(key.id()));
        remembered.is_some_and(|record| key.is_believed(&record, Some(slug), self.now()))
    }

    fn holder(&self, key: &KeyRecord, org: Arc<Organization>) -> Backend {
        self.note_key_use(&key.id, key.last_used_at);
        Backend { auth: self.clone(), org, key: key.id.clone(), scopes: key.scopes.clone(), found: PhantomData }
    }

    /// Writes that a key was used, in a task of its own.
    pub(super) fn note_key_use(&self, key: &KeyId, last_used_at: Option<Timestamp>) {
        let now = self.now();
        if !self.key_uses().is_news(key, last_used_at, now) {
            return;
        }
        let (auth, key) = (self.clone(), key.clone());
        let noting = async move {
            let written = async {
                let mut tx = auth.begin().await?;
                match &key {
                    KeyId::ApiKey(id) => tx.api_keys().mark_used(id).await?,
                    KeyId::DeploymentKey(id) => tx.deployment_keys().mark_used(id).await?,
                }
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
