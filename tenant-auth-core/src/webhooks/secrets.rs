//! Webhook signing secrets at rest: sealed with a master key and bound to the organization and the row, so that a sealed value
//! copied to another row does not open.

use super::SigningSecret;
use crate::{
    error::Error,
    id::OrgId,
    model::Webhook,
    sealed::SealContext,
    secret::random_text,
    store::{SealedSecret, Tx},
};

/// A new secret, in clear for its owner and sealed for the database.
pub(super) fn make(tx: &Tx, webhook: &Webhook) -> Result<(SigningSecret, SealedSecret), Error> {
    let secret = SigningSecret::generate(tx.entropy());
    let id = random_text(tx.entropy());
    let sealed = tx.seal(secret.expose().as_bytes(), seal_context(&id, &webhook.org_id))?;
    Ok((secret, SealedSecret { id, sealed }))
}

/// A secret that was made elsewhere, sealed for the database.
pub(crate) fn seal_secret(tx: &Tx, org: &OrgId, secret: &SigningSecret) -> Result<SealedSecret, Error> {
    let id = random_text(tx.entropy());
    let sealed = tx.seal(secret.expose().as_bytes(), seal_context(&id, org))?;
    Ok(SealedSecret { id, sealed })
}

/// A stored secret, opened.
pub(crate) fn open_secret(tx: &Tx, org: &OrgId, stored: &SealedSecret) -> Result<SigningSecret, Error> {
    let plain = tx.open(&stored.sealed, seal_context(&stored.id, org));
    let plain = plain.ok_or_else(|| Error::internal("a webhook's secret does not open"))?;
    SigningSecret::parse(str::from_utf8(&plain).map_err(Error::internal)?).map_err(Error::internal)
}

fn seal_context<'a>(id: &'a str, org: &'a OrgId) -> SealContext<'a> {
    SealContext { table: "tenant_auth_webhook_secrets", column: "secret", row: id, org: org.as_str() }
}
