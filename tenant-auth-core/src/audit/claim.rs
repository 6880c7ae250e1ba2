//! The one export of an audit log that an organization's admins may have at a time: a row with a lease, which is gone when the export
//! ends, and lapses when the process that writes it dies.

use std::{sync::Mutex, time::Duration};

use tokio::time::Instant;

use crate::{error::Error, id::OrgId, secret::random_text, service::TenantAuth, store::Tx};

/// How long a claim is good for without a sign of life.
const LEASE: Duration = Duration::from_secs(120);
const RENEW_AFTER: Duration = Duration::from_secs(30);

/// The right to write the organization's export.
pub(super) struct Claim {
    org: OrgId,
    token: String,
    renewed: Mutex<Instant>,
}

impl Claim {
    /// Takes the claim.
    ///
    /// # Errors
    /// [`Error::RateLimited`] while another export has it.
    pub(super) async fn take(tx: &mut Tx, auth: &TenantAuth, org: &OrgId) -> Result<Self, Error> {
        let (now, token) = (tx.now(), random_text(auth.entropy()));
        if tx.audit_exports().take(org, &token, now.plus(LEASE)).await? {
            return Ok(Self { org: org.clone(), token, renewed: Mutex::new(Instant::now()) });
        }
        let until = tx.audit_exports().held_until(org).await?.unwrap_or(now);
        Err(Error::rate_limited(until.since(now).min(LEASE)))
    }

    /// Keeps the claim.
    ///
    /// # Errors
    /// [`Error::Unavailable`], also when it has lapsed.
    pub(super) async fn renew_if_due(&self, auth: &TenantAuth) -> Result<(), Error> {
        {
            let mut renewed = self.renewed.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            if renewed.elapsed() < RENEW_AFTER {
                return Ok(());
            }
            *renewed = Instant::now();
        }
        let mut tx = auth.begin().await?;
        let until = tx.now().plus(LEASE);
        if !tx.audit_exports().renew(&self.org, &self.token, until).await? {
            return Err(Error::unavailable("another export of the audit log has begun"));
        }
        tx.commit().await
    }

    /// Gives the claim back.
    ///
    /// # Errors
    /// [`Error::Unavailable`]; it lapses by itself then.
    pub(super) async fn release(&self, auth: &TenantAuth) -> Result<(), Error> {
        let mut tx = auth.begin().await?;
        tx.audit_exports().release(&self.org, &self.token).await?;
        tx.commit().await
    }
}
