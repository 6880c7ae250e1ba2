//! The invites that a deployment key sent. They end with the key when it is revoked or was reported as leaked: whoever had the key may
//! have sent them.
//!
//! What must stay true: each is told of, also when what follows the commit is cut off; until then the invite stays, with the expiry 0.

use crate::{
    error::Error,
    event::{EventKind, InviteData},
    id::OrgId,
    model::Organization,
    service::TenantAuth,
    store::{Actor, Event, Tx},
};

/// Tells of the invites that ended with their deployment keys, and cancels their mails. Their links work no more since the commits
/// that ended the keys. Whoever ends a key calls it, and the worker for whoever could not. A failure is logged and left to the worker: the
/// key has ended all the same, and whoever ended it is told so.
pub(crate) async fn revoke_ended_invites(auth: &TenantAuth) {
    if let Err(error) = tell_all(auth).await {
        tracing::warn!(error = %error.causes(), "invites that ended with their key were not told of; it is tried again shortly");
    }
}

async fn tell_all(auth: &TenantAuth) -> Result<(), Error> {
    let orgs = auth.store().read().await?.invites().organizations_of_ended().await?;
    for org in orgs {
        // What fails in one must not keep those of all others.
        if let Err(error) = tell_in(auth, &org).await {
            tracing::warn!(organization_id = %org, error = %error.causes(), "invites that ended with their key were not told of; it is tried again shortly");
        }
    }
    Ok(())
}

async fn tell_in(auth: &TenantAuth, org: &OrgId) -> Result<(), Error> {
    let mut tx = auth.begin().await?;
    // The removal of an organization takes its invites along.
    let Some(org) = tx.organizations().lock(org).await? else { return Ok(()) };
    tell_ended(&mut tx, &org).await?;
    tx.commit().await
}

/// Tells of those of one organization, in a transaction that holds it.
pub(crate) async fn tell_ended(tx: &mut Tx, org: &Organization) -> Result<(), Error> {
    for mut record in tx.invites().ended(&org.id).await? {
        record.invite.expires_at = tx.now();
        if tx.invites().take(&org.id, &record.invite.id).await? {
            tx.mails().cancel(&record.mail_id).await?;
            tx.push(Event::new(EventKind::InviteRevoked, org, Actor::System, &InviteData::of(&record.invite))?);
        }
    }
    Ok(())
}
