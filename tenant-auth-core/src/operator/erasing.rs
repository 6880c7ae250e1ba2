//! Erasing a person with their account: what the audit log, the feed and waiting deliveries tell of them goes, in every organization.

use std::collections::{BTreeMap, HashMap};

use serde::Deserialize;

use super::Operator;
use crate::{
    error::Error,
    event::{EventKind, UserDeletedData},
    id::{EventId, OrgId, UserId},
    model::OrgRef,
    service::TenantAuth,
    store::{Actor, ErasedPerson, Event, Tx},
    throttle::SIGN_UPS_IN_ALL,
    value::Email,
};

/// The kinds of events that hold an address of somebody who may have no account.
const ADDRESSED: [EventKind; 4] =
    [EventKind::InviteCreated, EventKind::InviteResent, EventKind::InviteRevoked, EventKind::InviteAccepted];

/// An event that tells of an invite to the address.
pub(super) struct Addressed {
    pub(super) org: OrgRef,
    pub(super) event: EventId,
}

/// What whoever reads for long holds meanwhile.
pub(super) trait Holding: Send {
    /// Holds it on; `false` when another worker holds it now.
    ///
    /// # Errors
    /// [`Error::Unavailable`].
    fn renew(&mut self) -> impl Future<Output = Result<bool, Error>> + Send;
}

/// Nothing.
struct Nothing;

impl Holding for Nothing {
    async fn renew(&mut self) -> Result<bool, Error> {
        Ok(true)
    }
}

#[derive(Deserialize)]
struct Told {
    invite: ToldInvite,
}

#[derive(Deserialize)]
struct ToldInvite {
    email: String,
}

impl Operator {
    /// The events that tell of invites to an address, in every organization.
    ///
    /// # Errors
    /// [`Error::Unavailable`].
    pub(super) async fn addressed_to(&self, email: &Email) -> Result<Vec<Addressed>, Error> {
        let found = addressed_to_each(&self.auth, std::slice::from_ref(email), &mut Nothing).await?;
        Ok(found.and_then(|mut found| found.remove(&email.key())).unwrap_or_default())
    }
}

/// The events that tell of invites to addresses, in every organization, by the address in the form that is compared. Read page by page
/// before anything is locked, once for all of the addresses: this may take a while where there are many events, so what is held meanwhile is
/// held on. `None` when another worker holds it now.
///
/// # Errors
/// [`Error::Unavailable`].
pub(super) async fn addressed_to_each(
    auth: &TenantAuth,
    emails: &[Email],
    holding: &mut impl Holding,
) -> Result<Option<HashMap<String, Vec<Addressed>>>, Error> {
    let mut found: HashMap<String, Vec<Addressed>> = emails.iter().map(|email| (email.key(), Vec::new())).collect();
    if found.is_empty() {
        return Ok(Some(found));
    }
    let mut after = String::new();
    loop {
        let orgs = auth.store().read().await?.erasing().organizations_after(&after).await?;
        let Some(last) = orgs.last() else { return Ok(Some(found)) };
        last.id.as_str().clone_into(&mut after);
        for org in orgs {
            for kind in ADDRESSED {
                if !find_in(auth, &org, kind, &mut found, holding).await? {
                    return Ok(None);
                }
            }
        }
    }
}

/// Adds the events of one kind in one organization; `false` when another worker holds what was held.
async fn find_in(
    auth: &TenantAuth,
    org: &OrgRef,
    kind: EventKind,
    found: &mut HashMap<String, Vec<Addressed>>,
    holding: &mut impl Holding,
) -> Result<bool, Error> {
    let mut after = 0;
    loop {
        if !holding.renew().await? {
            return Ok(false);
        }
        let events = auth.store().read().await?.erasing().of_kind_after(&org.id, kind, after).await?;
        let Some(last) = events.last() else { return Ok(true) };
        after = last.sequence;
        for event in events {
            if let Some(theirs) = address_in(&event.data).and_then(|email| found.get_mut(&email.key())) {
                theirs.push(Addressed { org: org.clone(), event: event.id });
            }
        }
    }
}

fn address_in(data: &str) -> Option<Email> {
    serde_json::from_str::<Told>(data).ok()?.invite.email.parse().ok()
}

/// Tells every organization that was told of the person of the deletion, and has the transaction erase the person.
///
/// # Errors
/// [`Error::Unavailable`].
pub(super) async fn erase(tx: &mut Tx, user: &UserId, members_of: &[OrgRef], addressed: Vec<Addressed>) -> Result<(), Error> {
    let told = tx.erasing().told_of(user).await?;
    let everywhere = told.into_iter().chain(members_of.iter().cloned()).chain(addressed.iter().map(|one| one.org.clone()));
    let orgs: BTreeMap<OrgId, OrgRef> = everywhere.map(|org| (org.id.clone(), org)).collect();
    for org in orgs.values() {
        tx.push(Event::new(EventKind::UserDeleted, org.clone(), Actor::System, &UserDeletedData::of(user))?);
    }
    // The one count that is kept as long as an account: it names the person.
    SIGN_UPS_IN_ALL.forget(tx, user.as_str()).await?;
    let addressed = addressed.into_iter().map(|one| one.event).collect();
    tx.erase(ErasedPerson { user: user.clone(), orgs: orgs.into_keys().collect(), addressed });
    Ok(())
}
