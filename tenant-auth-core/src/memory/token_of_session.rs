//! What is known of a remembered session's token: whether a text is that token, what it says, and what was told of it.

use std::sync::Arc;

use super::{
    kept_session::KeptSession,
    kept_token::{KeptToken, TextDigest},
};
use crate::{
    id::Id,
    token::{AccessToken, Signer},
};
#[cfg(feature = "http")]
use crate::{
    model::{Organization, Status},
    store::LiveSession,
    time::Timestamp,
};

/// A token that was told of, and what judges whether that may be told again.
#[cfg(feature = "http")]
pub(crate) struct ToldToken {
    pub(crate) expires_at: Timestamp,
    pub(crate) org: Arc<Organization>,
    pub(crate) session_expires_at: Timestamp,
    pub(crate) status: Status,
    pub(crate) body: ::bytes::Bytes,
}

impl KeptSession {
    /// The content of the session's token, if it is this one and this signer found it genuine.
    pub(super) fn token(&self, digest: TextDigest, signer: &Arc<Signer>) -> Option<AccessToken> {
        let token = self.token.as_ref().filter(|token| token.is(digest, signer))?;
        let head = self.head()?;
        Some(AccessToken {
            user: Id::of_body(head.user),
            org: self.org.id.clone(),
            session: Id::from_stored(head.session),
            generation: head.generation,
            expires_at: token.expires_at,
        })
    }

    /// The same session with a token that was found genuine, if it is of the session's generation, user and organization.
    pub(super) fn with_token(&self, digest: TextDigest, content: &AccessToken, signer: &Arc<Signer>) -> Option<Self> {
        let head = self.head()?;
        let is_its = content.generation == head.generation && content.user.body() == head.user && content.org == self.org.id;
        let token = KeptToken { digest, signer: Arc::downgrade(signer), expires_at: content.expires_at, told: None };
        is_its.then(|| self.beside(token))
    }

    /// The same with what was told of this session and its token, if that is this one.
    #[cfg(feature = "http")]
    pub(super) fn telling(&self, digest: TextDigest, live: &LiveSession, body: &[u8]) -> Option<Self> {
        let token = self.token.as_ref().filter(|token| token.digest == digest && self.is_of(live))?;
        Some(self.beside(KeptToken { told: Some(body.into()), ..token.clone() }))
    }

    /// What was told of this session and its token.
    #[cfg(feature = "http")]
    pub(super) fn told(&self, digest: TextDigest, live: &LiveSession) -> Option<::bytes::Bytes> {
        let token = self.token.as_ref().filter(|token| token.digest == digest && self.is_of(live))?;
        token.told.clone().map(::bytes::Bytes::from_owner)
    }

    /// What was told of the session's token, if it is this one and this signer found it genuine, with what judges it.
    #[cfg(feature = "http")]
    pub(super) fn told_token(&self, digest: TextDigest, signer: &Arc<Signer>) -> Option<ToldToken> {
        let token = self.token.as_ref().filter(|token| token.is(digest, signer))?;
        let (told, head) = (token.told.clone()?, self.head()?);
        Some(ToldToken {
            expires_at: token.expires_at,
            org: Arc::clone(&self.org),
            session_expires_at: head.expires_at,
            status: head.status,
            body: ::bytes::Bytes::from_owner(told),
        })
    }
}
