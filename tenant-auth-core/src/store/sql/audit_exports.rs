//! The exports of audit logs that are being written to admins: one row for each organization, with a lease.

use crate::{
    error::Error,
    id::OrgId,
    store::{
        Link, Tx,
        dialect::{execute, fetch_scalar, statements},
    },
    time::{HOUR, Timestamp},
};

pub(crate) struct AuditExports<L>(pub(in crate::store) L);

statements! {
    // A lease that ends an hour later than one of now could is of a clock that was ahead; one that ends a little later is that of a server
    // whose clock differs, and of an export that is being written.
    TAKE = "
        INSERT INTO tenant_auth_audit_exports (org_id, token, held_until)
        VALUES ($1, $2, $3)
        ON CONFLICT (org_id) DO UPDATE SET token = excluded.token, held_until = excluded.held_until
         WHERE tenant_auth_audit_exports.held_until <= $4 OR tenant_auth_audit_exports.held_until > $5";
    HELD_UNTIL = "SELECT held_until FROM tenant_auth_audit_exports WHERE org_id = $1";
    RENEW = "UPDATE tenant_auth_audit_exports SET held_until = $3 WHERE org_id = $1 AND token = $2";
    RELEASE = "DELETE FROM tenant_auth_audit_exports WHERE org_id = $1 AND token = $2";
}

impl<L: Link> AuditExports<L> {
    /// Until when an export has the claim.
    pub(crate) async fn held_until(mut self, org: &OrgId) -> Result<Option<Timestamp>, Error> {
        Ok(fetch_scalar!(self.0, i64, HELD_UNTIL, org.as_str())?.map(Timestamp::from_millis))
    }
}

impl AuditExports<&mut Tx> {
    /// Takes the claim; `false` while another export has it.
    pub(crate) async fn take(mut self, org: &OrgId, token: &str, until: Timestamp) -> Result<bool, Error> {
        let (now, latest) = (self.0.now(), until.plus(HOUR));
        Ok(execute!(self.0, TAKE, org.as_str(), token, until.millis(), now.millis(), latest.millis())? == 1)
    }

    /// Keeps the claim; `false` when another export has it.
    pub(crate) async fn renew(mut self, org: &OrgId, token: &str, until: Timestamp) -> Result<bool, Error> {
        Ok(execute!(self.0, RENEW, org.as_str(), token, until.millis())? == 1)
    }

    /// Gives the claim back.
    pub(crate) async fn release(mut self, org: &OrgId, token: &str) -> Result<(), Error> {
        execute!(self.0, RELEASE, org.as_str(), token)?;
        Ok(())
    }
}
