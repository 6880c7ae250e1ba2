//! Looks at the change log, one at a time, each shared by all who came before it began. A look counts from the moment at which it
//! began: how long it took, and how long whoever waited for it was stopped, makes nothing older than it is said to be.

use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError, atomic::Ordering},
    time::Duration,
};

use tokio::sync::oneshot;

use super::{
    Memory,
    last_look::{Last, LastLook},
    moment::Moment,
};
use crate::{
    deadline,
    store::{Looker, Sight, Subject},
};

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

impl Looks {
    /// The last look, if it counts.
    pub(super) fn last(&self) -> Option<Last> {
        self.last.read()
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
            looks.last.withdraw();
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
            self.looks.last.withdraw();
            if let Some(remembered) = &self.remembered {
                remembered.forget();
            }
        }
        outcome
    }

    async fn looked(&self, looker: &mut Looker, began: Moment) -> Outcome {
        let failed = |error: crate::error::Error| Arc::from(error.reason());
        // Taken before the look: what counts for whoever remembers must have begun with the right to.
        let claim = self.held_claim().map_err(failed)?;
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
                deadline::of_request(keyring.reload()).await.map_err(failed)?;
                self.has_old_keys.store(false, Ordering::Relaxed);
            }
            // Nobody may remember for longer than those who acknowledge changes believe.
            if claim.is_some() {
                self.looks.last.publish(began, self.freshness.min(Duration::from_millis(sight.usable)));
            }
        }
        Ok(Duration::from_millis(sight.freshness))
    }
}

fn names_keys(sight: &Sight) -> bool {
    sight.everything || sight.named.iter().any(|named| named.subject == Subject::SigningKeys)
}
