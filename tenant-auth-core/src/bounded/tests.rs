//! The pool: who is refused, who waits, and who is answered.

use std::sync::{
    atomic::{AtomicU32, Ordering},
    mpsc as blocking,
};

use tokio::task::JoinHandle;

use super::*;

/// A pool of one thread, and the thread's leave to go on with each job made by [`Stage::queue`].
struct Stage {
    work: Arc<BoundedWork>,
    release: blocking::Sender<()>,
    held: Arc<Mutex<blocking::Receiver<()>>>,
}

fn share(organization: u8) -> QueueShare {
    QueueShare::new(&format!("org_{organization:026}").parse().expect("an id"), None)
}

impl Stage {
    fn new(places: usize) -> Self {
        let work = BoundedWork::start("test", PoolSize { threads: 1, places }, WorkMeter::unread(), Pauses::NONE).expect("threads");
        let (release, held) = blocking::channel();
        Self { work: Arc::new(work), release, held: Arc::new(Mutex::new(held)) }
    }

    /// Starts a job that holds the thread until it is released.
    async fn queue(&self, organization: u8) -> JoinHandle<Result<(), Error>> {
        let (work, held) = (Arc::clone(&self.work), Arc::clone(&self.held));
        let hold = move || held.lock().unwrap_or_else(PoisonError::into_inner).recv().map_err(Error::internal);
        let queued = tokio::spawn(async move { work.run(&share(organization), hold).await });
        tokio::task::yield_now().await;
        queued
    }

    /// A job at work, so that every other one waits.
    async fn busy(places: usize) -> (Self, JoinHandle<Result<(), Error>>) {
        let stage = Self::new(places);
        let at_work = stage.queue(0).await;
        while stage.waiting() > 0 {
            thread::yield_now();
        }
        (stage, at_work)
    }

    fn waiting(&self) -> usize {
        self.work.line.waiting().jobs.held()
    }
}

#[tokio::test]
async fn beyond_the_queue_the_answer_is_unavailable_at_once() {
    let (stage, at_work) = Stage::busy(2).await;
    let waiting = [stage.queue(1).await, stage.queue(1).await];
    assert!(matches!(stage.work.run(&share(1), || Ok(())).await, Err(Error::Unavailable(_))));
    for answer in [at_work].into_iter().chain(waiting) {
        stage.release.send(()).expect("somebody waits");
        answer.await.expect("not cancelled").expect("answered");
    }
    stage.work.run(&share(1), || Ok(())).await.expect("there is room again");
}

#[tokio::test]
async fn whoever_loses_a_place_is_told_at_once() {
    let (stage, _at_work) = Stage::busy(2).await;
    let (kept, lost) = (stage.queue(1).await, stage.queue(1).await);
    let newcomer = stage.queue(2).await;
    assert!(matches!(lost.await.expect("not cancelled"), Err(Error::Unavailable(_))));
    for _ in 0..3 {
        stage.release.send(()).expect("somebody waits");
    }
    kept.await.expect("not cancelled").expect("answered");
    newcomer.await.expect("not cancelled").expect("answered");
}

#[tokio::test(start_paused = true)]
async fn what_waited_three_seconds_is_refused_and_what_has_begun_is_finished() {
    let (stage, at_work) = Stage::busy(2).await;
    let waiting = stage.queue(1).await;
    let began = tokio::time::Instant::now();
    assert!(matches!(waiting.await.expect("not cancelled"), Err(Error::Unavailable(_))));
    assert_eq!(began.elapsed(), PATIENCE);
    assert_eq!(stage.waiting(), 0, "its place is free");
    stage.release.send(()).expect("somebody waits");
    at_work.await.expect("not cancelled").expect("it had begun");
}

#[tokio::test]
async fn who_goes_away_leaves_the_place_to_others() {
    let (stage, _at_work) = Stage::busy(1).await;
    let gone = stage.queue(1).await;
    assert_eq!(stage.waiting(), 1);
    gone.abort();
    assert!(gone.await.is_err_and(|error| error.is_cancelled()));
    assert_eq!(stage.waiting(), 0);
}

#[tokio::test]
async fn a_panic_costs_its_own_answer_only() {
    let work = BoundedWork::start("test", PoolSize::default(), WorkMeter::unread(), Pauses::NONE).expect("threads");
    let panicked = work.run::<()>(&share(1), || panic!("made to order")).await;
    assert!(matches!(panicked, Err(Error::Internal(_))));
    work.run(&share(1), || Ok(())).await.expect("the thread is still there");
}

#[tokio::test]
async fn a_thread_without_jobs_is_idle_once_and_works_on() {
    static IDLED: AtomicU32 = AtomicU32::new(0);
    let idle = || {
        IDLED.fetch_add(1, Ordering::SeqCst);
    };
    let size = PoolSize { threads: 1, places: 1 };
    let work = BoundedWork::start("test", size, WorkMeter::unread(), Pauses { is_idle: idle, ..Pauses::NONE }).expect("threads");
    for round in 1..=2 {
        work.run(&share(1), || Ok(())).await.expect("answered");
        while IDLED.load(Ordering::SeqCst) < round {
            tokio::time::sleep(IDLE / 10).await;
        }
    }
    tokio::time::sleep(IDLE + IDLE / 2).await;
    assert_eq!(IDLED.load(Ordering::SeqCst), 2, "and not again without a job");
}

#[tokio::test]
async fn a_thread_rests_only_when_no_job_waits() {
    static RESTED: AtomicU32 = AtomicU32::new(0);
    let rests = || {
        RESTED.fetch_add(1, Ordering::SeqCst);
    };
    let size = PoolSize { threads: 1, places: 2 };
    let work = Arc::new(BoundedWork::start("test", size, WorkMeter::unread(), Pauses { rests, ..Pauses::NONE }).expect("threads"));
    let (go, waits) = std::sync::mpsc::channel::<()>();
    let (began, has_begun) = tokio::sync::oneshot::channel();
    let run = |job: Box<dyn FnOnce() -> Result<u32, Error> + Send>| {
        let work = Arc::clone(&work);
        tokio::spawn(async move { work.run(&share(1), job).await.expect("answered") })
    };
    let first = run(Box::new(move || {
        began.send(()).expect("somebody waits for it");
        waits.recv().expect("it is told to go on");
        Ok(RESTED.load(Ordering::SeqCst))
    }));
    has_begun.await.expect("it has begun");
    let second = run(Box::new(|| Ok(RESTED.load(Ordering::SeqCst))));
    while work.line.waiting().jobs.held() == 0 {
        tokio::task::yield_now().await;
    }
    go.send(()).expect("the first waits");
    let (before, between) = (first.await.expect("no panic"), second.await.expect("no panic"));
    assert_eq!(between, before, "no pause between two jobs");
    while RESTED.load(Ordering::SeqCst) == between {
        tokio::task::yield_now().await;
    }
}
