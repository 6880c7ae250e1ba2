//! Request coalescing: questions that come while others are being asked go together as soon as one of the few turns is free. A crowd
//! then costs a fraction of a statement each, or of a commit, and a single question is asked at once. The database is asked after all
//! of a turn's questions were put, so that an answer is of no earlier moment than its question.
//!
//! A failure is told to all whose question it was. What writes is asked again alone then, so that nobody's failure is another's: its own
//! guard finds what the first try did where a COMMIT's outcome was unknown. A turn waits for no lock that others may hold.

use std::{
    collections::VecDeque,
    fmt,
    pin::pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use async_trait::async_trait;
use tokio::{runtime::Handle, sync::oneshot, task, time::timeout};
use tracing::{Instrument, Span};

use super::patience;
use crate::{
    deadline,
    error::{Cause, Error},
};

/// How many turns there are at once: one more than one, for those who come while the first is under way.
const TURNS: usize = 2;

/// How many turns there are at once with those that are slow.
const ALL_TURNS: usize = 8;

/// A turn that waits for so long, for a connection or for its answer, is slow and makes room for another: what hangs holds nobody else up.
const PATIENCE: Duration = Duration::from_millis(250);

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

    /// The same of what writes, for one that could not be answered in company, and beside the turns: nobody waits for it but who asked.
    ///
    /// # Errors
    /// As [`Question::ask`].
    async fn ask_alone(ready: Self::Ready, question: Self) -> Result<Option<Self::Answer>, Error> {
        let answers = Self::ask(ready, &[question]).await?;
        answers.into_iter().next().map(|(_, answer)| answer).transpose()
    }
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
    /// Turns that will take along all who wait.
    leaving: usize,
    /// Turns that are under way.
    under_way: usize,
    /// Turns that wait for longer than others are to.
    slow: usize,
}

type Told<Q> = Result<Option<<Q as Question>::Answer>, Unanswered>;

/// Why there is no answer.
struct Unanswered {
    error: Error,
    /// It may have one when it is asked alone: others' questions may be what failed, or the company could not wait for it.
    is_companys: bool,
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
    stage: Stage,
    /// How many had asked when it began.
    since: u64,
}

/// How far a turn is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    Leaving,
    UnderWay,
    /// Whether it has left or not.
    Slow,
    Over,
}

impl<Q: Question> Gathering<Q> {
    pub(super) fn new(desk: Q::Desk, runtime: Handle) -> Self {
        let crowd = Mutex::new(Crowd { waiting: VecDeque::new(), asked: 0, leaving: 0, under_way: 0, slow: 0 });
        Self { place: Arc::new(Place { desk, runtime, crowd }) }
    }

    /// The answer to a question, where there is one.
    ///
    /// # Errors
    /// [`Error::Unavailable`] when the database refused or did not answer in time.
    pub(super) async fn ask(&self, question: Q) -> Result<Option<Q::Answer>, Error> {
        let again = Q::WRITES.then(|| question.clone());
        match (self.ask_together(question).await, again) {
            (Err(Unanswered { is_companys: true, error }), Some(question)) => {
                let alone = async { Q::ask_alone(Q::ready(&self.place.desk).await?, question).await };
                alone.await.map_err(|again| match again {
                    Error::Unavailable(cause) if error.is_unsettled() => Error::unsettled(cause),
                    settled => settled,
                })
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
                return Err(Unanswered { error: Error::unavailable(late), is_companys: false });
            }
            Err(_) => hears.await,
        };
        heard.unwrap_or_else(|_| {
            Err(Unanswered { error: Error::internal("a statement ended without an answer"), is_companys: true })
        })
    }

    /// How many wait.
    #[cfg(test)]
    pub(super) fn waiting(&self) -> usize {
        self.place.crowd().waiting.len()
    }
}

impl<Q: Question> Crowd<Q> {
    /// Begins a turn where there is one for those who wait; how many had asked by then.
    fn begin(&mut self) -> Option<u64> {
        let begins =
            self.leaving == 0 && self.under_way < TURNS && self.under_way + self.slow < ALL_TURNS && !self.waiting.is_empty();
        self.leaving += usize::from(begins);
        begins.then_some(self.asked)
    }

    /// The number of turns at this stage.
    fn count(&mut self, stage: Stage) -> Option<&mut usize> {
        match stage {
            Stage::Leaving => Some(&mut self.leaving),
            Stage::UnderWay => Some(&mut self.under_way),
            Stage::Slow => Some(&mut self.slow),
            Stage::Over => None,
        }
    }

    /// Takes out who has no turn yet; `false` when there is nobody of this number.
    fn gives_up(&mut self, number: u64) -> bool {
        let place = self.waiting.iter().position(|waiting| waiting.number == number);
        place.and_then(|place| self.waiting.remove(place)).is_some()
    }

    /// Those who wait and asked no later than `until`, the first ones first, without those who have gone.
    fn leave(&mut self, until: u64, most: usize) -> Vec<Waiting<Q>> {
        self.waiting.retain(|waiting| !waiting.told.is_closed());
        let count = self.waiting.iter().take(most).take_while(|waiting| waiting.number <= until).count();
        self.waiting.drain(..count).collect()
    }
}

impl<Q: Question> Turn<Q> {
    /// Begins a turn, if there is one for those who wait. It is a task of its own: many wait for it, and none of those who may go at any
    /// time.
    fn begin(place: &Arc<Place<Q>>) {
        let began = place.crowd().begin();
        if let Some(since) = began {
            let turn = Self { place: Arc::clone(place), stage: Stage::Leaving, since };
            // As a request's own work: nothing is waited for for ever.
            place.runtime.spawn(deadline::of_request(turn.take()));
        }
    }

    async fn take(mut self) {
        // Requests that were received together ask together: they are all scheduled before this goes on.
        task::yield_now().await;
        let place = Arc::clone(&self.place);
        let span = place.crowd().waiting.front().map_or_else(Span::none, |waiting| waiting.span.clone());
        let ready = match self.counted(Q::ready(&place.desk).instrument(span)).await {
            Ok(ready) => ready,
            Err(error) => {
                // Nothing was asked. Who came while it was waited for may have more luck.
                let group = self.place.crowd().leave(self.since, usize::MAX);
                self.enter(Stage::Over);
                return tell_all(group.into_iter().map(|waiting| waiting.told), error, false);
            }
        };
        task::yield_now().await;
        let group = self.place.crowd().leave(u64::MAX, MOST);
        if self.stage == Stage::Leaving {
            self.enter(Stage::UnderWay);
        }
        let Some(span) = group.first().map(|waiting| waiting.span.clone()) else { return };
        let (questions, waiting): (Vec<_>, Vec<_>) = group.into_iter().map(|waiting| (waiting.question, waiting.told)).unzip();
        match self.counted(Q::ask(ready, &questions).instrument(span)).await {
            Ok(answers) => {
                let mut waiting: Vec<_> = waiting.into_iter().map(Some).collect();
                for (number, answer) in answers {
                    let told = usize::try_from(number).ok().and_then(|number| waiting.get_mut(number)?.take());
                    told.map(|told| told.send(answer.map(Some).map_err(|error| Unanswered { error, is_companys: true })));
                }
                for told in waiting.into_iter().flatten() {
                    let _ = told.send(Ok(None)); // who has gone needs no answer
                }
            }
            Err(error) => {
                let is_companys = waiting.len() > 1;
                tell_all(waiting.into_iter(), error, is_companys);
            }
        }
    }

    /// Does what the turn waits for; after [`PATIENCE`] it is slow, whatever becomes of it.
    async fn counted<T>(&mut self, work: impl Future<Output = T> + Send) -> T {
        let mut work = pin!(work);
        if let Ok(done) = timeout(PATIENCE, &mut work).await {
            return done;
        }
        self.enter(Stage::Slow);
        work.await
    }

    /// Counts the turn by where it is now, and begins another one if there is room for it.
    fn enter(&mut self, stage: Stage) {
        {
            let mut crowd = self.place.crowd();
            if let Some(count) = crowd.count(self.stage) {
                *count -= 1;
            }
            if let Some(count) = crowd.count(stage) {
                *count += 1;
            }
        }
        self.stage = stage;
        Self::begin(&self.place);
    }
}

impl<Q: Question> Drop for Turn<Q> {
    fn drop(&mut self) {
        if self.stage == Stage::Leaving {
            // It panicked, failed, or has no runtime any more, on which another turn could not begin either.
            let left = {
                let mut crowd = self.place.crowd();
                crowd.leaving -= 1;
                crowd.leave(u64::MAX, usize::MAX)
            };
            drop(left);
        } else {
            self.enter(Stage::Over);
        }
    }
}

impl<Q: Question> Place<Q> {
    fn crowd(&self) -> MutexGuard<'_, Crowd<Q>> {
        self.crowd.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Tells a failure to each of those who asked.
fn tell_all<T>(waiting: impl Iterator<Item = oneshot::Sender<Result<T, Unanswered>>>, error: Error, is_companys: bool) {
    let (is_unsettled, is_unavailable) = (error.is_unsettled(), matches!(error, Error::Unavailable(_)));
    let cause = match error {
        Error::Unavailable(cause) | Error::Internal(cause) => cause,
        other => Cause::from(other),
    };
    let cause: Arc<dyn std::error::Error + Send + Sync> = Arc::from(cause);
    for told in waiting {
        let cause = Arc::clone(&cause);
        // Shared, a cause is known by its own causes alone: what it said itself is said anew.
        let error = match is_unavailable {
            true if is_unsettled => Error::unsettled(cause),
            true => Error::unavailable(cause),
            false => Error::internal(cause),
        };
        let _ = told.send(Err(Unanswered { error, is_companys })); // who has gone needs no answer
    }
}

impl<Q: Question> Clone for Gathering<Q> {
    fn clone(&self) -> Self {
        Self { place: Arc::clone(&self.place) }
    }
}

impl<Q: Question> fmt::Debug for Gathering<Q> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let crowd = self.place.crowd();
        write!(f, "Gathering({} waiting, {} under way)", crowd.waiting.len(), crowd.under_way)
    }
}

#[cfg(all(test, feature = "sqlite"))]
mod tests;
