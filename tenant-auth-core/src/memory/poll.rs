//! A question what changed, which may wait for an answer (long polling). It holds a place of its own kind and nothing else: no
//! connection, no transaction, no place of a request in flight. The looks that it waits for are those of the process, whatever the
//! number of those who wait.

use std::{fmt, pin::pin, sync::Arc, time::Duration};

use tokio::{
    sync::{MutexGuard, SemaphorePermit},
    time::{Instant, timeout_at},
};

use super::{
    Memory,
    journal::{Full, Known, Notices},
    news::{Asker, Bookmark},
};
use crate::{
    error::{Error, Overload},
    one_task::Running,
};

/// How often a process looks while somebody waits.
const LOOK_EVERY: Duration = Duration::from_millis(50);
/// When a question that found its key's places taken should come again.
const COME_AGAIN: Duration = Duration::from_secs(1);

/// The place of a question.
pub(crate) struct Poll {
    memory: Arc<Memory>,
    asker: Asker,
    notices: Notices,
}

/// A question's turn at the database, until it is dropped.
pub(crate) struct Turn<'a> {
    _of_all: SemaphorePermit<'a>,
    _among_those_who_ask_alike: MutexGuard<'a, ()>,
}

impl Memory {
    /// Takes a place for a question.
    ///
    /// # Errors
    /// [`Error::RateLimited`] when as many questions of this key wait as may; [`Error::Unavailable`] when as many of all keys do.
    pub(crate) fn poll(self: &Arc<Self>, asker: Asker) -> Result<Poll, Error> {
        match self.journal.enter(&asker) {
            Ok(notices) => {
                self.meter.poll_began();
                Ok(Poll { memory: Arc::clone(self), asker, notices })
            }
            Err(Full::OfThisKey) => Err(Error::rate_limited(COME_AGAIN)),
            Err(Full::OfAll) => Err(Overload::ChangePolls.into()),
        }
    }

    /// Looks while somebody waits.
    async fn look_while_waited_for(self: Arc<Self>, mut looking: Running) {
        loop {
            tokio::time::sleep(LOOK_EVERY).await;
            let Some(still) = self.journal.goes_on(looking) else { return };
            looking = still;
            // One that fails is followed by one that says that anything may have changed.
            let _ = self.next_look().await;
        }
    }
}

impl Poll {
    /// Waits for a look that begins now, and returns how far it saw.
    ///
    /// # Errors
    /// [`Error::Unavailable`] when the look fails.
    pub(crate) async fn look(&self) -> Result<Bookmark, Error> {
        // Before this process gives out its first place.
        self.memory.incarnation.get_or_try_init(|| self.memory.store.begin_incarnation()).await?;
        self.memory.next_look().await.map_err(|error| Error::unavailable(error.to_string()))?;
        self.memory.journal.newest().ok_or_else(|| Error::internal("a look was not kept"))
    }

    /// What is known here of the changes since a bookmark.
    pub(crate) fn since(&self, seen: &Bookmark) -> Known {
        self.memory.journal.since(seen, &self.asker)
    }

    /// Waits until something may have changed since `is_news` was asked first, but not beyond the deadline.
    pub(crate) async fn wait(&self, deadline: Instant, is_news: impl Fn() -> bool) {
        let mut changed = pin!(self.notices.changed.notified());
        changed.as_mut().enable();
        // Asked once more: a look may have come between the answer and here.
        if is_news() {
            return;
        }
        if let Some(looking) = self.memory.journal.begin_looks() {
            self.memory.runtime.spawn(Arc::clone(&self.memory).look_while_waited_for(looking));
        }
        let _ = timeout_at(deadline, changed).await; // over as well once it is too late
    }

    /// A turn at the database, for what is not known here: one of those who ask for the same and few of all at a time, so that a start
    /// with many backends leaves it to others.
    pub(crate) async fn turn(&self) -> Result<Turn<'_>, Error> {
        let among_those_who_ask_alike = self.notices.turn.lock().await;
        let of_all = self.memory.turns.acquire().await.map_err(Error::internal)?;
        Ok(Turn { _of_all: of_all, _among_those_who_ask_alike: among_those_who_ask_alike })
    }

    /// Who asks.
    pub(crate) fn asker(&self) -> &Asker {
        &self.asker
    }
}

impl Drop for Poll {
    fn drop(&mut self) {
        self.memory.journal.leave(&self.asker);
        self.memory.meter.poll_ended();
    }
}

impl fmt::Debug for Poll {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Poll").field("asker", &self.asker).finish_non_exhaustive()
    }
}
