//! The keys that sign exports and checkpoints of audit logs; private halves are sealed at rest.

use crate::{
    error::Error,
    store::{
        Link, Tx,
        dialect::{execute, fetch_all, fetch_optional, row, statements},
    },
};

pub(crate) struct AuditKeys<L>(pub(in crate::store) L);

statements! {
    LIST = "
        SELECT kid, public_key, private_key, retired_at, revoked_at
          FROM tenant_auth_audit_keys
         ORDER BY created_at, kid";
    ACTIVE = "
        SELECT kid, public_key, private_key, retired_at, revoked_at
          FROM tenant_auth_audit_keys
         WHERE status = 'active'";
    INSERT = "
        INSERT INTO tenant_auth_audit_keys (kid, public_key, private_key, status, created_at)
        VALUES ($1, $2, $3, 'active', $4)
        ON CONFLICT DO NOTHING";
    RETIRE = "
        UPDATE tenant_auth_audit_keys
           SET status = 'retired', private_key = NULL, retired_at = $1
         WHERE status = 'active'";
    REVOKE = "
        UPDATE tenant_auth_audit_keys
           SET status = 'revoked', private_key = NULL, revoked_at = $1
         WHERE revoked_at IS NULL";
}

row! {
    /// An audit key; `private_key` is sealed, and there only while the key signs.
    #[derive(Debug, Clone)]
    AuditKeyRecord {
        kid: String,
        public_key: String,
        private_key: Option<String>,
        retired_at: Option<i64>,
        revoked_at: Option<i64>,
    }
}

impl<L: Link> AuditKeys<L> {
    /// Every key there ever was, the oldest first.
    pub(crate) async fn list(mut self) -> Result<Vec<AuditKeyRecord>, Error> {
        fetch_all!(self.0, AuditKeyRecord, LIST)
    }

    /// The key that signs.
    pub(crate) async fn active(mut self) -> Result<Option<AuditKeyRecord>, Error> {
        fetch_optional!(self.0, AuditKeyRecord, ACTIVE)
    }
}

impl AuditKeys<&mut Tx> {
    /// Stores a key that signs from now on. Nothing happens when there is one.
    pub(crate) async fn insert(mut self, key: &AuditKeyRecord) -> Result<(), Error> {
        let now = self.0.now();
        execute!(self.0, INSERT, key.kid.as_str(), key.public_key.as_str(), key.private_key.as_deref(), now.millis())?;
        Ok(())
    }

    /// Lets the key that signs sign no more.
    pub(crate) async fn retire(mut self) -> Result<(), Error> {
        let now = self.0.now();
        execute!(self.0, RETIRE, now.millis())?;
        Ok(())
    }

    /// Says of every key that somebody else may have it.
    pub(crate) async fn revoke_all(mut self) -> Result<(), Error> {
        let now = self.0.now();
        execute!(self.0, REVOKE, now.millis())?;
        Ok(())
    }
}
