//! The lives of audit keys. One signs at a time; it is made with the service, replaced by a rotation, and its public half is published
//! for ever. The private half is read from the database when something is signed, a few times a day, so that no process signs with one
//! that was replaced; the public halves are kept with those of tokens.

use crate::{
    error::Error,
    sealed::SealContext,
    store::{AuditKeyRecord, Reader, Tx},
    time::Timestamp,
    token::{AuditKeyPair, AuditKeySet, KeyEnds, PublicAuditKey},
};

/// Makes a key where none signs.
pub(crate) async fn complete(tx: &mut Tx) -> Result<(), Error> {
    if tx.audit_keys().active().await?.is_some() {
        return Ok(());
    }
    let der = AuditKeyPair::generate_der()?;
    let AuditKeyPair { kid, public, .. } = AuditKeyPair::from_der(&der)?;
    let sealed = tx.seal(&der, seal_context(&kid))?;
    let key = AuditKeyRecord { kid, public_key: public, private_key: Some(sealed), retired_at: None, revoked_at: None };
    tx.audit_keys().insert(&key).await
}

/// Replaces the key that signs. When the keys are compromised, every one is marked: what is signed with it from now on is refused.
pub(crate) async fn rotate(tx: &mut Tx, compromised: bool) -> Result<(), Error> {
    if compromised {
        tx.audit_keys().revoke_all().await?;
    } else {
        tx.audit_keys().retire().await?;
    }
    complete(tx).await
}

/// The key that signs.
pub(crate) async fn active(tx: &mut Tx) -> Result<AuditKeyPair, Error> {
    let key = tx.audit_keys().active().await?.ok_or_else(|| Error::internal("no audit key"))?;
    let sealed = key.private_key.as_deref().ok_or_else(|| Error::internal("the active audit key has no private half"))?;
    let der =
        tx.open(sealed, seal_context(&key.kid)).ok_or_else(|| Error::internal("the master key does not open the audit key"))?;
    AuditKeyPair::from_der(&der)
}

/// The public halves.
pub(crate) async fn published(reader: &mut Reader) -> Result<AuditKeySet, Error> {
    let keys = reader.audit_keys().list().await?.into_iter();
    let public = |key: AuditKeyRecord| {
        let ends =
            KeyEnds { retired: key.retired_at.map(Timestamp::from_millis), revoked: key.revoked_at.map(Timestamp::from_millis) };
        PublicAuditKey::new(key.kid, key.public_key, ends)
    };
    Ok(AuditKeySet::new(keys.map(public).collect()))
}

fn seal_context(kid: &str) -> SealContext<'_> {
    SealContext { table: "tenant_auth_audit_keys", column: "private_key", row: kid, org: "" }
}
