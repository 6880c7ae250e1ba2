//! Signing keys and their rotation. A key is `next` (published ahead, signs nothing yet), then `active`, then `retired` (its tokens
//! are accepted until the last has expired). Keys are stored in the database, sealed; every process reads them again every few
//! seconds, and when it meets a token of a key it does not know, so that a rotation reaches all processes.

use std::{
    pin::pin,
    sync::{Arc, PoisonError, RwLock, Weak},
    time::Duration,
};

use tokio::{sync::MutexGuard, time::Instant};

use crate::{
    audit_keys,
    config::Config,
    deadline,
    error::Error,
    sealed::{MasterKeys, SealContext},
    store::{SigningKeyRecord, Store, Survey, Transactions, Tx},
    token::{AuditKeySet, KeyPair, KeyPurpose, Signer},
};

/// How often a process looks for keys that another process has rotated.
const LOOK_EVERY: Duration = Duration::from_secs(5);
/// The least time between two readings that strangers cause: they make up as many tokens of unknown keys as they like.
const STRANGERS_EVERY: Duration = Duration::from_millis(200);

/// The signer in use, replaced as a whole when the keys change, and what is needed to read the keys again.
#[derive(Debug)]
pub(crate) struct Keyring {
    in_use: RwLock<InUse>,
    /// When the last reading began. One reading at a time: a slow one must not put back what a later one replaced.
    reading: tokio::sync::Mutex<Option<Instant>>,
    store: Store,
    config: Arc<Config>,
    master: Arc<MasterKeys>,
}

#[derive(Debug)]
struct InUse {
    signer: Arc<Signer>,
    /// Kid, purpose and status of each key; a kid is the key's thumbprint.
    keys: Vec<[String; 3]>,
    /// The public halves of the keys that sign audit logs.
    audit_keys: Arc<AuditKeySet>,
}

/// Why signing keys cannot be read.
#[derive(Debug, thiserror::Error)]
pub(crate) enum KeyringError {
    /// The master keys do not open the keys that are stored.
    #[error("the master key opens none of the signing keys")]
    MasterKey,
    /// The database failed, or a stored key is corrupt.
    #[error(transparent)]
    Failed(#[from] Error),
}

impl Keyring {
    /// Reads the keys, after creating those that are missing. When several processes start together, one creates them.
    pub(crate) async fn open(
        transactions: &Transactions,
        config: Arc<Config>,
        master: Arc<MasterKeys>,
    ) -> Result<Self, KeyringError> {
        let store = transactions.store().clone();
        let mut reader = store.read().await?;
        let stored = reader.signing_keys().list().await?;
        let is_complete = missing(&stored).is_empty() && reader.audit_keys().active().await?.is_some();
        drop(reader);
        if !stored.is_empty() {
            read(&stored, &config, &master)?;
        }
        // Whoever holds the writer, or a full disk, must keep no server from starting.
        if !is_complete {
            let mut tx = transactions.begin().await?;
            complete(&mut tx).await?;
            audit_keys::complete(&mut tx).await?;
            tx.commit().await?;
        }
        let mut reader = store.read().await?;
        let stored = reader.signing_keys().list().await?;
        let audit_keys = Arc::new(audit_keys::published(&mut reader).await?);
        drop(reader);
        let signer = Arc::new(read(&stored, &config, &master)?);
        let in_use = InUse { signer, keys: stored.into_iter().map(identity).collect(), audit_keys };
        Ok(Self { in_use: RwLock::new(in_use), reading: tokio::sync::Mutex::default(), store, config, master })
    }

    /// The signer to use now.
    pub(crate) fn signer(&self) -> Arc<Signer> {
        Arc::clone(&self.in_use.read().unwrap_or_else(PoisonError::into_inner).signer)
    }

    /// The public halves of the keys that sign audit logs.
    pub(crate) fn audit_keys(&self) -> Arc<AuditKeySet> {
        Arc::clone(&self.in_use.read().unwrap_or_else(PoisonError::into_inner).audit_keys)
    }

    /// Reads the keys again. The signer stays the same when the keys did: tokens that it verified need not be verified again.
    ///
    /// # Errors
    /// [`Error::Unavailable`]; [`Error::Internal`] when a key does not open. Those in memory stay in use then.
    pub(crate) async fn reload(&self) -> Result<(), Error> {
        self.read_since(Instant::now()).await
    }

    /// Makes sure that a token's key is known if there is such a key: one may have been made a moment ago in another process. Whoever
    /// brings a made-up key waits for the next reading, which serves all who wait.
    ///
    /// # Errors
    /// As [`Keyring::reload`].
    pub(crate) async fn learn_key_of(&self, token: &str) -> Result<(), Error> {
        if self.signer().knows_key_of(token) { Ok(()) } else { self.read_soon().await }
    }

    /// Reads the keys as they are at this call or later. One reading serves all who wait for it, however many strangers ask.
    ///
    /// # Errors
    /// As [`Keyring::reload`].
    pub(crate) async fn read_soon(&self) -> Result<(), Error> {
        let asked = Instant::now();
        let last = *self.turn().await?;
        if let Some(next) = last.map(|began| began + STRANGERS_EVERY) {
            tokio::time::sleep_until(next).await;
        }
        self.read_since(asked).await
    }

    /// The turn to read. Whoever reads waits for a database, and requests do not wait for that without an end.
    async fn turn(&self) -> Result<MutexGuard<'_, Option<Instant>>, Error> {
        deadline::wait_in_request(deadline::LIMIT, pin!(self.reading.lock())).await.map_err(Error::unavailable)
    }

    /// Reads the keys unless a reading that began at this moment or later did.
    async fn read_since(&self, asked: Instant) -> Result<(), Error> {
        let mut last = self.turn().await?;
        if last.is_some_and(|began| began > asked) {
            return Ok(());
        }
        let began = Instant::now();
        let mut reader = self.store.read().await?;
        let stored = reader.signing_keys().list().await?;
        let audit_keys = Arc::new(audit_keys::published(&mut reader).await?);
        drop(reader);
        let fresh = read(&stored, &self.config, &self.master).map_err(|error| match error {
            KeyringError::Failed(error) => error,
            KeyringError::MasterKey => Error::internal(error),
        })?;
        let keys: Vec<_> = stored.into_iter().map(identity).collect();
        let mut in_use = self.in_use.write().unwrap_or_else(PoisonError::into_inner);
        if in_use.keys == keys {
            in_use.audit_keys = audit_keys;
        } else {
            *in_use = InUse { signer: Arc::new(fresh), keys, audit_keys };
        }
        *last = Some(began);
        Ok(())
    }
}

fn identity(key: SigningKeyRecord) -> [String; 3] {
    [key.kid, key.purpose, key.status]
}

/// Looks for rotated keys until the service is dropped.
pub(crate) async fn watch(keyring: Weak<Keyring>) {
    loop {
        tokio::time::sleep(LOOK_EVERY).await;
        let Some(keyring) = keyring.upgrade() else { return };
        // Requests may wait for their turn behind it.
        if let Err(error) = deadline::of_request(keyring.reload()).await {
            tracing::warn!(error = %error.causes(), "the signing keys cannot be read again; those in memory stay in use");
        }
    }
}

/// Creates missing keys.
async fn complete(tx: &mut Tx) -> Result<(), Error> {
    let stored = tx.signing_keys().list().await?;
    for (purpose, status) in missing(&stored) {
        let key = new_key(tx, purpose, status)?;
        tx.signing_keys().insert(&key).await?;
    }
    Ok(())
}

/// What is missing: each purpose has an active and a next key.
fn missing(stored: &[SigningKeyRecord]) -> Vec<(KeyPurpose, &'static str)> {
    let wanted = KeyPurpose::ALL.into_iter().flat_map(|purpose| ["active", "next"].map(|status| (purpose, status)));
    wanted.filter(|(purpose, status)| !stored.iter().any(|key| key.purpose == purpose.as_str() && key.status == *status)).collect()
}

fn new_key(tx: &Tx, purpose: KeyPurpose, status: &'static str) -> Result<SigningKeyRecord, Error> {
    let der = KeyPair::generate_der()?;
    let kid = KeyPair::from_der(&der, purpose, false)?.kid;
    let sealed = tx.seal(&der, seal_context(&kid))?;
    Ok(SigningKeyRecord { kid, purpose: purpose.as_str().to_owned(), status: status.to_owned(), private_key: sealed })
}

/// Rotates the keys, those of the audit log too: the next keys become active. When the keys are compromised, all are deleted and replaced
/// by new ones that were never published.
pub(crate) async fn rotate(tx: &mut Tx, compromised: bool) -> Result<(), Error> {
    if compromised {
        tx.signing_keys().delete_all().await?;
        // A process that has not read the new keys yet would still accept partial tokens signed with the old ones, so pending
        // logins end.
        tx.pending_logins().end_all().await?;
    } else {
        tx.signing_keys().retire_active().await?;
        tx.signing_keys().promote_next().await?;
    }
    audit_keys::rotate(tx, compromised).await?;
    complete(tx).await
}

fn read(stored: &[SigningKeyRecord], config: &Config, master: &MasterKeys) -> Result<Signer, KeyringError> {
    let keys = stored.iter().map(|record| open(record, master)).collect::<Result<Vec<_>, _>>()?;
    Ok(Signer::new(config, keys)?)
}

fn open(record: &SigningKeyRecord, master: &MasterKeys) -> Result<KeyPair, KeyringError> {
    let der = master.open(&record.private_key, seal_context(&record.kid)).ok_or(KeyringError::MasterKey)?;
    let purpose = KeyPurpose::ALL.into_iter().find(|purpose| purpose.as_str() == record.purpose);
    let purpose = purpose.ok_or_else(|| Error::internal("signing key of an unknown purpose"))?;
    Ok(KeyPair::from_der(&der, purpose, record.status == "active")?)
}

impl Survey {
    /// Whether these master keys open the signing keys of the database, without which nothing starts. `None` where it has none yet, and of a
    /// database that was asked for its schema alone ([`Store::schema`](crate::Store::schema)).
    pub fn opened_by(&self, master: &MasterKeys) -> Option<bool> {
        let opens = |(kid, sealed): &(String, String)| master.open(sealed, seal_context(kid)).is_some();
        let keys = &self.signing_keys.0;
        (!keys.is_empty()).then(|| keys.iter().all(opens))
    }
}

fn seal_context(kid: &str) -> SealContext<'_> {
    SealContext { table: "tenant_auth_signing_keys", column: "private_key", row: kid, org: "" }
}

#[cfg(all(test, feature = "testing", feature = "sqlite"))]
mod tests {
    use super::*;
    use crate::testing::TestAuth;

    #[tokio::test]
    async fn the_signer_stays_until_the_keys_change() {
        let test = TestAuth::new().await;
        let before = test.auth.signer();
        test.auth.reload_keys().await.expect("they are read");
        assert!(Arc::ptr_eq(&before, &test.auth.signer()));
        test.auth.operator().rotate_keys(false).await.expect("they are replaced");
        assert!(!Arc::ptr_eq(&before, &test.auth.signer()));
    }

    #[tokio::test]
    async fn why_a_key_cannot_be_read_is_told() {
        let test = TestAuth::new().await;
        let mut tx = test.auth.begin().await.expect("nobody else writes");
        let private_key = tx.seal(b"", seal_context("key_1")).expect("it is sealed");
        let [kid, purpose, status] = ["key_1", "other", "retired"].map(str::to_owned);
        tx.signing_keys().insert(&SigningKeyRecord { kid, purpose, status, private_key }).await.expect("it is kept");
        tx.commit().await.expect("it is written");
        let error = test.auth.reload_keys().await.expect_err("no key has this purpose");
        assert!(error.causes().to_string().contains("signing key of an unknown purpose"), "{}", error.causes());
    }

    #[tokio::test]
    async fn keys_that_are_all_there_are_opened_without_the_writer() {
        let test = TestAuth::new().await;
        let (config, master) = (Arc::new(test.auth.config().clone()), Arc::new(test.auth.master_keys().clone()));
        let _writing = test.auth.begin().await.expect("nobody else writes");
        let opened = Keyring::open(test.auth.transactions(), config, master).await.expect("has nothing to write");
        assert_eq!(opened.signer().jwks(), test.auth.signer().jwks());
    }
}
