//! Tests of what is asked together, with questions that count themselves and wait as long as they are told to.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex},
    time::Duration,
};

use async_trait::async_trait;
use tokio::{
    runtime::Handle,
    sync::Semaphore,
    task::{JoinHandle, JoinSet},
};

use super::{ALL_TURNS, Gathering, Numbered, Question};
use crate::{deadline, error::Error};

/// What the database of a test is asked, and when it answers.
#[derive(Debug)]
struct Desk {
    /// The questions of each statement.
    statements: Mutex<Vec<Vec<String>>>,
    /// One for each statement that may be answered.
    answers: Semaphore,
    /// What happens to those who come next; all others are let in.
    doors: Mutex<VecDeque<Door>>,
}

/// What happens to a turn that wants a connection.
#[derive(Debug, Clone, Copy)]
enum Door {
    Hangs,
    IsShut,
    Panics,
}

/// A question whose answer is its own text, but for `nothing` (there is none), `corrupt` (its row cannot be read), `failure` (the
/// statement fails), `unanswered` (its COMMIT is not answered) and `panic`.
#[derive(Debug, Clone)]
struct Echo<const WRITES: bool>(String);

#[async_trait]
impl<const WRITES: bool> Question for Echo<WRITES> {
    type Desk = Arc<Desk>;
    type Ready = Arc<Desk>;
    type Answer = String;

    const WRITES: bool = WRITES;

    async fn ready(desk: &Arc<Desk>) -> Result<Arc<Desk>, Error> {
        let door = desk.doors.lock().expect("no panic").pop_front();
        match door {
            Some(Door::Hangs) => std::future::pending().await,
            Some(Door::IsShut) => Err(Error::unavailable("no connection")),
            Some(Door::Panics) => panic!("as it was asked to"),
            None => Ok(Arc::clone(desk)),
        }
    }

    async fn ask(desk: Arc<Desk>, questions: &[Self]) -> Result<Vec<Numbered<String>>, Error> {
        let texts: Vec<String> = questions.iter().map(|Self(text)| text.clone()).collect();
        desk.statements.lock().expect("no panic").push(texts.clone());
        desk.answers.acquire().await.map_err(Error::internal)?.forget();
        assert!(!texts.contains(&"panic".to_owned()), "as it was asked to");
        if texts.contains(&"failure".to_owned()) {
            return Err(Error::unavailable("the disk is full"));
        }
        if texts.contains(&"unanswered".to_owned()) {
            return Err(Error::unsettled("the connection was lost"));
        }
        let told = |(number, text): (i64, String)| match text.as_str() {
            "nothing" => None,
            "corrupt" => Some((number, Err(Error::internal("a row")))),
            _ => Some((number, Ok(text))),
        };
        let mut answers: Vec<_> = (0..).zip(texts).filter_map(told).collect();
        answers.reverse(); // no order is promised
        Ok(answers)
    }
}

struct Asking<const WRITES: bool = false> {
    gathering: Gathering<Echo<WRITES>>,
    desk: Arc<Desk>,
}

type Answer = Result<Option<String>, Error>;

impl<const WRITES: bool> Asking<WRITES> {
    fn new() -> Self {
        let desk = Arc::new(Desk { statements: Mutex::default(), answers: Semaphore::new(0), doors: Mutex::default() });
        Self { gathering: Gathering::new(Arc::clone(&desk), Handle::current()), desk }
    }

    fn ask(&self, text: &str) -> JoinHandle<Answer> {
        let (gathering, question) = (self.gathering.clone(), Echo(text.to_owned()));
        tokio::spawn(async move { gathering.ask(question).await })
    }

    /// The next turns meet these doors.
    fn doors(&self, doors: &[Door]) {
        self.desk.doors.lock().expect("no panic").extend(doors);
    }

    /// Until so many statements are under way or were answered.
    async fn until(&self, statements: usize) {
        while self.desk.statements.lock().expect("no panic").len() < statements {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    }

    fn statements(&self) -> Vec<usize> {
        self.desk.statements.lock().expect("no panic").iter().map(Vec::len).collect()
    }
}

fn text(answer: Result<Answer, tokio::task::JoinError>) -> Option<String> {
    answer.expect("no panic").expect("an answer")
}

#[tokio::test(start_paused = true)]
async fn questions_that_come_together_are_one_statement() {
    let asking = <Asking>::new();
    asking.desk.answers.add_permits(1);
    let (found, nothing, last) = (asking.ask("a"), asking.ask("nothing"), asking.ask("b"));
    assert_eq!([text(found.await), text(nothing.await), text(last.await)], [Some("a".to_owned()), None, Some("b".to_owned())]);
    assert_eq!(asking.statements(), [3]);
}

#[tokio::test(start_paused = true)]
async fn two_statements_are_under_way_and_the_rest_goes_together() {
    let asking = <Asking>::new();
    let mut first = JoinSet::new();
    for number in 1..=2 {
        first.spawn(asking.ask("first"));
        asking.until(number).await;
    }
    let rest: Vec<_> = (0..100).map(|number| (number.to_string(), asking.ask(&number.to_string()))).collect();
    tokio::time::sleep(Duration::from_millis(20)).await;
    assert_eq!(asking.statements(), [1, 1], "the others wait");
    asking.desk.answers.add_permits(1);
    asking.until(3).await;
    asking.desk.answers.add_permits(3);
    for (asked, answer) in rest {
        assert_eq!(text(answer.await), Some(asked));
    }
    assert!(first.join_all().await.into_iter().all(|answer| text(answer).is_some()));
    assert_eq!(asking.statements(), [1, 1, 64, 36]);
}

#[tokio::test(start_paused = true)]
async fn who_goes_is_not_asked_for() {
    let asking = <Asking>::new();
    let first = [asking.ask("first")];
    asking.until(1).await;
    let second = asking.ask("second");
    asking.until(2).await;
    let (gone, stays) = (asking.ask("gone"), asking.ask("stays"));
    tokio::task::yield_now().await;
    gone.abort();
    assert!(gone.await.is_err());
    // One who goes while his statement is under way takes nobody's answer along.
    second.abort();
    assert!(second.await.is_err());
    asking.desk.answers.add_permits(3);
    assert_eq!(text(stays.await), Some("stays".to_owned()));
    for first in first {
        assert_eq!(text(first.await), Some("first".to_owned()));
    }
    assert!(!asking.desk.statements.lock().expect("no panic").concat().contains(&"gone".to_owned()));
}

#[tokio::test(start_paused = true)]
async fn a_row_that_cannot_be_read_concerns_its_question_alone() {
    let asking = <Asking>::new();
    asking.desk.answers.add_permits(1);
    let (good, corrupt) = (asking.ask("good"), asking.ask("corrupt"));
    assert_eq!(text(good.await), Some("good".to_owned()));
    assert!(matches!(corrupt.await, Ok(Err(Error::Internal(_)))));
}

#[tokio::test(start_paused = true)]
async fn a_failure_is_told_to_all_with_its_cause_and_a_panic_holds_nobody_up() {
    let asking = <Asking>::new();
    for told in ["failure", "panic", "panic", "panic"] {
        asking.desk.answers.add_permits(1);
        for answer in [asking.ask("beside"), asking.ask(told)] {
            let error = answer.await.expect("no panic of who asks").expect_err("no answer");
            let (is_failure, causes) = (told == "failure", error.causes().to_string());
            assert_eq!(causes == "unavailable: the disk is full", is_failure, "{causes}");
            assert_eq!(matches!(error, Error::Internal(_)), !is_failure, "{causes}");
        }
    }
    asking.desk.answers.add_permits(1);
    assert_eq!(text(asking.ask("after").await), Some("after".to_owned()));
}

#[tokio::test(start_paused = true)]
async fn what_writes_is_tried_again_alone_where_anothers_failure_may_be_the_cause() {
    let asking = Asking::<true>::new();
    asking.desk.answers.add_permits(4);
    let (before, fault, after) = (asking.ask("before"), asking.ask("failure"), asking.ask("after"));
    assert_eq!([text(before.await), text(after.await)], [Some("before".to_owned()), Some("after".to_owned())]);
    assert!(matches!(fault.await, Ok(Err(Error::Unavailable(_)))));
    assert_eq!(asking.statements(), [3, 1, 1, 1]);
    asking.desk.answers.add_permits(1);
    assert!(matches!(asking.ask("failure").await, Ok(Err(Error::Unavailable(_)))), "its own failure");
    assert_eq!(asking.statements(), [3, 1, 1, 1, 1]);
}

#[tokio::test(start_paused = true)]
async fn that_a_write_may_have_been_done_is_told_to_all_whose_it_was() {
    let asking = Asking::<true>::new();
    let together = [asking.ask("beside"), asking.ask("unanswered")];
    asking.until(1).await;
    asking.doors(&[Door::IsShut; 2]); // neither can be asked again
    asking.desk.answers.add_permits(1);
    for asked in together {
        assert!(asked.await.expect("no panic").is_err_and(|error| error.is_unsettled()));
    }
    asking.desk.answers.add_permits(1);
    let alone = asking.ask("unanswered").await.expect("no panic").expect_err("no answer");
    assert!(alone.is_unsettled());
    assert_eq!(alone.causes().to_string(), "unavailable: a COMMIT was not answered: the connection was lost");
    assert_eq!(asking.statements(), [2, 1]);
}

#[tokio::test(start_paused = true)]
async fn what_was_sent_is_waited_for_and_what_was_not_is_given_up() {
    let asking = Asking::<true>::new();
    let patient = |text: &str| {
        let (gathering, question) = (asking.gathering.clone(), Echo(text.to_owned()));
        tokio::spawn(deadline::of_request(async move { gathering.ask(question).await }))
    };
    let sent = patient("sent");
    asking.until(1).await;
    asking.doors(&[Door::Hangs; 100]);
    let late = patient("late");
    assert!(matches!(late.await, Ok(Err(Error::Unavailable(_)))), "there was no connection for it");
    assert_eq!(asking.gathering.waiting(), 0);
    assert!(!sent.is_finished(), "it may have happened");
    let tried = 100 - asking.desk.doors.lock().expect("no panic").len();
    assert!(tried < ALL_TURNS, "{tried} turns for one question");
    asking.desk.answers.add_permits(1);
    assert_eq!(text(sent.await), Some("sent".to_owned()));
    assert_eq!(asking.statements(), [1]);
}

#[tokio::test(start_paused = true)]
async fn what_hangs_holds_up_nobody_else() {
    let asking = <Asking>::new();
    let mut hanging = Vec::new();
    for number in 1..=4 {
        hanging.push(asking.ask("hangs"));
        asking.until(number).await; // the third and the fourth once the first two are slow
    }
    asking.doors(&[Door::Hangs]);
    let first = asking.ask("without a connection");
    tokio::time::sleep(Duration::from_millis(300)).await;
    let second = asking.ask("after it");
    asking.until(5).await;
    assert_eq!(asking.statements(), [1, 1, 1, 1, 2]);
    asking.desk.answers.add_permits(5);
    assert_eq!([text(first.await), text(second.await)], [Some("without a connection".to_owned()), Some("after it".to_owned())]);
    for hanging in hanging {
        assert!(text(hanging.await).is_some());
    }
}

#[tokio::test(start_paused = true)]
async fn a_crowd_takes_as_many_turns_as_there_are() {
    let asking = <Asking>::new();
    let crowd: Vec<_> = (0..100).map(|number| asking.ask(&number.to_string())).collect();
    asking.until(2).await;
    assert_eq!(asking.statements(), [64, 36], "before any answer");
    asking.desk.answers.add_permits(2);
    for asked in crowd {
        assert!(text(asked.await).is_some());
    }
}

#[tokio::test(start_paused = true)]
async fn without_a_connection_nothing_is_tried_again() {
    let asking = Asking::<true>::new();
    asking.doors(&[Door::IsShut; 2]); // the second comes when the first turn has begun
    for asked in [asking.ask("first"), asking.ask("second")] {
        assert!(asked.await.expect("no panic").is_err_and(|error| error.causes().to_string() == "unavailable: no connection"));
    }
    asking.doors(&[Door::Panics]);
    let both = [asking.ask("third"), asking.ask("fourth")];
    asking.desk.answers.add_permits(3);
    for (asked, of) in both.into_iter().zip(["third", "fourth"]) {
        assert_eq!(text(asked.await).as_deref(), Some(of), "alone");
    }
    assert_eq!(text(asking.ask("fifth").await), Some("fifth".to_owned()));
    assert_eq!(asking.statements(), [1, 1, 1]);
}
