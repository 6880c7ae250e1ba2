//! The rotation of the keys: the signing keys are replaced, those of the audit log too, and every sealed value is sealed again under the
//! first master key. A value that no master key opens is left as it is and named: it must not keep the others under the old key.

use super::{Operator, SessionsOf};
use crate::{
    error::Error,
    keys,
    sealed::{MasterKeys, SealContext},
    store::{Actor, DeploymentDeed, SealedColumn, Transactions},
};

/// How many values one transaction seals again.
const BATCH: u32 = 100;
/// How many values that do not open are named.
const NAMED: usize = 100;

/// The outcome of a rotation of the keys.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct RotatedKeys {
    /// How many values are under the first master key now and were not.
    pub resealed: u64,
    /// How many values no master key opens, because the key that they are under is missing or they are damaged; each was left as it is.
    /// That key must be kept, or what they hold be made anew.
    pub unopened: u64,
    /// Where the first of them stand, a hundred at most.
    pub unopened_at: Vec<SealedPlace>,
}

/// Where a sealed value stands in the database.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct SealedPlace {
    /// The table.
    pub table: &'static str,
    /// The column of the value.
    pub column: &'static str,
    /// The row's id; of a second factor the person's, of a key its `kid`.
    pub row: String,
    /// The organization's id, where the value belongs to one.
    pub organization: Option<String>,
}

impl Operator {
    /// Rotates the signing keys, those of the audit log too, and seals every value again under the first master key. When the keys are
    /// compromised, the old ones stop working at once, and every session ends with them.
    ///
    /// # Errors
    /// [`Error::Unavailable`]; the rotation can be started again at any point.
    pub async fn rotate_keys(&self, compromised: bool) -> Result<RotatedKeys, Error> {
        let mut tx = self.auth.begin().await?;
        keys::rotate(&mut tx, compromised).await?;
        tx.record(Actor::System, DeploymentDeed::KeysRotated { compromised });
        tx.commit().await?;
        self.auth.reload_keys().await?;
        if compromised {
            // Another process may keep the old keys in memory for a few seconds; without sessions they open nothing.
            self.revoke_sessions(SessionsOf::All).await?;
        }
        reseal(self.auth.transactions(), self.auth.master_keys()).await
    }
}

/// Seals every value again under the first master key, a batch at a time. It can be stopped and started again at any point. A value that
/// changes in the meantime is left as its writer sealed it.
async fn reseal(transactions: &Transactions, master: &MasterKeys) -> Result<RotatedKeys, Error> {
    let mut outcome = RotatedKeys::default();
    for column in SealedColumn::ALL {
        let mut after = String::new();
        loop {
            let rows = transactions.store().read().await?.sealed().list(column, &after, BATCH).await?;
            let Some(last) = rows.last() else { break };
            after = last.row.clone();
            let mut tx = transactions.begin().await?;
            for row in &rows {
                let context = SealContext { table: column.table(), column: column.column(), row: &row.row, org: &row.org };
                let Some(plain) = master.open(&row.value, context) else {
                    outcome.leave(context);
                    continue;
                };
                if master.is_sealed_by_first(&row.value) {
                    continue;
                }
                let sealed = tx.seal(&plain, context)?;
                outcome.resealed += u64::from(tx.sealed().replace(column, row, &sealed).await?);
            }
            tx.commit().await?;
        }
    }
    Ok(outcome)
}

impl RotatedKeys {
    /// Notes a value that no master key opens.
    fn leave(&mut self, context: SealContext<'_>) {
        let SealContext { table, column, row, org } = context;
        self.unopened += 1;
        if self.unopened_at.len() < NAMED {
            let organization = Some(org).filter(|org| !org.is_empty()).map(str::to_owned);
            self.unopened_at.push(SealedPlace { table, column, row: row.to_owned(), organization });
        }
    }
}
