//! Refreshing a session. Using a refresh token replaces it and retires the access token issued with it. Seen again within the
//! grace it is a tab, a retry or a lost reply and gets the current generation's tokens; seen later it is a thief's, and the
//! whole session ends.

use crate::{
    account::{Ending, idle_until, tell_ended},
    caller::Tenant,
    error::Error,
    event::{EndReason, EventKind, SessionData},
    model::Session,
    store::{Actor, Event, Standing},
    time::Timestamp,
    token::{RefreshToken, Tokens},
};

impl Tenant {
    /// The next tokens of a session, or the current ones again.
    ///
    /// # Errors
    /// [`Error::SessionRequired`] for a token that is no live refresh token, or whose member or organization is suspended (the
    /// session survives and works again after reactivation); [`Error::WrongOrganization`] for another organization's.
    pub async fn refresh(&self, refresh_token: &str) -> Result<Tokens, Error> {
        let now = self.auth.now();
        let token = self.auth.signer().read_refresh(refresh_token, now).ok_or(Error::SessionRequired)?;
        // A rotation that loses the race finds itself superseded at the second look, within the grace or past it.
        for _ in 0..2 {
            let standing = self.refreshable(&token, now).await?;
            if token.generation < standing.session.generation {
                return self.superseded(&token, standing, now).await;
            }
            if let Some(session) = self.rotate(standing.session, now).await? {
                return self.auth.signer().issue(&session);
            }
        }
        Err(Error::SessionRequired)
    }

    /// The session, if it can be refreshed here.
    async fn refreshable(&self, token: &RefreshToken, now: Timestamp) -> Result<Standing, Error> {
        let standing = self.auth.store().read().await?.sessions().standing(&token.session).await?;
        let standing = standing.filter(|standing| standing.is_live(now)).ok_or(Error::SessionRequired)?;
        if token.generation > standing.session.generation {
            return Err(Error::SessionRequired);
        }
        if standing.org.id != self.org.id {
            return Err(Error::WrongOrganization);
        }
        standing.admitted().map_err(|_| Error::SessionRequired)?;
        Ok(standing)
    }

    /// Moves the session on by one generation; `None` when somebody else just did.
    async fn rotate(&self, mut session: Session, now: Timestamp) -> Result<Option<Session>, Error> {
        let mut tx = self.auth.store().begin().await?;
        let from = session.clone();
        session.generation += 1;
        session.refreshed_at = now;
        session.last_used_at = now;
        if !tx.sessions().rotate(&from, now, idle_until(&self.auth, &session)).await? {
            return Ok(None);
        }
        self.auth.commit(tx, now).await?;
        Ok(Some(session))
    }

    /// A token of a former generation: the current tokens within the grace, the end of the session after it.
    async fn superseded(&self, token: &RefreshToken, standing: Standing, now: Timestamp) -> Result<Tokens, Error> {
        let grace = self.auth.config().refresh_grace;
        let since = self.auth.store().read().await?.sessions().superseded_at(&token.session, token.generation).await?;
        if since.is_some_and(|since| now < since.plus(grace)) {
            return self.auth.signer().issue(&standing.session);
        }
        let mut tx = self.auth.store().begin().await?;
        if let Some(ended) = tx.sessions().end(&self.org.id, &token.session).await? {
            let data = SessionData { session: ended.session.clone(), user: &standing.user, reason: None };
            let place = (&self.org.id, &self.org.slug);
            tx.push(Event::new(EventKind::SessionReuseDetected, place, Actor::System, &data)?);
            tell_ended(&mut tx, &[ended], &Ending { reason: EndReason::Reuse, actor: Actor::System }).await?;
            self.auth.commit(tx, now).await?;
            tracing::warn!(session = %token.session, user = %standing.user.id, "a superseded refresh token was used again; the session was ended");
        }
        Err(Error::SessionRequired)
    }
}
