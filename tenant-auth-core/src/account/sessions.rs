//! The beginning and the end of sessions, as other operations cause them. Both leave an event: `session.created`, and
//! `session.revoked` with the reason.

use std::collections::BTreeMap;

use crate::{
    account::Client,
    builder::TenantAuth,
    caller::Tenant,
    error::Error,
    event::{EndReason, EventKind, SessionData},
    id::{Id, OrgId, UserId},
    model::{AuthMethod, Membership, Session, User},
    store::{Account, Actor, Ended, Event, Standing, Tx},
    time::Timestamp,
    value::Slug,
};

/// The most characters of a `User-Agent` that are kept.
const USER_AGENT_KEPT: usize = 256;

/// Why sessions end, and through whom.
#[derive(Debug, Clone)]
pub(crate) struct Ending {
    pub(crate) reason: EndReason,
    pub(crate) actor: Actor,
}

/// Opens a session for a person whose membership this transaction holds. Beyond the limit the oldest sessions end.
pub(crate) async fn open_session(
    tx: &mut Tx,
    tenant: &Tenant,
    account: Account,
    membership: Membership,
    (method, client): (AuthMethod, Client),
    now: Timestamp,
) -> Result<Standing, Error> {
    let config = tenant.auth.config();
    let session = Session {
        id: Id::generate(now, tenant.auth.entropy()),
        org_id: tenant.org.id.clone(),
        user_id: account.user.id.clone(),
        user_epoch: account.epoch,
        generation: 1,
        amr: vec![method],
        auth_time: now,
        refreshed_at: now,
        last_used_at: now,
        expires_at: now.plus(config.session_ttl),
        ip: client.ip.map(|ip| ip.to_canonical().to_string()),
        user_agent: client.user_agent.map(|text| text.chars().take(USER_AGENT_KEPT).collect()),
    };
    tx.sessions().insert(&session, idle_until(&tenant.auth, &session)).await?;
    let evicted = tx.sessions().end_beyond(&tenant.org.id, &account.user.id, config.sessions_per_user).await?;

    let actor = Actor::User(account.user.id.clone());
    let data = SessionData { session: session.summary(), user: &account.user, reason: None };
    tx.push(Event::new(EventKind::SessionCreated, (&tenant.org.id, &tenant.org.slug), actor.clone(), &data)?);
    tell_ended(tx, &evicted, &Ending { reason: EndReason::Limit, actor }).await?;
    Ok(Standing { session, user: account.user, membership, org: tenant.org.clone() })
}

/// Until when the session's refresh token is good: after that nothing can revive it.
pub(crate) fn idle_until(auth: &TenantAuth, session: &Session) -> Timestamp {
    session.refreshed_at.plus(auth.config().refresh_token_ttl).min(session.expires_at)
}

/// Tells of every ended session, each in its own organization.
pub(crate) async fn tell_ended(tx: &mut Tx, ended: &[Ended], ending: &Ending) -> Result<(), Error> {
    let mut users: BTreeMap<UserId, (User, BTreeMap<OrgId, Slug>)> = BTreeMap::new();
    for Ended { session, org_id, user_id } in ended {
        if !users.contains_key(user_id) {
            let Some(account) = tx.users().find(user_id).await? else { continue };
            let slugs = tx.users().organizations_of(user_id).await?.into_iter().collect();
            users.insert(user_id.clone(), (account.user, slugs));
        }
        let Some((user, slugs)) = users.get(user_id) else { continue };
        let Some(slug) = slugs.get(org_id) else { continue };
        let data = SessionData { session: session.clone(), user, reason: Some(ending.reason) };
        tx.push(Event::new(EventKind::SessionRevoked, (org_id, slug), ending.actor.clone(), &data)?);
    }
    Ok(())
}
