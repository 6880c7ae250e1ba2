//! Logging out. An access token that has expired or been superseded is no reason to stay logged in: a live refresh token
//! beside it counts as well. A suspended member may log out too.

use crate::{
    account::{Ending, tell_ended},
    caller::Tenant,
    error::Error,
    event::EndReason,
    store::{Actor, Standing},
};

impl Tenant {
    /// Ends the session behind the access token or, failing that, behind the refresh token.
    ///
    /// # Errors
    /// [`Error::SessionRequired`] when neither is live, [`Error::WrongOrganization`] when the session is another organization's.
    pub async fn logout(&self, access_token: Option<&str>, refresh_token: Option<&str>) -> Result<(), Error> {
        let standing = match access_token {
            Some(token) => self.auth.live_session(token).await?,
            None => None,
        };
        let standing = match (standing, refresh_token) {
            (Some(standing), _) => standing,
            (None, Some(token)) => self.refreshable_session(token).await?.ok_or(Error::SessionRequired)?,
            (None, None) => return Err(Error::SessionRequired),
        };
        if standing.org.id != self.org.id {
            return Err(Error::WrongOrganization);
        }
        let now = self.auth.now();
        let mut tx = self.auth.store().begin().await?;
        let ended = tx.sessions().end(&self.org.id, &standing.session.id).await?.ok_or(Error::SessionRequired)?;
        let ending = Ending { reason: EndReason::Logout, actor: Actor::User(standing.user.id) };
        tell_ended(&mut tx, &[ended], &ending).await?;
        self.auth.commit(tx, now).await
    }

    /// The session of a refresh token that is current or superseded within the grace.
    async fn refreshable_session(&self, refresh_token: &str) -> Result<Option<Standing>, Error> {
        let now = self.auth.now();
        let Some(token) = self.auth.signer().read_refresh(refresh_token, now) else { return Ok(None) };
        let mut reader = self.auth.store().read().await?;
        let Some(standing) = reader.sessions().standing(&token.session).await? else { return Ok(None) };
        let current = token.generation == standing.session.generation
            || reader
                .sessions()
                .superseded_at(&token.session, token.generation)
                .await?
                .is_some_and(|since| now < since.plus(self.auth.config().refresh_grace));
        Ok((current && standing.is_live(now)).then_some(standing))
    }
}
