//! Opening and ending sessions, for all operations that do. Each leaves an event: `session.created`, and `session.revoked` with the
//! reason.

use std::{collections::BTreeMap, sync::Arc};

use crate::{
    caller::{Client, Member, OrgAdmin, Tenant, Write},
    error::{Error, Thing},
    event::{EndReason, EventKind, SessionData, UserData},
    id::{OrgId, SessionId, UserId},
    model::{AuthMethod, Membership, OrgRef, Session, SessionSummary, Status, User},
    page::{List, Page},
    service::TenantAuth,
    store::{Account, Actor, Ended, Event, LiveSession, PendingLogin, Reader, Tx},
    time::Timestamp,
    token::PartialToken,
    value::SearchText,
};

/// The most characters of a `User-Agent` that are stored.
const USER_AGENT_KEPT: usize = 256;

/// The reason why sessions end, and the actor who ends them; both stand in the event.
#[derive(Debug, Clone)]
pub(crate) struct Ending {
    pub(crate) reason: EndReason,
    pub(crate) actor: Actor,
}

/// How a session is opened: by which authentication methods, and from which client.
#[derive(Debug)]
pub(crate) struct Opening {
    /// The id of the pending login that the session completes; `None` for a login of one step. The session takes this id.
    pub(crate) id: Option<SessionId>,
    pub(crate) methods: Vec<AuthMethod>,
    /// The client that the session keeps: of a login of two steps that of the first.
    pub(crate) client: Client,
    /// The client of the request that opens it, which its event tells.
    pub(crate) request: Client,
}

/// A person who is authenticated and about to get a session. The transaction holds the membership.
pub(crate) struct Entrant {
    pub(crate) account: Account,
    pub(crate) membership: Membership,
    pub(crate) opening: Opening,
}

/// Opens a session, in the organization as it is now. When the person has more sessions than the limit allows, the oldest ones end. The
/// commit follows, with these events.
pub(crate) async fn open_session(tx: &mut Tx, tenant: &Tenant, entrant: Entrant, then: &[Event]) -> Result<LiveSession, Error> {
    let Entrant { account, membership, opening } = entrant;
    let config = tenant.auth.config();
    let now = tx.now();
    let id = opening.id.unwrap_or_else(|| tx.new_id());
    tx.serve(opening.request.request_in(&tenant.org.id, Some(&id)));
    // Mostly it is what it was: then a login writes nothing here.
    if let Some(language) = opening.client.language.as_ref().filter(|language| account.language.as_ref() != Some(language)) {
        tx.users().set_language(&account.user.id, language).await?;
    }
    let (ip, user_agent) = traces(opening.client);
    let session = Session {
        id,
        org_id: tenant.org.id.clone(),
        user_id: account.user.id.clone(),
        user_epoch: account.epoch,
        generation: 1,
        amr: opening.methods,
        auth_time: now,
        refreshed_at: now,
        last_used_at: now,
        expires_at: now.plus(config.sessions.ttl),
        ip,
        user_agent,
    };
    // Heads of several chains are locked in their order.
    let others = tx.tells_only(&tenant.org.id, then).then(|| config.sessions.max_per_user.saturating_sub(1));
    let mut evicted = Vec::new();
    let status = match tx.sessions().open(&session, idle_until(&tenant.auth, &session), others).await? {
        Some(status) => status,
        None => {
            evicted = tx.sessions().end_beyond(&session, config.sessions.max_per_user).await?;
            match others {
                Some(_) => tx.sessions().place(&tenant.org.id).await?,
                // Whoever tells others holds the organization.
                None => tx.organizations().find(&tenant.org.id).await?.ok_or(Error::UnknownOrganization)?.status,
            }
        }
    };
    if status == Status::Suspended {
        return Err(Error::Suspended);
    }

    let actor = Actor::User(account.user.id.clone());
    let data = SessionData::of(&session.summary(), &account.user);
    tx.push(Event::new(EventKind::SessionCreated, &*tenant.org, actor.clone(), &data)?);
    tell_ended(tx, &evicted, &Ending { reason: EndReason::Limit, actor }).await?;
    Ok(LiveSession { session, user: account.user, membership, org: Arc::clone(&tenant.org) })
}

/// Stores a pending login that waits for the second factor, and issues its partial token.
pub(crate) async fn wait_for_second_factor(tx: &mut Tx, tenant: &Tenant, entrant: Entrant) -> Result<PartialToken, Error> {
    let Entrant { account, opening, .. } = entrant;
    tx.serve(opening.request.request_in(&tenant.org.id, None));
    let is_ip_stated = opening.client.stated_by.is_some();
    let (ip, user_agent) = traces(opening.client);
    let login = PendingLogin {
        id: tx.new_id(),
        org_id: tenant.org.id.clone(),
        user_id: account.user.id.clone(),
        user_epoch: account.epoch,
        method: opening.methods.first().copied().unwrap_or(AuthMethod::Password),
        ip,
        is_ip_stated,
        user_agent,
        created_at: tx.now(),
        expires_at: tx.now().plus(tenant.auth.config().login.partial_token_ttl),
    };
    tx.pending_logins().insert(&login).await?;
    tenant.auth.signer().issue_partial(&login.id, login.created_at, login.expires_at)
}

/// The stored form of a client: its address, and its `User-Agent` cut to a bounded length.
fn traces(client: Client) -> (Option<String>, Option<String>) {
    let user_agent = client.user_agent.map(|text| text.chars().take(USER_AGENT_KEPT).collect());
    (client.ip.map(|ip| ip.to_canonical().to_string()), user_agent)
}

/// Ends every session of the caller but this one, and every pending login, in all organizations. The account moves to a new epoch,
/// and only this session moves with it; so a login in flight that read the old epoch fails, too.
pub(crate) async fn end_all_others(member: &Member, write: &mut Write, reason: EndReason) -> Result<(), Error> {
    let epoch = write.users().bump_epoch(member.user_id()).await?;
    let session = write.live.session.id.clone();
    write.sessions().move_to_epoch(&session, epoch).await?;
    write.pending_logins().end_of_user(member.user_id()).await?;
    let ended = write.sessions().end_of_user(member.user_id(), Some(&session)).await?;
    tell_ended(&mut write.tx, &ended, &Ending { reason, actor: member.actor() }).await
}

/// Pushes an event about the user to every organization of the user.
pub(crate) async fn tell_user(tx: &mut Tx, kind: EventKind, actor: &Actor, data: &UserData) -> Result<(), Error> {
    events_of_user(tx, kind, actor, data).await?.into_iter().for_each(|event| tx.push(event));
    Ok(())
}

/// An event about the user, for every organization of the user.
pub(crate) async fn events_of_user(tx: &mut Tx, kind: EventKind, actor: &Actor, data: &UserData) -> Result<Vec<Event>, Error> {
    let orgs = tx.users().organizations_of(&data.user.id).await?.into_iter();
    orgs.map(|org| Event::new(kind, org, actor.clone(), data)).collect()
}

/// The sessions of one person in one organization, oldest first.
async fn list_sessions(
    reader: &mut Reader,
    org: &OrgId,
    user: &UserId,
    search: Option<&SearchText>,
    page: &Page,
    now: Timestamp,
) -> Result<List<SessionSummary>, Error> {
    let mut reading = page.reading(&["sessions", org.as_str(), user.as_str(), search.map_or("", SearchText::as_str)])?;
    while let Some(bounds) = reading.wants_to_choose(search.is_some()) {
        let sessions = reader.sessions().list(org, user, &bounds, now).await?;
        let is_meant = |text: &SearchText, one: &SessionSummary| {
            [&one.user_agent, &one.ip].into_iter().flatten().any(|known| text.is_in(known))
        };
        reading.take_those(sessions, |one| search.is_none_or(|text| is_meant(text, one)));
    }
    Ok(reading.finish())
}

impl OrgAdmin {
    /// A member's sessions in this organization, oldest first, as the member sees them.
    ///
    /// # Errors
    /// [`Error::NotFound`] unless the user is a member.
    pub async fn member_sessions(&self, user: &UserId, page: &Page) -> Result<List<SessionSummary>, Error> {
        self.member_sessions_like(user, None, page).await
    }

    /// Those of a member's sessions whose client's `User-Agent` or address has this in it, oldest first.
    ///
    /// # Errors
    /// [`Error::NotFound`] unless the user is a member; [`Error::Invalid`] for a cursor of another search or order.
    pub async fn member_sessions_like(
        &self,
        user: &UserId,
        search: Option<&SearchText>,
        page: &Page,
    ) -> Result<List<SessionSummary>, Error> {
        let mut reader = self.auth().store().read().await?;
        reader.members().find(self.org_id(), user).await?.ok_or(Error::NotFound(Thing::Member))?;
        list_sessions(&mut reader, self.org_id(), user, search, page, self.auth().now()).await
    }
}

impl Member {
    /// The caller's sessions in this organization, oldest first.
    ///
    /// # Errors
    /// [`Error::Unavailable`].
    pub async fn sessions(&self, page: &Page) -> Result<List<SessionSummary>, Error> {
        self.sessions_like(None, page).await
    }

    /// Those of the caller's sessions in this organization whose client's `User-Agent` or address has this in it, oldest first.
    ///
    /// # Errors
    /// [`Error::Invalid`] for a cursor of another search or order.
    pub async fn sessions_like(&self, search: Option<&SearchText>, page: &Page) -> Result<List<SessionSummary>, Error> {
        let mut reader = self.auth.store().read().await?;
        list_sessions(&mut reader, self.org_id(), self.user_id(), search, page, self.auth.now()).await
    }

    /// Ends one of the caller's sessions in this organization.
    ///
    /// # Errors
    /// [`Error::NotFound`] when the session is another person's or another organization's.
    pub async fn end_session(&self, session: &SessionId) -> Result<(), Error> {
        self.auth
            .ending(async {
                let mut write = self.begin_own_write().await?;
                let ended = write
                    .sessions()
                    .end_of_owner(self.org_id(), self.user_id(), session)
                    .await?
                    .ok_or(Error::NotFound(Thing::Session))?;
                tell_ended(&mut write.tx, &[ended], &Ending { reason: EndReason::Ended, actor: self.actor() }).await?;
                write.commit().await
            })
            .await
    }

    /// Ends every other session of the caller in this organization.
    ///
    /// # Errors
    /// [`Error::SessionRequired`] when the caller's own session ended meanwhile.
    pub async fn end_other_sessions(&self) -> Result<(), Error> {
        self.auth
            .ending(async {
                let mut write = self.begin_own_write().await?;
                let keep = write.live.session.id.clone();
                let ended = write.sessions().end_others_of_owner(self.org_id(), self.user_id(), &keep).await?;
                tell_ended(&mut write.tx, &ended, &Ending { reason: EndReason::Ended, actor: self.actor() }).await?;
                write.commit().await
            })
            .await
    }
}

/// The idle timeout: the time at which the last tokens of the session expire. After it the session cannot be refreshed.
fn idle_until(auth: &TenantAuth, session: &Session) -> Timestamp {
    session.refreshed_at.plus(auth.config().generation_ttl()).min(session.expires_at)
}

/// Pushes `session.revoked` for every ended session, each to the session's own organization.
pub(crate) async fn tell_ended(tx: &mut Tx, ended: &[Ended], ending: &Ending) -> Result<(), Error> {
    let mut users: BTreeMap<UserId, (User, Vec<OrgRef>)> = BTreeMap::new();
    for Ended { session, org_id, user_id } in ended {
        if !users.contains_key(user_id) {
            let Some(account) = tx.users().find(user_id).await? else { continue };
            let orgs = tx.users().organizations_of(user_id).await?;
            users.insert(user_id.clone(), (account.user, orgs));
        }
        let Some((user, orgs)) = users.get(user_id) else { continue };
        let Some(org) = orgs.iter().find(|org| org.id == *org_id) else { continue };
        let data = SessionData::ended(session, user, ending.reason);
        tx.push(Event::new(EventKind::SessionRevoked, org.clone(), ending.actor.clone(), &data)?);
    }
    Ok(())
}
