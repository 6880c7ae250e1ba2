//! Checkpoints: once a day the head of each audit log that grew is signed, and told as an event. Whoever received one outside of the
//! deployment can prove later that the log was rewritten, also by somebody who has the database and the keys.

use std::time::Duration;

use serde_json::json;

use crate::{
    audit_keys,
    error::Error,
    event::AuditCheckpointData,
    id::OrgId,
    model::EventKind,
    service::TenantAuth,
    store::{Actor, Event, Tx},
    time::HOUR,
};

/// How many logs one round signs; the next one is a minute later.
const AT_ONCE: i64 = 1_000;
/// When a log that could not be signed is tried again: it must not stand before the others for ever.
const AGAIN_AFTER: Duration = HOUR;

/// Signs the logs that are due. One that cannot be signed, or whose organization is held for long, as by an export that closes it, hinders no
/// other.
///
/// # Errors
/// [`Error::Unavailable`] when the database lets nothing begin, or of the last log that could not be reached; [`Error::Internal`] when
/// nothing can be signed. What is left is due still.
pub(crate) async fn sign_due(auth: &TenantAuth) -> Result<(), Error> {
    let due = auth.store().read().await?.checkpoints().due(auth.now(), AT_ONCE).await?;
    if !due.is_empty() {
        // A key that does not open is no log's defect.
        audit_keys::active(&mut auth.begin().await?).await?;
    }
    let mut signed = Ok(());
    for org in due {
        match sign(auth.begin().await?, &org).await {
            Err(error @ Error::Unavailable(_)) => {
                tracing::warn!(organization_id = %org, error = %error.causes(), "an audit log was not signed; it is tried again in a minute");
                signed = Err(error);
            }
            Err(error) => {
                tracing::error!(organization_id = %org, error = %error.causes(), "an audit log cannot be signed; it is tried again in an hour");
                postpone(auth, &org).await?;
            }
            Ok(()) => {}
        }
    }
    signed
}

async fn postpone(auth: &TenantAuth, org: &OrgId) -> Result<(), Error> {
    let mut tx = auth.begin().await?;
    tx.checkpoints().postpone(org, AGAIN_AFTER).await?;
    tx.commit().await
}

/// Signs a log, unless another worker did. The organization is locked before its sequence, as in every transaction.
async fn sign(mut tx: Tx, org: &OrgId) -> Result<(), Error> {
    let Some(org) = tx.organizations().lock(org).await? else { return Ok(()) };
    let Some(state) = tx.checkpoints().state(&org.id).await? else { return Ok(()) };
    if !state.is_due(tx.now()) || !tx.checkpoints().mark(&org.id, &state).await? {
        return Ok(());
    }
    let (sequence, hash) = (state.chained, state.hash.ok_or_else(|| Error::internal("a chain of events without a hash"))?);
    let key = audit_keys::active(&mut tx).await?;
    let jws = key.sign(json!({ "org": org.id.as_str(), "sequence": sequence, "hash": hash }), tx.now())?;
    tx.push(Event::new(EventKind::AuditCheckpoint, &org, Actor::System, &AuditCheckpointData { sequence, hash, jws })?);
    tx.commit().await
}
