//! The list of columns that hold sealed values, for re-encryption when the master key changes. A column that is missing here would
//! be lost with the old key, so a test compares the list with the schema.

use crate::{
    error::Error,
    store::{
        Link, Tx,
        dialect::{execute, fetch_all, row, statements},
    },
};

pub(crate) struct Sealed<L>(pub(in crate::store) L);

/// A column of sealed values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SealedColumn {
    SigningKeys,
    AuditKeys,
    Mails,
    SecondFactors,
    WebhookSecrets,
}

impl SealedColumn {
    pub(crate) const ALL: [Self; 5] = [Self::SigningKeys, Self::AuditKeys, Self::Mails, Self::SecondFactors, Self::WebhookSecrets];

    pub(crate) const fn table(self) -> &'static str {
        match self {
            Self::SigningKeys => "tenant_auth_signing_keys",
            Self::AuditKeys => "tenant_auth_audit_keys",
            Self::Mails => "tenant_auth_mails",
            Self::SecondFactors => "tenant_auth_second_factors",
            Self::WebhookSecrets => "tenant_auth_webhook_secrets",
        }
    }

    pub(crate) const fn column(self) -> &'static str {
        match self {
            Self::SigningKeys | Self::AuditKeys => "private_key",
            Self::Mails => "content",
            Self::SecondFactors | Self::WebhookSecrets => "secret",
        }
    }
}

statements! {
    LIST_SIGNING_KEYS = "
        SELECT kid AS row, '' AS org, private_key AS value
          FROM tenant_auth_signing_keys
         WHERE kid > $1
         ORDER BY kid
         LIMIT $2";
    LIST_AUDIT_KEYS = "
        SELECT kid AS row, '' AS org, private_key AS value
          FROM tenant_auth_audit_keys
         WHERE kid > $1 AND private_key IS NOT NULL
         ORDER BY kid
         LIMIT $2";
    LIST_MAILS = "
        SELECT id AS row, org_id AS org, content AS value
          FROM tenant_auth_mails
         WHERE id > $1 AND content IS NOT NULL
         ORDER BY id
         LIMIT $2";
    LIST_SECOND_FACTORS = "
        SELECT user_id AS row, '' AS org, secret AS value
          FROM tenant_auth_second_factors
         WHERE user_id > $1
         ORDER BY user_id
         LIMIT $2";
    LIST_WEBHOOK_SECRETS = "
        SELECT id AS row, org_id AS org, secret AS value
          FROM tenant_auth_webhook_secrets
         WHERE id > $1
         ORDER BY id
         LIMIT $2";
    REPLACE_SIGNING_KEY = "UPDATE tenant_auth_signing_keys SET private_key = $3 WHERE kid = $1 AND private_key = $2";
    REPLACE_AUDIT_KEY = "UPDATE tenant_auth_audit_keys SET private_key = $3 WHERE kid = $1 AND private_key = $2";
    REPLACE_MAIL = "UPDATE tenant_auth_mails SET content = $3 WHERE id = $1 AND content = $2";
    REPLACE_SECOND_FACTOR = "UPDATE tenant_auth_second_factors SET secret = $3 WHERE user_id = $1 AND secret = $2";
    REPLACE_WEBHOOK_SECRET = "UPDATE tenant_auth_webhook_secrets SET secret = $3 WHERE id = $1 AND secret = $2";
}

row! {
    SealedRow {
        row: String,
        org: String,
        value: String,
    }
}

impl<L: Link> Sealed<L> {
    /// Up to `limit` sealed values after a row.
    pub(crate) async fn list(mut self, column: SealedColumn, after: &str, limit: u32) -> Result<Vec<SealedRow>, Error> {
        let limit = i64::from(limit);
        match column {
            SealedColumn::SigningKeys => fetch_all!(self.0, SealedRow, LIST_SIGNING_KEYS, after, limit),
            SealedColumn::AuditKeys => fetch_all!(self.0, SealedRow, LIST_AUDIT_KEYS, after, limit),
            SealedColumn::Mails => fetch_all!(self.0, SealedRow, LIST_MAILS, after, limit),
            SealedColumn::SecondFactors => fetch_all!(self.0, SealedRow, LIST_SECOND_FACTORS, after, limit),
            SealedColumn::WebhookSecrets => fetch_all!(self.0, SealedRow, LIST_WEBHOOK_SECRETS, after, limit),
        }
    }
}

impl Sealed<&mut Tx> {
    /// Replaces a value, unless it changed since it was read.
    pub(crate) async fn replace(mut self, column: SealedColumn, row: &SealedRow, sealed: &str) -> Result<bool, Error> {
        let (id, old) = (row.row.as_str(), row.value.as_str());
        let replaced = match column {
            SealedColumn::SigningKeys => execute!(self.0, REPLACE_SIGNING_KEY, id, old, sealed)?,
            SealedColumn::AuditKeys => execute!(self.0, REPLACE_AUDIT_KEY, id, old, sealed)?,
            SealedColumn::Mails => execute!(self.0, REPLACE_MAIL, id, old, sealed)?,
            SealedColumn::SecondFactors => execute!(self.0, REPLACE_SECOND_FACTOR, id, old, sealed)?,
            SealedColumn::WebhookSecrets => execute!(self.0, REPLACE_WEBHOOK_SECRET, id, old, sealed)?,
        };
        Ok(replaced == 1)
    }
}
