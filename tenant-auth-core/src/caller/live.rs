//! The live session behind an access token: what every caller with a session rests on, remembered or read.

use std::sync::Arc;

use crate::{
    error::Error,
    memory::{Recalled, View},
    model::Status,
    service::TenantAuth,
    store::LiveSession,
    time::Timestamp,
    token::{AccessToken, Signer},
};

/// A genuine access token of its session's current generation, and the session.
#[derive(Debug)]
pub(crate) struct LiveToken {
    #[cfg(feature = "http")]
    pub(crate) token: Arc<AccessToken>,
    pub(crate) live: Arc<LiveSession>,
}

/// An access token whose signature was verified and that has not expired.
#[derive(Debug)]
pub(crate) struct GenuineToken {
    pub(crate) token: Arc<AccessToken>,
    /// The signer that verified it now; `None` when it was remembered.
    verified_by: Option<Arc<Signer>>,
}

impl GenuineToken {
    /// Remembers that it was verified. To be called once its session was asked for: the token is remembered beside the session.
    pub(crate) fn keep(&self, view: Option<View<'_>>, text: &str) {
        if let (Some(view), Some(signer)) = (view, &self.verified_by) {
            view.keep_token(text, &self.token, signer);
        }
    }
}

impl TenantAuth {
    /// The live session of a genuine access token of the current generation, in any organization.
    pub(crate) async fn live_session(&self, access_token: &str) -> Result<Option<Arc<LiveSession>>, Error> {
        Ok(self.live_token(access_token).await?.map(|found| found.live))
    }

    /// The same beside the token's content.
    pub(crate) async fn live_token(&self, access_token: &str) -> Result<Option<LiveToken>, Error> {
        let view = self.memory().view().await?;
        let Some(genuine) = self.read_access_of_any_key(view, access_token).await? else { return Ok(None) };
        let live = self.session_of(view, &genuine.token).await?;
        genuine.keep(view, access_token);
        let live = live.filter(|live| live.is_live(self.now()) && live.matches(&genuine.token));
        Ok(live.map(|live| LiveToken {
            #[cfg(feature = "http")]
            token: genuine.token,
            live,
        }))
    }

    /// The content of a genuine access token that has not expired. To be called after the view was asked for: the look behind it
    /// may have replaced the signing keys.
    fn read_access(&self, view: Option<View<'_>>, text: &str, signer: &Arc<Signer>) -> Option<GenuineToken> {
        let now = self.now();
        if let Some(known) = view.and_then(|view| view.token(text, signer)) {
            return (now < known.expires_at).then(|| GenuineToken { token: Arc::new(known), verified_by: None });
        }
        let token = Arc::new(signer.read_access(text, now)?);
        Some(GenuineToken { token, verified_by: Some(Arc::clone(signer)) })
    }

    /// The same, also for a token of a key that this process has not met yet.
    pub(crate) async fn read_access_of_any_key(&self, view: Option<View<'_>>, text: &str) -> Result<Option<GenuineToken>, Error> {
        let signer = self.signer();
        if let Some(token) = self.read_access(view, text, &signer) {
            return Ok(Some(token));
        }
        self.learn_key_of(text).await?;
        let learned = self.signer();
        // A false signature is not judged twice by the same keys.
        if Arc::ptr_eq(&signer, &learned) {
            return Ok(None);
        }
        Ok(self.read_access(view, text, &learned))
    }

    /// The session of a genuine token, remembered or read; `None` when there is none, or when the token was superseded.
    pub(crate) async fn session_of(&self, view: Option<View<'_>>, token: &AccessToken) -> Result<Option<Arc<LiveSession>>, Error> {
        let Some(view) = view else {
            let read = self.lookups().of_session(&token.session, false).await?;
            return Ok(read.map(|read| Arc::new(read.value)));
        };
        match view.recall(token, self.now()) {
            Recalled::Live(live) => return Ok(Some(live)),
            Recalled::Superseded => return Ok(None),
            Recalled::Unknown => {}
        }
        let fill = view.fill();
        let read = self.lookups().of_session(&token.session, true).await?;
        Ok(read.map(|read| {
            let live = Arc::new(read.value);
            view.keep_session(fill, &live, read.incarnation.as_deref());
            live
        }))
    }
}

impl LiveSession {
    /// Whether the session has not expired.
    pub(crate) fn is_live(&self, now: Timestamp) -> bool {
        now < self.session.expires_at
    }

    /// Whether the token is of the session's current generation. The token's user and organization are signed and compared all the
    /// same: a session id alone decides nothing.
    pub(crate) fn matches(&self, token: &AccessToken) -> bool {
        token.generation == self.session.generation && token.user == self.user.id && token.org == self.org.id
    }

    /// Refuses suspended members, and members of suspended organizations.
    pub(crate) fn admitted(&self) -> Result<(), Error> {
        match (self.membership.status, self.org.status) {
            (Status::Active, Status::Active) => Ok(()),
            _ => Err(Error::Suspended),
        }
    }
}
