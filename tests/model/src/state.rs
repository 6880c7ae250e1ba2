//! A state of the model: the database, the writer, whoever repeats its request, and the observer.

/// Ticks for which the observer may answer from memory after a look began.
pub(crate) const FRESHNESS: u8 = 2;
/// The freshness that the writer's process is set to: shorter than the observer's.
pub(crate) const WRITERS_OWN: u8 = 1;

/// What the observer remembers, or read, of the fact.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Fact {
    Old,
    New,
}

/// How far a change has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Writing {
    NotBegun,
    /// The transaction is open, and has its number.
    Open,
    /// COMMIT made it visible; the writer does not know yet.
    Committed,
    /// COMMIT came back.
    Returned,
    /// The freshness was read; the writer sleeps.
    Waiting,
    Told,
    /// The process died before it told anybody.
    Dead,
}

/// Somebody who tells of the change without having made it: a repeated request, or a worker that sends its event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Teller {
    Idle,
    /// Found the change, and sleeps for so many ticks more.
    Waiting(u8),
    Done,
}

/// A look that was sent and has not come back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Look {
    /// Ticks since it began.
    pub(crate) age: u8,
    /// What the database answered, once it did.
    pub(crate) seen: Option<Seen>,
    /// Whether it began after the writer's COMMIT came back.
    pub(crate) after_commit: bool,
    /// Whether it began after the request arrived that waits now.
    pub(crate) after_request: bool,
    /// It began while the observer had the right to remember.
    pub(crate) by_right: bool,
}

/// What a look read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Seen {
    /// It names the change.
    pub(crate) change: bool,
    /// The change, or a higher number, lies behind the cursor from now on.
    pub(crate) passes: bool,
    /// The database is another one than at the last look.
    pub(crate) restarted: bool,
    /// The observer's freshness stands in the database.
    pub(crate) announced: bool,
}

/// The observer reads the fact to remember it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Fill {
    pub(crate) read: Option<Fact>,
    /// A look named it since the read began.
    pub(crate) named: bool,
}

/// A request that began after somebody was told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Request {
    /// A look that began after it arrived came back.
    pub(crate) has_own_look: bool,
}

/// The process that answers from memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Observer {
    /// Its freshness stands in the database.
    pub(crate) announced: bool,
    /// It may remember.
    pub(crate) remembers: bool,
    /// Ticks since the last look that came back began; `None` without one.
    pub(crate) last_look: Option<u8>,
    pub(crate) look: Option<Look>,
    pub(crate) entry: Option<Fact>,
    pub(crate) fill: Option<Fill>,
    pub(crate) request: Option<Request>,
    /// The change lies behind its cursor.
    pub(crate) passed: bool,
    /// Its cursor is of the database as it was before the restart.
    pub(crate) before_restart: bool,
    /// A look that began after the writer's COMMIT came back was applied.
    pub(crate) looked_after_commit: bool,
}

/// Everything.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct State {
    pub(crate) writing: Writing,
    /// What the writer has to wait for, counted down; set when the freshness is read.
    pub(crate) wait: u8,
    /// Ticks since the writer's transaction began or its COMMIT came back, as the rules count.
    pub(crate) waited: u8,
    /// The freshness as the writer read it inside its transaction.
    pub(crate) read_early: Option<u8>,
    pub(crate) visible: bool,
    /// An unrelated change with a higher number became visible first.
    pub(crate) overtaken: bool,
    pub(crate) restarted: bool,
    /// Ticks since the writer's process took the right to remember, which the observer believes to have.
    pub(crate) taken: Option<u8>,
    pub(crate) repeated: Teller,
    pub(crate) event: Teller,
    pub(crate) told: bool,
    pub(crate) observer: Observer,
}

impl State {
    /// The state without what can no longer matter, so that states which behave alike are one.
    pub(crate) fn canonical(mut self) -> Self {
        if self.told {
            (self.writing, self.repeated, self.event) = (Writing::Told, Teller::Done, Teller::Done);
        }
        if self.writing >= Writing::Told {
            (self.wait, self.waited) = (0, 0);
        }
        if self.writing >= Writing::Waiting {
            self.read_early = None;
            self.observer.looked_after_commit = false;
            self.observer.look = self.observer.look.map(|look| Look { after_commit: false, ..look });
        }
        self.overtaken &= !self.visible;
        self
    }
}
