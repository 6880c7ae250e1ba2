//! Refresh token rotation. Using a refresh token replaces it and retires the access token issued with it. A superseded token that
//! comes again within the reuse grace is a parallel tab, a retry or a lost reply, and gets the current generation's tokens; one
//! that comes later is taken for stolen, and the whole session ends.

use crate::{
    account::{Ending, tell_ended},
    caller::Tenant,
    error::Error,
    event::{EndReason, EventKind, SessionData},
    store::{Actor, Event, LiveSession},
    time::Timestamp,
    token::{RefreshToken, Tokens},
};

impl Tenant {
    /// Refreshes a session: returns the next tokens, or the current tokens again when a superseded refresh token comes within the
    /// reuse grace.
    ///
    /// # Errors
    /// [`Error::SessionRequired`] for a token that is no live refresh token, or whose member or organization is suspended (the
    /// session survives and works again after reactivation); [`Error::WrongOrganization`] for another organization's.
    pub async fn refresh(&self, refresh_token: &str) -> Result<Tokens, Error> {
        let now = self.auth.now();
        self.auth.learn_key_of(refresh_token).await?;
        let token = self.auth.signer().read_refresh(refresh_token, now).ok_or(Error::SessionRequired)?;
        // A reuse may have ended the session whose answer was lost.
        let is_over = |error: &Error| matches!(error, Error::SessionRequired);
        self.auth.telling(is_over, self.refresh_by(&token, now)).await
    }

    async fn refresh_by(&self, token: &RefreshToken, now: Timestamp) -> Result<Tokens, Error> {
        // Read first: whoever holds the token of a session that is over takes no turn at the database's writer.
        let live = self.auth.store().read().await?.sessions().find_live(&token.session).await?;
        let is_current = self.refreshable(live, now)?.session.generation == token.generation;
        let rotated = if is_current { self.rotate(token).await? } else { None };
        match rotated {
            Some(tokens) => Ok(tokens),
            None => self.superseded(token, now).await,
        }
    }

    /// Rotates the session to its next generation; `None` when the token is of a former generation. The guarded UPDATE comes
    /// first, so that of two parallel refreshes only one rotates. Whether the session may be refreshed is judged after it in the
    /// same transaction; if not, the rotation is rolled back.
    async fn rotate(&self, token: &RefreshToken) -> Result<Option<Tokens>, Error> {
        let mut tx = self.auth.begin().await?;
        let idle_until = tx.now().plus(self.auth.config().generation_ttl());
        if !tx.sessions().rotate(token, idle_until).await? {
            return Ok(None);
        }
        let live = tx.sessions().find_live(&token.session).await?;
        let live = self.refreshable(live, tx.now())?;
        tx.commit().await?;
        self.auth.signer().issue(&live.session).map(Some)
    }

    /// Returns the session if it may be refreshed in this organization. A suspended member gets the answer of a dead session.
    fn refreshable(&self, live: Option<LiveSession>, now: Timestamp) -> Result<LiveSession, Error> {
        let live = live.filter(|live| live.is_live(now)).ok_or(Error::SessionRequired)?;
        if live.org.id != self.org.id {
            return Err(Error::WrongOrganization);
        }
        live.admitted().map_err(|_| Error::SessionRequired)?;
        Ok(live)
    }

    /// Whether the reuse grace has passed. `None` means that the generation's row was swept, so the grace has passed.
    pub(crate) fn past_grace(&self, superseded_at: Option<Timestamp>, now: Timestamp) -> bool {
        superseded_at.is_none_or(|since| now >= since.plus(self.auth.config().sessions.refresh_grace))
    }

    /// Handles a refresh token of a former generation: within the reuse grace it gets the current tokens; after it, the token is
    /// taken for stolen and the session ends (reuse detection).
    async fn superseded(&self, token: &RefreshToken, now: Timestamp) -> Result<Tokens, Error> {
        let mut reader = self.auth.store().read().await?;
        let live = self.refreshable(reader.sessions().find_live(&token.session).await?, now)?;
        if token.generation >= live.session.generation {
            return Err(Error::SessionRequired);
        }
        let since = reader.sessions().superseded_at(&token.session, token.generation).await?;
        drop(reader);
        if !self.past_grace(since, now) {
            return self.auth.signer().issue(&live.session);
        }
        let mut tx = self.auth.begin().await?;
        if let Some(ended) = tx.sessions().end(&self.org.id, &token.session).await? {
            let data = SessionData::of(&ended.session, &live.user);
            tx.push(Event::new(EventKind::SessionReuseDetected, &*self.org, Actor::System, &data)?);
            tell_ended(&mut tx, &[ended], &Ending { reason: EndReason::Reuse, actor: Actor::System }).await?;
            tx.commit().await?;
            tracing::warn!(session = %token.session, user = %live.user.id, "a superseded refresh token was used again; the session was ended");
        }
        Err(Error::SessionRequired)
    }
}
