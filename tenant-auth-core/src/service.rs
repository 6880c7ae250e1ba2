//! The running service. A [`TenantAuth`] is the handle that every flow receives; it holds the parts that flows share: store, settings,
//! keys and ports. `builder.rs` makes it.

use std::sync::Arc;

use tokio::{
    runtime::Handle,
    sync::{Semaphore, watch},
};

use crate::{
    backend::KeyUses,
    bounded::BoundedWork,
    config::Config,
    error::Error,
    keys::Keyring,
    metrics,
    model::EventKind,
    ports::{Clock, Entropy, Mailer, PasswordHasher, Resolver, Sender},
    sealed::MasterKeys,
    store::{Store, Swept, Tx},
    throttle::Gates,
    time::Timestamp,
    token::Signer,
    webhooks::Targets,
};

/// The service. Cheap to clone; clones share everything.
#[derive(Clone, Debug)]
pub struct TenantAuth {
    inner: Arc<Inner>,
}

/// The counters, with the kinds of events and of rows that this service knows.
pub(crate) type Metrics = metrics::Metrics<EventKind, Swept>;

/// The parts of a running service. Only the builder puts them together.
#[derive(Debug)]
pub(crate) struct Inner {
    pub(crate) store: Store,
    pub(crate) config: Arc<Config>,
    pub(crate) master_keys: Arc<MasterKeys>,
    pub(crate) keyring: Arc<Keyring>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) entropy: Arc<dyn Entropy>,
    pub(crate) hasher: Arc<dyn PasswordHasher>,
    pub(crate) mailer: Option<Arc<dyn Mailer>>,
    pub(crate) sender: Option<Arc<dyn Sender>>,
    pub(crate) resolver: Arc<dyn Resolver>,
    pub(crate) targets: Targets,
    pub(crate) admissions: Semaphore,
    pub(crate) outbox_filled: watch::Sender<()>,
    pub(crate) key_uses: KeyUses,
    pub(crate) estimates: BoundedWork,
    pub(crate) gates: Gates,
    pub(crate) metrics: Metrics,
    pub(crate) runtime: Handle,
}

impl From<Inner> for TenantAuth {
    fn from(parts: Inner) -> Self {
        Self { inner: Arc::new(parts) }
    }
}

impl TenantAuth {
    /// The settings the service runs with.
    pub fn config(&self) -> &Config {
        &self.inner.config
    }

    /// Whether the database answers; keys and tables were proved when the service was built.
    ///
    /// # Errors
    /// [`Error::Unavailable`] when it does not.
    pub async fn ready(&self) -> Result<(), Error> {
        self.store().read().await?.signing_keys().list().await.map(drop)
    }

    pub(crate) fn store(&self) -> &Store {
        &self.inner.store
    }

    pub(crate) fn master_keys(&self) -> &MasterKeys {
        &self.inner.master_keys
    }

    pub(crate) fn signer(&self) -> Arc<Signer> {
        self.inner.keyring.signer()
    }

    /// Reads the signing keys again, without waiting for the next look.
    pub(crate) async fn reload_keys(&self) -> Result<(), Error> {
        self.inner.keyring.reload().await
    }

    pub(crate) fn now(&self) -> Timestamp {
        self.inner.clock.now()
    }

    pub(crate) fn entropy(&self) -> &dyn Entropy {
        &*self.inner.entropy
    }

    pub(crate) fn hasher(&self) -> &dyn PasswordHasher {
        &*self.inner.hasher
    }

    pub(crate) fn mailer(&self) -> Option<&dyn Mailer> {
        self.inner.mailer.as_deref()
    }

    pub(crate) fn sender(&self) -> Option<&dyn Sender> {
        self.inner.sender.as_deref()
    }

    pub(crate) fn resolver(&self) -> &dyn Resolver {
        &*self.inner.resolver
    }

    /// The places of those whose webhook's host is being looked up.
    pub(crate) fn admissions(&self) -> &Semaphore {
        &self.inner.admissions
    }

    /// Where webhooks may go.
    pub(crate) fn targets(&self) -> &Targets {
        &self.inner.targets
    }

    /// Changes whenever a commit of this process left something for the worker.
    pub(crate) fn outbox_filled(&self) -> watch::Receiver<()> {
        self.inner.outbox_filled.subscribe()
    }

    pub(crate) fn key_uses(&self) -> &KeyUses {
        &self.inner.key_uses
    }

    /// Where attempts wait for each other.
    pub(crate) fn gates(&self) -> &Gates {
        &self.inner.gates
    }

    /// Where passwords are judged.
    pub(crate) fn estimates(&self) -> &BoundedWork {
        &self.inner.estimates
    }

    /// The runtime the connections belong to.
    pub(crate) fn runtime(&self) -> &Handle {
        &self.inner.runtime
    }

    /// What the service counts.
    pub(crate) fn metrics(&self) -> &Metrics {
        &self.inner.metrics
    }

    /// Commits, counts what happened, and wakes the worker for what the transaction left in the outbox.
    pub(crate) async fn commit(&self, tx: Tx, now: Timestamp) -> Result<(), Error> {
        let happened = tx.event_kinds();
        if tx.finish(now, self.entropy()).await? {
            self.inner.outbox_filled.send_replace(());
        }
        for kind in happened {
            self.metrics().event(kind);
            match kind {
                EventKind::SessionCreated => self.metrics().session_opened(),
                EventKind::SessionRevoked => self.metrics().session_revoked(),
                _ => {}
            }
        }
        Ok(())
    }
}
