//! What is remembered: sessions with their tokens, keys and organizations, as they were read, each as long as the [`Ledger`] lets it
//! stand.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

#[cfg(feature = "http")]
use super::kept_token::TextDigest;
use super::{
    alike::Alike,
    footing::Footing,
    kept_session::KeptSession,
    ledger::{Ledger, Reading},
    part::Keyed,
    shelf::{Entry, Shelf},
};
use crate::{
    metrics::MemoryMeter,
    model::Organization,
    store::{KeyRecord, LiveSession, Sight, Subject},
};

/// The maps, each with a share of the bytes.
#[derive(Debug)]
pub(super) struct Remembered {
    ledger: Mutex<Ledger>,
    alike: Mutex<Alike>,
    pub(super) sessions: Shelf<KeptSession>,
    pub(super) keys: Shelf<Arc<KeyRecord>>,
    pub(super) organizations: Shelf<Arc<Organization>>,
    pub(super) meter: MemoryMeter,
}

/// How much is remembered of one kind.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Holding {
    pub(crate) kind: &'static str,
    pub(crate) entries: usize,
    pub(crate) bytes: usize,
}

impl Keyed for Arc<KeyRecord> {
    fn key(&self) -> &[u8] {
        self.id.as_str().as_bytes()
    }
}

impl Keyed for Arc<Organization> {
    fn key(&self) -> &[u8] {
        self.slug.as_str().as_bytes()
    }
}

impl Remembered {
    pub(super) fn new(bytes: usize, meter: MemoryMeter) -> Self {
        let share = |sixteenths: usize| bytes / 16 * sixteenths;
        Self {
            ledger: Mutex::default(),
            sessions: Shelf::new(share(13)),
            alike: Mutex::new(Alike::new(share(1))),
            keys: Shelf::new(share(1)),
            organizations: Shelf::new(share(1)),
            meter,
        }
    }

    /// What there is of each kind. The tokens stand beside their sessions.
    pub(super) fn holdings(&self) -> Vec<Holding> {
        fn of<V: Keyed>(kind: &'static str, shelf: &Shelf<V>) -> Holding {
            Holding { kind, entries: shelf.len(), bytes: shelf.bytes() }
        }
        let (tokens, of_tokens) = self.sessions.tokens();
        let sessions = of("sessions", &self.sessions);
        vec![
            Holding { bytes: sessions.bytes.saturating_sub(of_tokens) + self.alike().bytes(), ..sessions },
            of("api_keys", &self.keys),
            of("organizations", &self.organizations),
            Holding { kind: "tokens", entries: tokens, bytes: of_tokens },
        ]
    }

    /// Applies what a look saw.
    pub(super) fn apply(&self, sight: &Sight) {
        let mut ledger = self.ledger();
        let names_all = |named: &crate::store::Named| named.id.is_empty() && named.subject != Subject::SigningKeys;
        if sight.everything || ledger.incarnation() != sight.incarnation || sight.named.iter().any(names_all) {
            self.forget_in(&mut ledger);
            ledger.begin(&sight.incarnation);
            return;
        }
        let ids = || sight.named.iter().map(|named| named.id.as_str());
        ledger.name(ids());
        for id in ids().map(str::as_bytes) {
            self.sessions.fall(id);
            self.keys.fall(id);
        }
    }

    /// Forgets everything, what is being read included.
    pub(super) fn forget(&self) {
        self.forget_in(&mut self.ledger());
    }

    /// The form in which a session is kept, and what it holds.
    pub(super) fn kept(&self, live: &LiveSession) -> (KeptSession, usize) {
        KeptSession::of(live, &mut self.alike())
    }

    /// Keeps what was read, if it may be kept.
    pub(super) fn keep<V: Keyed>(&self, shelf: &Shelf<V>, value: V, bytes: usize, reading: &Reading<'_>) {
        self.ledger().keep(shelf, Entry { value, rests_on: Vec::new(), bytes }, reading);
    }

    /// Puts what is made of a session in its place.
    pub(super) fn renew(&self, session: &str, made_of: impl FnOnce(&KeptSession) -> Option<KeptSession>) {
        let gone = self.sessions.renew(session.as_bytes(), made_of);
        if !gone.is_empty() {
            self.release(gone);
        }
    }

    /// What was told of a token when the same session was found for it, which only a [`View`](super::View) gives.
    #[cfg(feature = "http")]
    pub(super) fn told(&self, text: &str, live: &LiveSession) -> Option<::bytes::Bytes> {
        let digest = TextDigest::of(text);
        self.sessions.see(live.session.id.as_str().as_bytes(), |kept| kept.told(digest, live))?
    }

    /// Keeps what is told of a token that is known.
    #[cfg(feature = "http")]
    pub(super) fn keep_told(&self, text: &str, live: &LiveSession, body: &[u8]) {
        let digest = TextDigest::of(text);
        self.renew(live.session.id.as_str(), |kept| kept.telling(digest, live, body));
    }

    pub(super) fn ledger(&self) -> MutexGuard<'_, Ledger> {
        self.ledger.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn forget_in(&self, ledger: &mut Ledger) {
        ledger.name_all();
        self.sessions.clear();
        self.keys.clear();
        self.organizations.clear();
    }

    fn release(&self, gone: Vec<Arc<Footing>>) {
        self.ledger().release(gone);
    }

    fn alike(&self) -> MutexGuard<'_, Alike> {
        self.alike.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
