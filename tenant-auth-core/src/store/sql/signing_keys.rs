//! The keys that sign session tokens, sealed.

use crate::{
    error::Error,
    store::{
        Link, Tx,
        dialect::{execute, fetch_all, row, statements},
    },
    time::Timestamp,
};

pub(crate) struct SigningKeys<L>(pub(in crate::store) L);

statements! {
    LIST = "
        SELECT kid, purpose, status, private_key
          FROM tenant_auth_signing_keys
         ORDER BY created_at, kid";
    INSERT_ACTIVE = "
        INSERT INTO tenant_auth_signing_keys (kid, purpose, status, private_key, created_at)
        VALUES ($1, $2, 'active', $3, $4)
        ON CONFLICT DO NOTHING";
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
    /// Puts a key in charge of a purpose that has none; when it has one, nothing happens.
    pub(crate) async fn insert_active(mut self, kid: &str, purpose: &str, sealed: &str, now: Timestamp) -> Result<(), Error> {
        execute!(self.0, INSERT_ACTIVE, kid, purpose, sealed, now.millis())?;
        Ok(())
    }
}
