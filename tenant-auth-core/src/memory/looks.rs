//! Looks at the change log, one at a time, each shared by all who came before it began. A look counts from the moment at which it
//! began: how long it took, and how long whoever waited for it was stopped, makes nothing older than it is said to be.

use std::{
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use tokio::sync::oneshot;

use super::{Memory, moment::Moment};
use crate::store::{Looker, Sight, Subject};

/// What a look tells those who waited for it: the deployment's freshness, or why it failed.
pub(super) type Outcome = Result<Duration, Arc<str>>;

/// How long a request waits for a look: longer than the look before it and its own may take.
const PATIENCE: Duration = Duration::from_secs(8);

/// The looks of this process.
#[derive(Debug, Default)]
pub(super) struct Looks {
    turn: Mutex<Turn>,
    last: LastLook,
}

#[derive(Debug, Default)]
struct Turn {
    is_looking: bool,
    is_wanted: bool,
    waiting: Vec<oneshot::Sender<Outcome>>,
}

/// The last look, as those read it who judge whether it is fresh. A reader that meets a writer may see parts of two looks, and then
/// takes the age of the older one: both clocks only grow, and when the wall clock is set back, nothing is fresh.
#[derive(Debug, Default)]
struct LastLook {
    /// 0: there is none that counts.
    steady: AtomicU64,
    wall: AtomicU64,
    freshness: AtomicU64,
}

/// When the last look began, and how long it may be used.
#[derive(Debug, Clone, Copy)]
pub(super) struct Last {
    pub(super) began: Moment,
    pub(super) freshness: Duration,
}

impl Looks {
    /// The last look, if it counts.
    pub(super) fn last(&self) -> Option<Last> {
        let last = &self.last;
        let steady = last.steady.load(Ordering::Acquire);
        let began = Moment { steady, wall: last.wall.load(Ordering::Acquire) };
        (steady != 0).then(|| Last { began, freshness: Duration::from_nanos(last.freshness.load(Ordering::Acquire)) })
    }

    /// A look counts from now on. Called after it was applied.
    fn publish(&self, began: Moment, freshness: Duration) {
        let nanos = u64::try_from(freshness.as_nanos()).unwrap_or(u64::MAX);
        self.last.freshness.store(nanos, Ordering::Release);
        self.last.wall.store(began.wall, Ordering::Release);
        self.last.steady.store(began.steady, Ordering::Release);
    }

    /// None counts any more.
    fn withdraw(&self) {
        self.last.steady.store(0, Ordering::Release);
    }

    fn turn(&self) -> MutexGuard<'_, Turn> {
        self.turn.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whoever looks; gives its turn back also when it is interrupted.
struct Looking<'a>(Option<&'a Looks>);

impl Drop for Looking<'_> {
    fn drop(&mut self) {
        if let Some(looks) = self.0 {
            looks.withdraw();
            *looks.turn() = Turn::default(); // whoever waits learns that nobody will answer
        }
    }
}

impl Memory {
    /// Waits for a look that begins after this is called.
    pub(super) async fn next_look(self: &Arc<Self>) -> Outcome {
        let (told, outcome) = oneshot::channel();
        self.look_again(|turn| turn.waiting.push(told));
        match tokio::time::timeout(PATIENCE, outcome).await {
            Ok(Ok(outcome)) => outcome,
            Ok(Err(_)) => Err("the look was interrupted".into()),
            Err(late) => Err(late.to_string().into()),
        }
    }

    /// Has a look begin soon, unless one is under way.
    pub(crate) fn nudge(self: &Arc<Self>) {
        if !self.looks.turn().is_looking {
            self.look_again(|turn| turn.is_wanted = true);
        }
    }

    fn look_again(self: &Arc<Self>, want: impl FnOnce(&mut Turn)) {
        let mut turn = self.looks.turn();
        want(&mut turn);
        if !turn.is_looking {
            turn.is_looking = true;
            self.runtime.spawn(Arc::clone(self).look_on());
        }
    }

    /// Looks as long as somebody waits for a look that has not begun.
    async fn look_on(self: Arc<Self>) {
        let mut looking = Looking(Some(&self.looks));
        let mut looker = self.looker.lock().await;
        loop {
            let waiting = {
                let mut turn = self.looks.turn();
                if turn.waiting.is_empty() && !turn.is_wanted {
                    turn.is_looking = false;
                    looking.0 = None;
                    return;
                }
                turn.is_wanted = false;
                std::mem::take(&mut turn.waiting)
            };
            let outcome = self.look(&mut looker).await;
            for waiting in waiting {
                let _ = waiting.send(outcome.clone()); // whoever does not wait any more needs no answer
            }
        }
    }

    async fn look(&self, looker: &mut Looker) -> Outcome {
        let began = Moment::now();
        let outcome = self.looked(looker, began).await;
        if let Err(error) = &outcome {
            tracing::debug!(%error, "a look at the changes failed; what was remembered is forgotten");
            self.looks.withdraw();
            if let Some(remembered) = &self.remembered {
                remembered.forget();
            }
        }
        outcome
    }

    async fn looked(&self, looker: &mut Looker, began: Moment) -> Outcome {
        let failed = |error: crate::error::Error| Arc::from(error.causes().to_string());
        // Taken before the look: what counts for whoever remembers must have begun with the right to.
        let claim = self.claim.get();
        if let Some(claim) = claim {
            claim.is_held().map_err(failed)?;
        }
        self.meter.looked();
        let sight = looker.look().await.map_err(failed)?;
        self.journal.apply(&sight);
        if let Some(remembered) = &self.remembered {
            remembered.apply(&sight);
            self.has_old_keys.fetch_or(names_keys(&sight), Ordering::Relaxed);
            if self.has_old_keys.load(Ordering::Relaxed)
                && let Some(keyring) = self.keyring.get().and_then(std::sync::Weak::upgrade)
            {
                // When this fails, this look does, and the next one reads them.
                keyring.reload().await.map_err(failed)?;
                self.has_old_keys.store(false, Ordering::Relaxed);
            }
            // Nobody may remember for longer than those who acknowledge changes believe.
            if claim.is_some() {
                self.looks.publish(began, self.freshness.min(Duration::from_millis(sight.usable)));
            }
        }
        Ok(Duration::from_millis(sight.freshness))
    }
}

fn names_keys(sight: &Sight) -> bool {
    sight.everything || sight.named.iter().any(|named| named.subject == Subject::SigningKeys)
}
