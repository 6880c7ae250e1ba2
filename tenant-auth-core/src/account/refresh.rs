//! Refresh token rotation. Using a refresh token replaces it and retires the access token issued with it. A superseded token that
//! comes again within the reuse grace is a parallel tab, a retry or a lost reply, and gets the current generation's tokens; one
//! that comes later is taken for stolen, and the whole session ends.

use std::{cmp::Ordering, sync::Arc};

use crate::{
    account::{Ending, tell_ended},
    caller::Tenant,
    error::Error,
    event::{EndReason, EventKind, SessionData},
    model::Session,
    store::{Actor, Event, LiveSession},
    time::Timestamp,
    token::{RefreshToken, Tokens},
};
#[cfg(feature = "http")]
use crate::{
    caller::{Client, Member},
    service::TenantAuth,
    value::Slug,
};

/// A refresh token as it was presented.
#[cfg(feature = "http")]
pub(crate) struct RefreshQuery {
    pub(crate) text: String,
    /// What was found by it already.
    pub(crate) seen: Option<SeenRefresh>,
}

/// A genuine refresh token, and its session as this request has read it.
#[cfg(feature = "http")]
pub(crate) struct SeenRefresh {
    token: RefreshToken,
    live: Arc<LiveSession>,
}

#[cfg(feature = "http")]
impl TenantAuth {
    /// The organization with this slug. Where it is that of the token's session, and nothing is remembered, one statement reads both.
    ///
    /// # Errors
    /// As [`TenantAuth::tenant`].
    pub(crate) async fn tenant_of_refresh(&self, slug: &Slug, token: &str) -> Result<(Tenant, Option<SeenRefresh>), Error> {
        let is_read = self.memory().view().await?.is_none();
        let Some(token) = is_read.then(|| self.signer().read_refresh(token, self.now())).flatten() else {
            return Ok((self.tenant(slug).await?, None));
        };
        let live = self.lookups().of_session(&token.session, false).await?.map(|read| Arc::new(read.value));
        match live.filter(|live| live.org.slug == *slug) {
            Some(live) => {
                let tenant = Tenant { auth: self.clone(), org: Arc::clone(&live.org), client: Client::default() };
                Ok((tenant, Some(SeenRefresh { token, live })))
            }
            None => Ok((self.tenant(slug).await?, None)),
        }
    }
}

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

    /// The same by a token that was looked at when the organization was.
    #[cfg(feature = "http")]
    pub(crate) async fn refresh_by_query(&self, query: RefreshQuery) -> Result<Tokens, Error> {
        let Some(SeenRefresh { token, live }) = query.seen else { return self.refresh(&query.text).await };
        let now = self.auth.now();
        let is_over = |error: &Error| matches!(error, Error::SessionRequired);
        let refreshing = async {
            let live = self.refreshable(Some(live), now)?;
            self.refresh_live(&token, live, now).await
        };
        self.auth.telling(is_over, refreshing).await
    }

    /// The session that a refresh token would refresh, as long as the token is of the current generation, and no refresh by it was given up
    /// longer ago than an access token lives; `None` where [`Tenant::refresh`] has to decide. Nothing is changed.
    #[cfg(feature = "http")]
    pub(crate) async fn foreseen(&self, refresh_token: &str) -> Result<Option<Arc<LiveSession>>, Error> {
        let now = self.auth.now();
        self.auth.learn_key_of(refresh_token).await?;
        let Some(token) = self.auth.signer().read_refresh(refresh_token, now) else { return Ok(None) };
        match self.session_to_refresh(&token, now).await {
            Ok(live) if live.session.generation == token.generation && !self.is_overdue(&token, now) => Ok(Some(live)),
            Ok(_) | Err(Error::SessionRequired | Error::WrongOrganization) => Ok(None),
            Err(error) => Err(error),
        }
    }

    #[cfg(feature = "http")]
    fn is_overdue(&self, token: &RefreshToken, now: Timestamp) -> bool {
        let since = self.auth.given_up_refreshes().since(token);
        since.is_some_and(|since| now >= since.plus(self.auth.config().sessions.access_token_ttl))
    }

    /// The same as the right of a member.
    #[cfg(feature = "http")]
    pub(crate) async fn foreseen_member(&self, refresh_token: &str) -> Result<Option<Member>, Error> {
        let live = self.foreseen(refresh_token).await?;
        Ok(live.map(|live| Member { auth: self.auth.clone(), live, client: self.client.clone() }))
    }

    /// Refreshes a session that was [foreseen](Self::foreseen); `None` where somebody else did so longer ago than the reuse grace. The token
    /// is not taken for stolen then: it was presented in time.
    ///
    /// # Errors
    /// [`Error::SessionRequired`] when the session has ended meanwhile.
    #[cfg(feature = "http")]
    pub(crate) async fn refresh_foreseen(&self, refresh_token: &str) -> Result<Option<Tokens>, Error> {
        let now = self.auth.now();
        let token = self.auth.signer().read_refresh(refresh_token, now).ok_or(Error::SessionRequired)?;
        let live = self.session_to_refresh(&token, now).await?;
        self.come_back(now).await?;
        if live.session.generation == token.generation
            && let Some(tokens) = self.rotate(&token, &live.session).await?
        {
            return Ok(Some(tokens));
        }
        let mut reader = self.auth.store().read().await?;
        let live = self.refreshable(reader.sessions().find_live(&token.session).await?.map(Arc::new), now)?;
        let since = reader.sessions().superseded_at(&token.session, token.generation).await?;
        if self.past_grace(since, now) { Ok(None) } else { self.auth.signer().issue(&live.session).map(Some) }
    }

    async fn refresh_by(&self, token: &RefreshToken, now: Timestamp) -> Result<Tokens, Error> {
        // Read first: whoever holds the token of a session that is over takes no turn at the database's writer.
        let live = self.session_to_refresh(token, now).await?;
        self.refresh_live(token, live, now).await
    }

    async fn refresh_live(&self, token: &RefreshToken, live: Arc<LiveSession>, now: Timestamp) -> Result<Tokens, Error> {
        self.come_back(now).await?;
        let rotated = if live.session.generation == token.generation { self.rotate(token, &live.session).await? } else { None };
        match rotated {
            Some(tokens) => Ok(tokens),
            None => self.superseded(token, now).await,
        }
    }

    /// Notes that somebody came back to an organization that sign-up made (behaviour.md, B202): once for an organization, and before the
    /// rotation, so that a failure costs the caller no token.
    async fn come_back(&self, now: Timestamp) -> Result<(), Error> {
        if !self.is_proven_by(now) {
            return Ok(());
        }
        let mut tx = self.auth.begin().await?;
        tx.organizations().prove(&self.org.id).await?;
        tx.commit().await
    }

    /// The session of a refresh token, remembered or read. Memory decides nothing against a token: that is read.
    async fn session_to_refresh(&self, token: &RefreshToken, now: Timestamp) -> Result<Arc<LiveSession>, Error> {
        let remembered = self.auth.memory().view().await?.and_then(|view| view.session(&token.session));
        let current = remembered.filter(|live| live.session.generation == token.generation);
        if let Some(Ok(live)) = current.map(|live| self.refreshable(Some(live), now)) {
            return Ok(live);
        }
        let live = self.auth.lookups().of_session(&token.session, false).await?;
        self.refreshable(live.map(|read| Arc::new(read.value)), now)
    }

    /// Rotates the session to its next generation; `None` when it cannot be: when the token is of a former generation, or the
    /// session may not be refreshed any more. The UPDATE is guarded by both, so that of two parallel refreshes only one rotates.
    async fn rotate(&self, token: &RefreshToken, session: &Session) -> Result<Option<Tokens>, Error> {
        let rotated = self.auth.one_statements().rotate(token, self.auth.config().generation_ttl()).await?;
        let Some(refreshed_at) = rotated else { return Ok(None) };
        let rotated = Session { generation: token.generation + 1, refreshed_at, ..session.clone() };
        self.auth.signer().issue(&rotated).map(Some)
    }

    /// Returns the session if it may be refreshed in this organization. A suspended member gets the answer of a dead session.
    fn refreshable(&self, live: Option<Arc<LiveSession>>, now: Timestamp) -> Result<Arc<LiveSession>, Error> {
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
        let live = self.refreshable(reader.sessions().find_live(&token.session).await?.map(Arc::new), now)?;
        match token.generation.cmp(&live.session.generation) {
            Ordering::Less => {}
            Ordering::Equal => {
                // A change of the account held the session's row, and PostgreSQL judged the UPDATE that waited by the account as it
                // was before. Nobody rotated the session.
                drop(reader);
                return self.rotate(token, &live.session).await?.ok_or(Error::SessionRequired);
            }
            Ordering::Greater => return Err(Error::SessionRequired),
        }
        let since = reader.sessions().superseded_at(&token.session, token.generation).await?;
        drop(reader);
        if !self.past_grace(since, now) {
            return self.auth.signer().issue(&live.session);
        }
        self.end_reused(&live).await?;
        Err(Error::SessionRequired)
    }

    /// Ends a session of this organization whose superseded refresh token came after the reuse grace.
    pub(super) async fn end_reused(&self, live: &LiveSession) -> Result<(), Error> {
        let mut tx = self.auth.begin().await?;
        if let Some(ended) = tx.sessions().end(&self.org.id, &live.session.id).await? {
            let data = SessionData::of(&ended.session, &live.user);
            tx.push(Event::new(EventKind::SessionReuseDetected, &*self.org, Actor::System, &data)?);
            tell_ended(&mut tx, &[ended], &Ending { reason: EndReason::Reuse, actor: Actor::System }).await?;
            tx.commit().await?;
            tracing::warn!(session = %live.session.id, user = %live.user.id, "a superseded refresh token was used again; the session was ended");
        }
        Ok(())
    }
}
