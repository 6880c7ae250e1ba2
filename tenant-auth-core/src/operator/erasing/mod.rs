//! Erasing a person with their account: what the audit log, the feed and waiting deliveries tell of them goes, in every organization.

mod account;
mod addresses;
mod traces;

use std::collections::BTreeMap;

use super::Operator;
use crate::{
    error::Error,
    event::{EventKind, UserDeletedData},
    id::{OrgId, UserId},
    model::OrgRef,
    store::{Actor, ErasedPerson, Event, Tx},
    throttle::SIGN_UPS_IN_ALL,
};
pub use account::DeletedUser;
pub(super) use account::{hold_all, withdraw_invites_of};
use addresses::Nothing;
pub(super) use addresses::{Addressed, Holding, Searched, Sought, addressed_to_each};

impl Operator {
    /// The events that tell of invites to a person, in every organization.
    ///
    /// # Errors
    /// [`Error::Unavailable`].
    pub(super) async fn addressed_to(&self, person: Sought) -> Result<Vec<Addressed>, Error> {
        let found = addressed_to_each(&self.auth, &[person], &mut Nothing).await?;
        Ok(found.into_iter().flatten().flatten().collect())
    }
}

/// Tells every organization that was told of the person, and those in `others`, of the deletion, and has the transaction erase the person. Where an imported log
/// knows them by another id, the deletion is told by that id: the chain explains what was wiped by it.
///
/// # Errors
/// [`Error::Unavailable`].
pub(super) async fn erase(tx: &mut Tx, user: &UserId, others: &[OrgRef], addressed: Vec<Addressed>) -> Result<(), Error> {
    let told = tx.erasing().told_of(user).await?;
    let everywhere = told.into_iter().chain(others.iter().cloned()).chain(addressed.iter().map(|one| one.org.clone()));
    let orgs: BTreeMap<OrgId, OrgRef> = everywhere.map(|org| (org.id.clone(), org)).collect();
    for org in orgs.values() {
        tx.push(Event::new(EventKind::UserDeleted, org.clone(), Actor::System, &UserDeletedData::of(user))?);
    }
    let former = tx.erasing().former_selves(user).await?;
    for former in &former {
        let data = UserDeletedData::of(&former.id);
        tx.push(Event::new(EventKind::UserDeleted, former.org.clone(), Actor::System, &data)?);
    }
    // The one count that is kept as long as an account: it names the person.
    SIGN_UPS_IN_ALL.forget(tx, user.as_str()).await?;
    let addressed = addressed.into_iter().map(|one| one.event).collect();
    tx.erase(ErasedPerson { user: user.clone(), orgs: orgs.into_keys().collect(), former, addressed });
    Ok(())
}
