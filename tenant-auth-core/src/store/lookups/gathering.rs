//! Questions that wait for a turn together, and the turns.

use std::{
    collections::VecDeque,
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use tokio::{runtime::Handle, sync::oneshot, task};
use tracing::{Instrument, Span};

use crate::{
    deadline,
    error::{Cause, Error},
    store::{
        Store, Witnessed, patience,
        sql::lookups::{Question, Use},
    },
};

/// How many statements are under way at once: more than one, so that a connection that hangs does not hold everybody up.
const TURNS: usize = 2;

/// The most questions of one statement: those behind them need not wait for a long answer.
const MOST: usize = 64;

/// Those who ask one kind of question.
#[derive(Clone)]
pub(super) struct Gathering<Q: Question> {
    place: Arc<Place<Q>>,
}

struct Place<Q: Question> {
    store: Store,
    used: Use,
    /// The service's own: whichever runtime asks, connections belong to this one.
    runtime: Handle,
    crowd: Mutex<Crowd<Q>>,
}

struct Crowd<Q: Question> {
    waiting: VecDeque<Waiting<Q>>,
    /// Whether a turn begins, which all who wait are taken along by.
    is_leaving: bool,
    turns: usize,
}

type Answer<Q> = Result<Option<Witnessed<<Q as Question>::Found>>, Error>;

struct Waiting<Q: Question> {
    question: Q,
    told: oneshot::Sender<Answer<Q>>,
    /// The request that asks, in whose trace a statement shows.
    span: Span,
}

/// A turn that is over when this is dropped, also by a panic.
struct Turn<'a, Q: Question>(&'a Place<Q>);

impl<Q: Question> Gathering<Q> {
    pub(super) fn new(store: Store, used: Use, runtime: Handle) -> Self {
        let crowd = Mutex::new(Crowd { waiting: VecDeque::new(), is_leaving: false, turns: 0 });
        Self { place: Arc::new(Place { store, used, runtime, crowd }) }
    }

    /// The answer to a question.
    ///
    /// # Errors
    /// [`Error::Unavailable`] when the database refused or did not answer in time.
    pub(super) async fn ask(&self, question: Q) -> Answer<Q> {
        let (told, hears) = oneshot::channel();
        let begins = {
            let mut crowd = self.place.crowd();
            crowd.waiting.push_back(Waiting { question, told, span: Span::current() });
            crowd.begins_turn()
        };
        if begins {
            let place = Arc::clone(&self.place);
            // A task of its own: many wait for it, and none of those who may go at any time.
            self.place.runtime.spawn(async move { place.take_turns().await });
        }
        let heard = deadline::wait_in_request(patience::LOOKUP, hears).await.map_err(Error::unavailable)?;
        heard.unwrap_or_else(|_| Err(Error::internal("a lookup ended without an answer")))
    }
}

impl<Q: Question> Crowd<Q> {
    /// Whether a turn is to begin now.
    fn begins_turn(&mut self) -> bool {
        let begins = !self.is_leaving && self.turns < TURNS && !self.waiting.is_empty();
        self.is_leaving |= begins;
        begins
    }

    /// Those who wait, the first ones first, without those who have gone.
    fn leave(&mut self) -> Vec<Waiting<Q>> {
        self.waiting.retain(|waiting| !waiting.told.is_closed());
        let most = self.waiting.len().min(MOST);
        (self.is_leaving, self.turns) = (false, self.turns + 1);
        self.waiting.drain(..most).collect()
    }
}

impl<Q: Question> Place<Q> {
    /// Takes the turn that begins, and another one for those who came meanwhile.
    async fn take_turns(&self) {
        loop {
            // Requests that were received together ask together: they are all scheduled before this goes on.
            task::yield_now().await;
            let (group, turn) = (self.crowd().leave(), Turn(self));
            // As a request's own work: no answer is waited for for ever.
            deadline::of_request(self.ask_for(group)).await;
            drop(turn);
            if !self.crowd().begins_turn() {
                return;
            }
        }
    }

    async fn ask_for(&self, group: Vec<Waiting<Q>>) {
        let Some(span) = group.first().map(|waiting| waiting.span.clone()) else { return };
        let (questions, waiting): (Vec<_>, Vec<_>) = group.into_iter().map(|waiting| (waiting.question, waiting.told)).unzip();
        let asking = async { Q::ask(&mut self.store.read().await?, &questions, self.used).await };
        match asking.instrument(span).await {
            Ok(answers) => {
                let mut waiting: Vec<_> = waiting.into_iter().map(Some).collect();
                for (number, answer) in answers {
                    let told = usize::try_from(number).ok().and_then(|number| waiting.get_mut(number)?.take());
                    told.map(|told| told.send(answer.map(Some)));
                }
                for told in waiting.into_iter().flatten() {
                    let _ = told.send(Ok(None)); // who has gone needs no answer
                }
            }
            Err(error) => {
                let failure = failures(error);
                for told in waiting {
                    let _ = told.send(Err(failure()));
                }
            }
        }
    }

    fn crowd(&self) -> MutexGuard<'_, Crowd<Q>> {
        self.crowd.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<Q: Question> Drop for Turn<'_, Q> {
    fn drop(&mut self) {
        self.0.crowd().turns -= 1;
    }
}

/// The failure of a statement, to be told to each who asked by it.
fn failures(error: Error) -> impl Fn() -> Error {
    let is_unavailable = matches!(error, Error::Unavailable(_));
    let cause = match error {
        Error::Unavailable(cause) | Error::Internal(cause) => cause,
        other => Cause::from(other),
    };
    let cause: Arc<dyn std::error::Error + Send + Sync> = Arc::from(cause);
    move || if is_unavailable { Error::unavailable(Arc::clone(&cause)) } else { Error::internal(Arc::clone(&cause)) }
}

impl<Q: Question> fmt::Debug for Gathering<Q> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let crowd = self.place.crowd();
        write!(f, "Gathering({:?}, {} waiting, {} under way)", self.place.used, crowd.waiting.len(), crowd.turns)
    }
}
