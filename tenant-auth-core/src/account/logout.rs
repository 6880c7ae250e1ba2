//! Logout. An access token that has expired, was superseded or is missing must not prevent a logout: a live refresh token beside it
//! counts as well. A suspended member may log out, too.

use std::{cmp::Ordering, sync::Arc};

use crate::{
    account::{Ending, tell_ended},
    caller::{Member, Tenant},
    error::Error,
    event::EndReason,
    store::{Actor, LiveSession},
};

/// A live session of this organization that is about to be ended by its owner.
#[derive(Debug)]
pub struct SessionToEnd {
    tenant: Tenant,
    live: Arc<LiveSession>,
}

impl Tenant {
    /// Finds the live session of an access token; `None` when the token or its session is dead.
    ///
    /// # Errors
    /// [`Error::WrongOrganization`] when the session is another organization's.
    pub async fn session_to_end_by_access(&self, access_token: &str) -> Result<Option<SessionToEnd>, Error> {
        let live = self.auth.live_session(access_token).await?;
        live.map(|live| self.session_to_end(live)).transpose()
    }

    /// Finds the live session of a refresh token that is current, or superseded within the reuse grace; `None` otherwise. One that was
    /// superseded before that is taken for stolen, as at a refresh, and its session ends.
    ///
    /// # Errors
    /// [`Error::WrongOrganization`] when the session is another organization's.
    pub async fn session_to_end_by_refresh(&self, refresh_token: &str) -> Result<Option<SessionToEnd>, Error> {
        let now = self.auth.now();
        self.auth.learn_key_of(refresh_token).await?;
        let Some(token) = self.auth.signer().read_refresh(refresh_token, now) else { return Ok(None) };
        let mut reader = self.auth.store().read().await?;
        let live = reader.sessions().find_live(&token.session).await?.filter(|live| live.is_live(now));
        let Some(live) = live else { return Ok(None) };
        let found = self.session_to_end(Arc::new(live))?;
        match token.generation.cmp(&found.live.session.generation) {
            Ordering::Equal => return Ok(Some(found)),
            Ordering::Greater => return Ok(None),
            Ordering::Less => {}
        }
        let since = reader.sessions().superseded_at(&token.session, token.generation).await?;
        drop(reader);
        if !self.past_grace(since, now) {
            return Ok(Some(found));
        }
        self.auth.ending(self.end_reused(&found.live)).await?;
        Ok(None)
    }

    fn session_to_end(&self, live: Arc<LiveSession>) -> Result<SessionToEnd, Error> {
        if live.org.id != self.org.id {
            return Err(Error::WrongOrganization);
        }
        Ok(SessionToEnd { tenant: self.clone(), live })
    }
}

impl Member {
    /// Logs out: ends the caller's session.
    ///
    /// # Errors
    /// [`Error::SessionRequired`] when the session ended meanwhile.
    pub async fn logout(self) -> Result<(), Error> {
        let tenant = Tenant { auth: self.auth, org: Arc::clone(&self.live.org), client: self.client };
        SessionToEnd { tenant, live: self.live }.logout().await
    }
}

impl SessionToEnd {
    /// Ends the session.
    ///
    /// # Errors
    /// [`Error::SessionRequired`] when the session ended meanwhile.
    pub async fn logout(self) -> Result<(), Error> {
        let auth = &self.tenant.auth;
        auth.ending(async {
            let mut tx = auth.begin().await?;
            tx.serve(self.tenant.client.request_in(&self.tenant.org.id, Some(&self.live.session.id)));
            let ended = tx.sessions().end(&self.tenant.org.id, &self.live.session.id).await?.ok_or(Error::SessionRequired)?;
            let ending = Ending { reason: EndReason::Logout, actor: Actor::User(self.live.user.id.clone()) };
            tell_ended(&mut tx, &[ended], &ending).await?;
            tx.commit().await
        })
        .await
    }
}
