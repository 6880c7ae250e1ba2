//! Stale answers, sought: servers that remember share a database, with a freshness of 20 ms beside one of a second. Clients verify
//! without a pause while rights are ended and narrowed, at any server and by commands; meanwhile servers are stopped and go on, are
//! killed and come back, a third one starts in the middle, and the database crashes, stands still, is out of reach, and loses the
//! connection over which a COMMIT was sent. A client whose change got no answer asks again, anywhere. Whatever began after an
//! acknowledgement and is answered by what was before is a violation. Long:
//!
//! ```sh
//! TENANT_AUTH_RACE_ROUNDS=10000 cargo test -p tenant-auth-server --test program -- stale --nocapture --test-threads 1
//! ```

mod changes;
mod client;
mod disturbances;
mod people;
mod servers;

use std::{
    collections::BTreeMap,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use rand::RngExt;

use crate::chance;
use changes::Narrowing;
use people::People;
use servers::{Database, Servers};

/// Rounds of a usual run.
const ROUNDS: usize = 24;
/// Rounds that run beside each other, each of a person of its own.
const LANES: usize = 24;
/// Clients that verify in each round.
const WATCHERS: usize = 2;

#[test]
fn no_answer_is_stale_on_sqlite() {
    run(Servers::start(Database::sqlite()));
}

#[test]
fn no_answer_is_stale_on_postgresql() {
    let Some(database) = Database::postgres() else { return };
    run(Servers::start(database));
}

/// What happened, by name.
#[derive(Debug, Default)]
struct Tally(Mutex<BTreeMap<String, usize>>);

impl Tally {
    fn count(&self, what: impl Into<String>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner).entry(what.into()).or_default() += 1;
    }
}

/// What all lanes share.
struct Race<'a> {
    servers: &'a Servers,
    people: People<'a>,
    left: AtomicUsize,
    tally: Tally,
    violations: Mutex<Vec<String>>,
}

fn rounds() -> usize {
    std::env::var("TENANT_AUTH_RACE_ROUNDS").map_or(ROUNDS, |text| text.parse().expect("a number of rounds"))
}

fn run(servers: Servers) {
    let (since, is_over) = (Instant::now(), AtomicBool::new(false));
    let people = People::of_new_organization(&servers);
    let race =
        Race { servers: &servers, people, left: AtomicUsize::new(rounds()), tally: Tally::default(), violations: Mutex::default() };
    thread::scope(|scope| {
        let disturber = scope.spawn(|| disturbances::go_on_until(&is_over, &race.tally, &servers));
        let lanes: Vec<_> = (0..LANES).map(|_| scope.spawn(|| race.go_on())).collect();
        let ended: Vec<_> = lanes.into_iter().map(thread::ScopedJoinHandle::join).collect();
        is_over.store(true, Ordering::SeqCst);
        disturber.join().expect("the disturbances end well");
        assert!(ended.iter().all(Result::is_ok), "a lane failed");
    });
    // Servers that were started last may have answered nothing from memory yet.
    let (narrowing, patience) = (Narrowing::any(&race.people), Instant::now() + Duration::from_secs(30));
    while servers.hits() == 0 && Instant::now() < patience {
        let _ = servers.ask_any(&narrowing.question);
    }
    let hits = servers.hits();
    println!(
        "{}: {} rounds, {:.0} s, {hits} answers from memory since the last starts",
        servers.name(),
        rounds(),
        since.elapsed().as_secs_f64()
    );
    for (what, times) in &*race.tally.0.lock().expect("no lane failed") {
        println!("  {what}: {times}");
    }
    let violations = race.violations.into_inner().expect("no lane failed");
    println!("  violations: {}", violations.len());
    assert!(violations.is_empty(), "{:#?}", &violations[..violations.len().min(10)]);
    assert!(hits > 0, "nothing was answered from memory");
}

/// Sets the flag when it goes, also in a panic: whoever runs until then must end.
struct Over<'a>(&'a AtomicBool);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::SeqCst);
    }
}

impl Race<'_> {
    fn go_on(&self) {
        while let Ok(left) = self.left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1)) {
            if left % 500 == 0 {
                eprintln!("{}: {left} rounds to go", self.servers.name());
            }
            self.round();
        }
    }

    /// A right is given, and ended while clients ask for it.
    fn round(&self) {
        let narrowing = Narrowing::any(&self.people);
        for _ in 0..4 {
            let _ = self.servers.ask_any(&narrowing.question); // so that it is remembered here and there
        }
        let (is_told, is_over) = (AtomicBool::new(false), AtomicBool::new(false));
        thread::scope(|scope| {
            let over = Over(&is_over);
            let watchers: Vec<_> = (0..WATCHERS).map(|_| scope.spawn(|| self.watch(&narrowing, &is_told, &is_over))).collect();
            narrowing.acknowledged(self.servers, &self.tally);
            is_told.store(true, Ordering::SeqCst);
            thread::sleep(Duration::from_millis(chance().random_range(30..200)));
            drop(over);
            for watcher in watchers {
                watcher.join().expect("a watcher ends well");
            }
        });
    }

    /// Asks until the round is over. Only what began after the acknowledgement counts.
    fn watch(&self, narrowing: &Narrowing, is_told: &AtomicBool, is_over: &AtomicBool) {
        while !is_over.load(Ordering::SeqCst) {
            let was_told = is_told.load(Ordering::SeqCst);
            match self.servers.ask_any(&narrowing.question) {
                Ok((200, answer)) if was_told && (narrowing.is_old)(&answer) => {
                    let violation = format!("{}: {answer}", narrowing.name);
                    // At once, too: whoever breaks off a long run has seen it.
                    eprintln!("VIOLATION {violation}");
                    self.violations.lock().unwrap_or_else(PoisonError::into_inner).push(violation);
                }
                Ok((200, _)) => self.tally.count(if was_told { "answers after the acknowledgement" } else { "answers before it" }),
                Ok((status, _)) => self.tally.count(format!("answers {status}")),
                Err(_) => self.tally.count("no answer"),
            }
            thread::sleep(Duration::from_millis(chance().random_range(0..12)));
        }
    }
}
