//! One process: the core's own parts. What is written here by hand is what `Remembered::apply` and `Memory::looked` do with them; a
//! request without a look that counts waits in the core for the next one, and reads the database here.

use std::time::Duration;

use loom::sync::{
    Mutex,
    atomic::{AtomicBool, AtomicU64, Ordering},
};

use super::{
    Order,
    last_look::LastLook,
    ledger::{Ledger, Reading},
    moment::Moment,
    part::Keyed,
    shelf::{Entry, Shelf},
};

/// What the search looks for.
pub(super) const STALE: &str = "a stale answer";

const ROW: &str = "row";
/// Another key than the row's id: then what is remembered rests on the row's footing.
const SLUG: &str = "slug";
/// The look that sees the change.
const LOOK_AFTER: u64 = 2;
const INCARNATION: &str = "one";

/// What the row said, as it is remembered.
#[derive(Debug, Clone, Copy)]
struct Kept {
    key: &'static str,
    row: u64,
}

impl Keyed for Kept {
    fn key(&self) -> &[u8] {
        self.key.as_bytes()
    }
}

/// A database with one row, and what is remembered of it.
pub(super) struct Process {
    order: Order,
    /// 0 before the change, 1 after it.
    row: AtomicU64,
    ledger: Mutex<Ledger>,
    last: LastLook,
    shelf: Shelf<Kept>,
    /// By what the row is found in the shelf.
    key: &'static str,
    /// Whether the change was acknowledged.
    is_told: AtomicBool,
}

impl Process {
    /// After a first look.
    pub(super) fn new(order: Order, is_found_by_id: bool) -> Self {
        let process = Self {
            order,
            row: AtomicU64::new(0),
            ledger: Mutex::new(Ledger::default()),
            last: LastLook::default(),
            shelf: Shelf::new(1 << 20),
            key: if is_found_by_id { ROW } else { SLUG },
            is_told: AtomicBool::new(false),
        };
        let mut ledger = process.ledger.lock().expect("nobody panicked");
        if ledger.incarnation() != INCARNATION {
            ledger.begin(INCARNATION);
        }
        drop(ledger);
        process.count(1);
        process
    }

    /// Changes the row, looks, and tells of it.
    pub(super) fn change(&self, forgets: bool) {
        // A database orders what it commits before what it answers afterwards.
        self.row.store(1, Ordering::SeqCst);
        if !self.order.tells_after_the_look {
            self.is_told.store(true, Ordering::Release);
        }
        // The former look has become too old: from here on none counts until the next one does.
        self.last.withdraw();
        if !self.order.applies_before_it_counts {
            self.count(LOOK_AFTER);
        }
        let mut ledger = self.ledger.lock().expect("nobody panicked");
        if forgets {
            ledger.name_all();
            self.shelf.clear();
        } else {
            ledger.name([ROW]);
            self.shelf.fall(ROW.as_bytes());
        }
        drop(ledger);
        if self.order.applies_before_it_counts {
            self.count(LOOK_AFTER);
        }
        self.is_told.store(true, Ordering::Release);
    }

    /// A request from its beginning to its answer.
    ///
    /// # Panics
    /// When the answer is stale.
    pub(super) fn request(&self) {
        // Where another process made the change, it tells of it once a look that saw it counts here.
        let last = self.last.read().filter(|last| last.began.steady == LOOK_AFTER);
        assert!(last.is_none_or(|last| last.freshness == freshness(LOOK_AFTER)), "a look with what was said of the one before it");
        let counts = last.is_some();
        let is_told = self.is_told.load(Ordering::Acquire) || counts;
        let answer = self.answer();
        assert!(!is_told || answer == 1, "{STALE}");
    }

    fn answer(&self) -> u64 {
        if self.last.read().is_none() {
            return self.row.load(Ordering::SeqCst);
        }
        if let Some(remembered) = self.shelf.get(self.key.as_bytes()) {
            // Something is learned of it, which does not make it last longer.
            let gone = self.shelf.renew(self.key.as_bytes(), |kept| Some(*kept));
            self.ledger.lock().expect("nobody panicked").release(gone);
            return remembered.row;
        }
        let early = self.order.begins_before_it_reads.then(|| self.fill());
        let read = self.row.load(Ordering::SeqCst);
        let fill = early.unwrap_or_else(|| self.fill());
        let reading = Reading { fill, incarnation: Some(INCARNATION), rests_on: vec![ROW] };
        let entry = Entry { value: Kept { key: self.key, row: read }, rests_on: Vec::new(), bytes: 1 };
        if self.order.keeps_what_is_admitted {
            self.ledger.lock().expect("nobody panicked").keep(&self.shelf, entry, &reading);
        } else {
            self.shelf.put(entry);
        }
        read
    }

    /// Whether no more is remembered than there is.
    pub(super) fn is_bounded(&self) -> bool {
        self.shelf.len() <= 1 && self.shelf.bytes() < 1_000 && self.shelf.tokens() == (0, 0)
    }

    fn fill(&self) -> super::ledger::Fill {
        self.ledger.lock().expect("nobody panicked").fill()
    }

    fn count(&self, look: u64) {
        self.last.publish(Moment { steady: look, wall: look }, freshness(look));
    }
}

/// Each look has its own, so that parts of two are told apart.
fn freshness(look: u64) -> Duration {
    Duration::from_secs(look)
}
