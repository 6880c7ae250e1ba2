//! Token verification for a customer's backend (introspection). The API key, its organization and the session behind the token are
//! read in one statement, so that the answer is true at one moment; then key, scope and token are judged in this order.

use crate::{
    caller::{Backend, Tenant},
    error::Error,
    id::{ApiKeyId, Id},
    metrics::VerifyOutcome,
    model::{Membership, Organization, Scope, Session, Status, User},
    secret::ApiKeyText,
    service::TenantAuth,
    store::Standing,
    time::Timestamp,
    token::AccessToken,
};

/// The result of verifying an access token.
#[derive(Debug)]
#[non_exhaustive]
pub enum Verification {
    /// The token is live. Grant access only when `membership.status` is active: a valid token may be a suspended member's.
    Valid(Box<Identity>),
    /// The token is not live. The reason is not told.
    Invalid,
}

/// The person, membership, organization and session of a live access token.
#[derive(Debug)]
#[non_exhaustive]
pub struct Identity {
    /// The person.
    pub user: User,
    /// The person's membership, which may be suspended.
    pub membership: Membership,
    /// The organization.
    pub org: Organization,
    /// The session.
    pub session: Session,
}

/// An authenticated API key and the session it asked about, read in one statement. [`Asking::verify`] checks the scope and answers.
#[derive(Debug)]
pub struct Asking {
    pub(crate) backend: Backend,
    token: Option<AccessToken>,
    standing: Option<Standing>,
}

impl TenantAuth {
    /// Authenticates a backend by its API key and reads the session of the token it asks about.
    ///
    /// # Errors
    /// [`Error::InvalidApiKey`], the same for every reason.
    pub async fn asking(&self, slug: &str, key: &ApiKeyText, access_token: Option<&str>) -> Result<Asking, Error> {
        let key_id = key_id_of(key).ok_or(Error::InvalidApiKey)?;
        let token = access_token.and_then(|text| self.signer().read_access(text, self.now()));
        let session = token.as_ref().map(|token| &token.session);
        let record = self.store().read().await?.api_keys().asking(&key_id, session).await?.ok_or(Error::InvalidApiKey)?;
        let genuine = record.digest.matches(&key.digest());
        let alive = record.expires_at.is_none_or(|end| self.now() < end);
        if !genuine || !alive || record.org.slug.as_str() != slug {
            return Err(Error::InvalidApiKey);
        }
        self.note_key_use(&record.id, record.last_used_at);
        let backend = Backend { auth: self.clone(), org: record.org, scopes: record.scopes };
        Ok(Asking { backend, token, standing: record.standing })
    }

    /// Writes that a key was used, in a task of its own.
    fn note_key_use(&self, key: &ApiKeyId, last_used_at: Option<Timestamp>) {
        let now = self.now();
        if !self.key_uses().is_news(key, last_used_at, now) {
            return;
        }
        let (auth, key) = (self.clone(), key.clone());
        self.runtime().spawn(async move {
            let written = async {
                let mut tx = auth.begin().await?;
                tx.api_keys().mark_used(&key).await?;
                tx.commit().await
            };
            if let Err(error) = written.await {
                tracing::debug!(key = %key, %error, "the use of a key was not written");
            }
        });
    }
}

impl Asking {
    /// Verifies the token.
    ///
    /// # Errors
    /// [`Error::MissingScope`] without the scope `verify`. An invalid token is no error.
    pub fn verify(self) -> Result<Verification, Error> {
        self.backend.allows(Scope::Verify)?;
        Ok(answer(&self.backend.auth, &self.backend.org, self.token, self.standing))
    }
}

impl Tenant {
    /// Verifies an access token from inside the process; no API key is needed.
    ///
    /// # Errors
    /// [`Error::Unavailable`]. An invalid token is no error.
    pub async fn verify(&self, access_token: &str) -> Result<Verification, Error> {
        let token = self.auth.signer().read_access(access_token, self.auth.now());
        let standing = match &token {
            Some(token) => self.auth.store().read().await?.sessions().standing(&token.session).await?,
            None => None,
        };
        Ok(answer(&self.auth, &self.org, token, standing))
    }
}

fn answer(auth: &TenantAuth, org: &Organization, token: Option<AccessToken>, standing: Option<Standing>) -> Verification {
    let answer = match (token, standing) {
        (Some(token), Some(standing)) => judge(auth, org, &token, standing),
        _ => Verification::Invalid,
    };
    auth.metrics().verification(VerifyOutcome::of(&answer));
    answer
}

impl VerifyOutcome {
    fn of(answer: &Verification) -> Self {
        match answer {
            Verification::Valid(identity) if identity.membership.status == Status::Suspended => Self::Suspended,
            Verification::Valid(_) => Self::Valid,
            Verification::Invalid => Self::Invalid,
        }
    }
}

fn judge(auth: &TenantAuth, org: &Organization, token: &AccessToken, standing: Standing) -> Verification {
    let here = standing.org.id == org.id && standing.matches(token);
    if !here || !standing.is_live(auth.now()) || standing.org.status == Status::Suspended {
        return Verification::Invalid;
    }
    let Standing { session, user, membership, org } = standing;
    Verification::Valid(Box::new(Identity { user, membership, org, session }))
}

/// The id in a key's text, which is `pk_live_`, the id's body, the secret.
pub(crate) fn key_id_of(key: &ApiKeyText) -> Option<ApiKeyId> {
    let body = key.expose().strip_prefix(super::api_keys::PREFIX)?.get(..26)?;
    format!("key_{body}").parse::<Id<_>>().ok()
}
