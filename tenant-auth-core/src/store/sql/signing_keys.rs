//! The signing keys of session tokens, sealed at rest.

use crate::{
    error::Error,
    store::{
        Change, Link, Tx,
        dialect::{execute, fetch_all, row, statements},
    },
};

pub(crate) struct SigningKeys<L>(pub(in crate::store) L);

statements! {
    LIST = "
        SELECT kid, purpose, status, private_key
          FROM tenant_auth_signing_keys
         ORDER BY created_at, kid";
    INSERT = "
        INSERT INTO tenant_auth_signing_keys (kid, purpose, status, private_key, created_at)
        VALUES ($1, $2, $3, $4, $5)
        ON CONFLICT DO NOTHING";
    RETIRE_ACTIVE = "UPDATE tenant_auth_signing_keys SET status = 'retired', retired_at = $1 WHERE status = 'active'";
    PROMOTE_NEXT = "UPDATE tenant_auth_signing_keys SET status = 'active' WHERE status = 'next'";
    DELETE_ALL = "DELETE FROM tenant_auth_signing_keys";
}

row! {
    /// A signing key; `private_key` is sealed.
    #[derive(Debug, Clone)]
    SigningKeyRecord {
        kid: String,
        purpose: String,
        status: String,
        private_key: String,
    }
}

impl<L: Link> SigningKeys<L> {
    pub(crate) async fn list(mut self) -> Result<Vec<SigningKeyRecord>, Error> {
        fetch_all!(self.0, SigningKeyRecord, LIST)
    }
}

impl SigningKeys<&mut Tx> {
    /// Stores a key. Nothing happens when there already is a key with its status (active or next) for its purpose.
    pub(crate) async fn insert(mut self, key: &SigningKeyRecord) -> Result<(), Error> {
        let now = self.0.now();
        execute!(
            self.0,
            INSERT,
            key.kid.as_str(),
            key.purpose.as_str(),
            key.status.as_str(),
            key.private_key.as_str(),
            now.millis()
        )?;
        Ok(())
    }

    pub(crate) async fn retire_active(mut self) -> Result<(), Error> {
        self.0.touch(Change::SigningKeysRotated, None, "");
        let now = self.0.now();
        execute!(self.0, RETIRE_ACTIVE, now.millis())?;
        Ok(())
    }

    pub(crate) async fn promote_next(mut self) -> Result<(), Error> {
        self.0.touch(Change::SigningKeysRotated, None, "");
        execute!(self.0, PROMOTE_NEXT)?;
        Ok(())
    }

    pub(crate) async fn delete_all(mut self) -> Result<(), Error> {
        self.0.touch(Change::SigningKeysCompromised, None, "");
        execute!(self.0, DELETE_ALL)?;
        Ok(())
    }
}
