//! Request coalescing: questions that come while others are being asked go together as soon as one of the few turns is free. A crowd
//! then costs a fraction of a statement each, or of a commit, and a single question is asked at once. The database is asked after all
//! of a turn's questions were put, so that an answer is of no earlier moment than its question.
//!
//! A failure is told to all whose question it was. What writes is asked again alone then, so that nobody's failure is another's: its own
//! guard finds what the first try did where a COMMIT's outcome was unknown.

use std::{
    collections::VecDeque,
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use async_trait::async_trait;
use tokio::{runtime::Handle, sync::oneshot, task};
use tracing::{Instrument, Span};

use super::patience;
use crate::{
    deadline,
    error::{Cause, Error},
};

/// How many statements are under way at once: more than one, so that a connection that hangs does not hold everybody up.
const TURNS: usize = 2;

/// The most questions of one statement: those behind them need not wait for a long answer.
const MOST: usize = 64;

/// An answer with the number of its question.
pub(super) type Numbered<T> = (i64, Result<T, Error>);

/// What somebody asks of the database; many are asked at once.
#[async_trait]
pub(super) trait Question: Clone + Send + Sync + Sized + 'static {
    /// Who asks the database.
    type Desk: Send + Sync + 'static;
    type Ready: Send;
    type Answer: Send + 'static;

    /// Whether asking changes something. Then whoever asked hears what became of it, however long that takes.
    const WRITES: bool;

    /// Gets what it takes to ask, a connection or a transaction. Those who come meanwhile go along.
    ///
    /// # Errors
    /// [`Error::Unavailable`] when the database gives none in time.
    async fn ready(desk: &Self::Desk) -> Result<Self::Ready, Error>;

    /// Asks: the answers that there are, by the numbers of their questions.
    ///
    /// # Errors
    /// [`Error::Unavailable`] when the database refused or did not answer.
    async fn ask(ready: Self::Ready, questions: &[Self]) -> Result<Vec<Numbered<Self::Answer>>, Error>;
}

/// Those who ask one kind of question. Cheap to clone.
pub(super) struct Gathering<Q: Question> {
    place: Arc<Place<Q>>,
}

struct Place<Q: Question> {
    desk: Q::Desk,
    /// The service's own: whichever runtime asks, connections belong to this one.
    runtime: Handle,
    crowd: Mutex<Crowd<Q>>,
}

struct Crowd<Q: Question> {
    waiting: VecDeque<Waiting<Q>>,
    /// How many have ever asked.
    asked: u64,
    /// Whether a turn begins, which all who wait are taken along by.
    is_leaving: bool,
    turns: usize,
}

type Told<Q> = Result<Option<<Q as Question>::Answer>, Unanswered>;

/// Why there is no answer.
struct Unanswered {
    error: Error,
    /// Others had asked with it: the failure may be theirs.
    is_shared: bool,
}

struct Waiting<Q: Question> {
    number: u64,
    question: Q,
    told: oneshot::Sender<Told<Q>>,
    /// The request that asks, in whose trace a statement shows.
    span: Span,
}

/// A turn, which is over when this is dropped, also by a panic.
struct Turn<Q: Question> {
    place: Arc<Place<Q>>,
    has_left: bool,
}

impl<Q: Question> Gathering<Q> {
    pub(super) fn new(desk: Q::Desk, runtime: Handle) -> Self {
        let crowd = Mutex::new(Crowd { waiting: VecDeque::new(), asked: 0, is_leaving: false, turns: 0 });
        Self { place: Arc::new(Place { desk, runtime, crowd }) }
    }

    /// The answer to a question, where there is one.
    ///
    /// # Errors
    /// [`Error::Unavailable`] when the database refused or did not answer in time.
    pub(super) async fn ask(&self, question: Q) -> Result<Option<Q::Answer>, Error> {
        let again = Q::WRITES.then(|| question.clone());
        match (self.ask_together(question).await, again) {
            (Err(Unanswered { is_shared: true, .. }), Some(question)) => {
                let answers = Q::ask(Q::ready(&self.place.desk).await?, &[question]).await?;
                answers.into_iter().next().map(|(_, answer)| answer).transpose()
            }
            (told, _) => told.map_err(|unanswered| unanswered.error),
        }
    }

    async fn ask_together(&self, question: Q) -> Told<Q> {
        let (told, mut hears) = oneshot::channel();
        let number = {
            let mut crowd = self.place.crowd();
            crowd.asked += 1;
            let number = crowd.asked;
            crowd.waiting.push_back(Waiting { number, question, told, span: Span::current() });
            number
        };
        Turn::begin(&self.place);
        let heard = match deadline::wait_in_request(patience::TURN, &mut hears).await {
            Ok(heard) => heard,
            Err(late) if self.place.crowd().gives_up(number) || !Q::WRITES => {
                return Err(Unanswered { error: Error::unavailable(late), is_shared: false });
            }
            Err(_) => hears.await,
        };
        heard.unwrap_or_else(|_| Err(Unanswered { error: Error::internal("a statement ended without an answer"), is_shared: true }))
    }

    /// How many wait.
    #[cfg(test)]
    pub(super) fn waiting(&self) -> usize {
        self.place.crowd().waiting.len()
    }
}

impl<Q: Question> Crowd<Q> {
    /// Whether a turn is to begin now.
    fn begins_turn(&mut self) -> bool {
        let begins = !self.is_leaving && self.turns < TURNS && !self.waiting.is_empty();
        self.is_leaving |= begins;
        begins
    }

    /// Takes out who has no turn yet; `false` when there is nobody of this number.
    fn gives_up(&mut self, number: u64) -> bool {
        let place = self.waiting.iter().position(|waiting| waiting.number == number);
        place.and_then(|place| self.waiting.remove(place)).is_some()
    }

    /// Those who wait, the first ones first, without those who have gone.
    fn leave(&mut self) -> Vec<Waiting<Q>> {
        self.waiting.retain(|waiting| !waiting.told.is_closed());
        let most = self.waiting.len().min(MOST);
        (self.is_leaving, self.turns) = (false, self.turns + 1);
        self.waiting.drain(..most).collect()
    }
}

impl<Q: Question> Turn<Q> {
    /// Begins a turn, if there is one for those who wait. It is a task of its own: many wait for it, and none of those who may go at any
    /// time.
    fn begin(place: &Arc<Place<Q>>) {
        if place.crowd().begins_turn() {
            let turn = Self { place: Arc::clone(place), has_left: false };
            // As a request's own work: nothing is waited for for ever.
            place.runtime.spawn(deadline::of_request(turn.take()));
        }
    }

    async fn take(mut self) {
        // Requests that were received together ask together: they are all scheduled before this goes on.
        task::yield_now().await;
        let ready = Q::ready(&self.place.desk).await;
        task::yield_now().await;
        let group = self.place.crowd().leave();
        self.has_left = true;
        let Some(span) = group.first().map(|waiting| waiting.span.clone()) else { return };
        let (questions, waiting): (Vec<_>, Vec<_>) = group.into_iter().map(|waiting| (waiting.question, waiting.told)).unzip();
        let is_shared = waiting.len() > 1;
        match async { Q::ask(ready?, &questions).await }.instrument(span).await {
            Ok(answers) => {
                let mut waiting: Vec<_> = waiting.into_iter().map(Some).collect();
                for (number, answer) in answers {
                    let told = usize::try_from(number).ok().and_then(|number| waiting.get_mut(number)?.take());
                    told.map(|told| told.send(answer.map(Some).map_err(|error| Unanswered { error, is_shared })));
                }
                for told in waiting.into_iter().flatten() {
                    let _ = told.send(Ok(None)); // who has gone needs no answer
                }
            }
            Err(error) => {
                let failure = failures(error);
                for told in waiting {
                    let _ = told.send(Err(Unanswered { error: failure(), is_shared }));
                }
            }
        }
    }
}

impl<Q: Question> Drop for Turn<Q> {
    fn drop(&mut self) {
        if self.has_left {
            self.place.crowd().turns -= 1;
            Self::begin(&self.place);
        } else {
            self.place.crowd().is_leaving = false;
        }
    }
}

impl<Q: Question> Place<Q> {
    fn crowd(&self) -> MutexGuard<'_, Crowd<Q>> {
        self.crowd.lock().unwrap_or_else(PoisonError::into_inner)
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

impl<Q: Question> Clone for Gathering<Q> {
    fn clone(&self) -> Self {
        Self { place: Arc::clone(&self.place) }
    }
}

impl<Q: Question> fmt::Debug for Gathering<Q> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let crowd = self.place.crowd();
        write!(f, "Gathering({} waiting, {} under way)", crowd.waiting.len(), crowd.turns)
    }
}

#[cfg(all(test, feature = "sqlite"))]
mod tests;
