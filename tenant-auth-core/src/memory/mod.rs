//! Answers from memory: what the database said of sessions, API keys and organizations, and which tokens were found genuine, kept in
//! this process (a cache) and used only while it is certain that it still holds. So a caller is judged without the database, and a
//! right that ended is never honoured after its end was acknowledged, in whichever process it ended.
//!
//! How, so that nothing has to be believed:
//! - Each request asks for a [`View`]. There is one when the last look at the change log began less than the freshness ago, or began
//!   after the request asked; otherwise the request waits for the next look to begin, which serves all who wait (`looks.rs`).
//! - A look makes fall what it names, before it counts; a failed look, or one that cannot tell what it missed, makes everything fall.
//! - What was read is kept only when nothing that it rests on was named since the reading began (`ledger.rs`).
//! - A committed change is followed by a look of this process before it is acknowledged; one that ends or narrows a right is
//!   acknowledged only after no process can still hold what was before (`acknowledgement.rs`).
//! - Memory refuses only a generation of tokens older than the remembered one; whatever else would be refused is read. Nothing is
//!   remembered of what there is not. Ends and expiries are judged at each answer.

#[cfg(feature = "service")]
mod acknowledgement;
#[cfg(feature = "service")]
mod alike;
#[cfg(feature = "service")]
mod bytes;
mod footing;
#[cfg(all(test, feature = "http", feature = "sqlite", feature = "testing"))]
mod footprint_tests;
#[cfg(feature = "service")]
mod journal;
#[cfg(feature = "service")]
mod kept_session;
#[cfg(feature = "service")]
mod kept_token;
#[cfg(feature = "service")]
mod last_look;
#[cfg(feature = "service")]
mod ledger;
#[cfg(feature = "service")]
mod looks;
mod moment;
#[cfg(feature = "service")]
mod news;
#[cfg(feature = "service")]
mod packed;
#[cfg(feature = "service")]
mod pages;
mod part;
#[cfg(feature = "service")]
mod poll;
#[cfg(feature = "service")]
mod remembered;
#[cfg(feature = "service")]
mod right;
mod shelf;
mod sync;
#[cfg(all(test, feature = "service"))]
mod tests;
#[cfg(feature = "service")]
mod token_of_session;
#[cfg(feature = "service")]
mod view;

#[cfg(all(feature = "service", not(feature = "remote")))]
use moment::Moment;
#[cfg(feature = "service")]
use {
    crate::{
        config::Memory as Settings,
        error::Error,
        keys::Keyring,
        metrics::MemoryMeter,
        store::{Looker, Store},
    },
    journal::Journal,
    looks::Looks,
    remembered::Remembered,
    right::Right,
    std::{
        sync::{Arc, OnceLock, Weak, atomic::AtomicBool},
        time::Duration,
    },
    tokio::{
        runtime::Handle,
        sync::{OnceCell, Semaphore},
    },
};
#[cfg(feature = "remote")]
pub(crate) use {
    footing::Footings,
    moment::Moment,
    part::Keyed,
    shelf::{Entry, Shelf},
};
#[cfg(feature = "service")]
pub(crate) use {
    journal::Known,
    kept_session::Recalled,
    news::{Asker, Bookmark, News, OrgNews},
    poll::Poll,
    remembered::Holding,
    view::View,
};

const MEBIBYTE: usize = 1024 * 1024;
/// How many questions for changes may read the database at once.
const TURNS: usize = 4;

/// What this process remembers, and the looks that keep it true.
#[cfg(feature = "service")]
#[derive(Debug)]
pub(crate) struct Memory {
    store: Store,
    runtime: Handle,
    freshness: Duration,
    looks: Looks,
    looker: tokio::sync::Mutex<Looker>,
    /// `None`: this process does not remember, and looks only after changes.
    remembered: Option<Remembered>,
    right: Right,
    keyring: OnceLock<Weak<Keyring>>,
    /// Whether a look named signing keys that were not read since. The look after it does not name them again.
    has_old_keys: AtomicBool,
    meter: MemoryMeter,
    /// The latest changes, for backends that ask for them.
    journal: Journal,
    /// Turns at the database for such questions.
    turns: Semaphore,
    /// Whether this process began an incarnation of the database, for the places that such questions are told.
    incarnation: OnceCell<()>,
}

#[cfg(feature = "service")]
impl Memory {
    pub(crate) fn new(store: Store, settings: &Settings, meter: MemoryMeter) -> Arc<Self> {
        Arc::new(Self {
            looker: tokio::sync::Mutex::new(Looker::new(store.clone())),
            store,
            runtime: Handle::current(),
            freshness: settings.freshness,
            looks: Looks::default(),
            remembered: (settings.mebibytes > 0).then(|| Remembered::new(settings.mebibytes as usize * MEBIBYTE, meter.clone())),
            meter,
            right: Right::default(),
            keyring: OnceLock::new(),
            has_old_keys: AtomicBool::new(false),
            journal: Journal::default(),
            turns: Semaphore::new(TURNS),
            incarnation: OnceCell::new(),
        })
    }

    /// Sets the keys that are read again when a look names them.
    pub(crate) fn reads_again(&self, keyring: &Arc<Keyring>) {
        let _ = self.keyring.set(Arc::downgrade(keyring));
    }

    /// What is remembered, for a request that asks now; `None` when this process does not remember, or not yet. Waits for a look when
    /// none is fresh.
    ///
    /// # Errors
    /// [`Error::Unavailable`] when the look fails: then nothing is known.
    pub(crate) async fn view(self: &Arc<Self>) -> Result<Option<View<'_>>, Error> {
        let Some(remembered) = &self.remembered else { return Ok(None) };
        if let Some(view) = self.view_now() {
            return Ok(Some(view));
        }
        if self.right.claim().is_none() {
            self.try_to_begin(Moment::now());
            return Ok(None);
        }
        self.view_after_look(remembered).await
    }

    /// The same of no earlier moment than this call, however fresh the last look is: for a request that saw later elsewhere.
    ///
    /// # Errors
    /// As [`Memory::view`].
    pub(crate) async fn view_from_now(self: &Arc<Self>) -> Result<Option<View<'_>>, Error> {
        if self.right.claim().is_none() {
            return self.view().await;
        }
        let Some(remembered) = &self.remembered else { return Ok(None) };
        self.view_after_look(remembered).await
    }

    /// What is remembered once the next look counts. A look that finds the right to remember lost leaves nothing to view: then the
    /// request reads the database.
    async fn view_after_look<'a>(self: &Arc<Self>, remembered: &'a Remembered) -> Result<Option<View<'a>>, Error> {
        match self.next_look().await {
            Ok(_) => Ok(Some(View::of(remembered))),
            Err(_) if self.right.claim().is_none() => Ok(None),
            Err(error) => Err(Error::unavailable(error.to_string())),
        }
    }

    /// The same without waiting: `None` as well when no look is fresh.
    pub(crate) fn view_now(self: &Arc<Self>) -> Option<View<'_>> {
        let remembered = self.remembered.as_ref()?;
        self.is_fresh(Moment::now()).then(|| View::of(remembered))
    }

    /// What was told of a token when this very session was found for it.
    #[cfg(feature = "http")]
    pub(crate) fn told(&self, token: &str, live: &Arc<crate::store::LiveSession>) -> Option<::bytes::Bytes> {
        self.remembered.as_ref()?.told(token, live)
    }

    /// Keeps what is told of a token.
    #[cfg(feature = "http")]
    pub(crate) fn keep_told(&self, token: &str, live: &Arc<crate::store::LiveSession>, body: &::bytes::Bytes) {
        if let Some(remembered) = &self.remembered {
            remembered.keep_told(token, live, body);
        }
    }

    /// Whether the last look serves a request that asked at this moment.
    fn is_fresh(self: &Arc<Self>, asked: Moment) -> bool {
        let Some(last) = self.looks.last() else { return false };
        let age = asked.since(last.began);
        if age >= last.freshness {
            return false;
        }
        // The next look begins before this one is too old, so that under load no request waits for one.
        if age > last.freshness / 2 {
            self.nudge();
        }
        true
    }

    /// What is remembered, by kind.
    pub(crate) fn holdings(&self) -> Vec<Holding> {
        self.remembered.as_ref().map(Remembered::holdings).unwrap_or_default()
    }
}
