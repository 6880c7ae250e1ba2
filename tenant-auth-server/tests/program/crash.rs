//! Killed servers. Two of them share a database and deliver to a receiver with bad days, while a client changes something again and
//! again; one of them or both are killed in the middle of deliveries and started again, some rounds long. Then everything comes to
//! rest, and what was acknowledged must have arrived: at least once, unchanged, well signed, in an unbroken sequence, and never
//! twice at the same time. More rounds: `TENANT_AUTH_CRASH_ROUNDS=100`.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    thread::{sleep, spawn},
    time::{Duration, Instant},
};

use rand::RngExt;
use serde_json::{Value, json};
use tenant_auth_conformance::{empty_postgres, run_sql};

use crate::{
    Program,
    admin::Admin,
    hook_receiver::{Received, Receiver},
    running::{DEADLINE, Running},
};

/// Rounds of a usual run.
const ROUNDS: u32 = 4;
/// Where the two webhooks lead.
const PATHS: [&str; 2] = ["/in", "/audit"];
/// Many rounds hold more changes than one admin may make (behaviour.md, B148).
const FORGET_CHANGES: &str = "DELETE FROM tenant_auth_throttles WHERE key LIKE 'admin-changes:%'";
/// Between two changes.
const BETWEEN_CHANGES: Duration = Duration::from_millis(15);
/// Claims of a killed server run out within timeout and margin, 17 s; the rest is for a busy machine.
const TO_REST: Duration = Duration::from_secs(90);

#[test]
fn nothing_acknowledged_is_lost_when_servers_on_sqlite_are_killed() {
    let program = Program::new();
    let url = format!("sqlite:{}", program.path().join("shared.db").display());
    survive("SQLite", program, &url);
}

#[test]
fn nothing_acknowledged_is_lost_when_servers_on_postgresql_are_killed() {
    if let Some(url) = empty_postgres() {
        survive("PostgreSQL", Program::new(), &url);
    }
}

fn survive(engine: &str, program: Program, database: &str) {
    let rounds = std::env::var("TENANT_AUTH_CRASH_ROUNDS").map_or(ROUNDS, |text| text.parse().expect("a number of rounds"));
    let mut twins = Twins::start([program, Program::new()].map(|program| deployment(program, database)));
    let admin = Admin::of_new_organization(&twins.programs[0], &twins.address(0));
    let receiver = Receiver::start();
    let hooks = PATHS.map(|path| {
        let made =
            admin.data(&twins.address(0), "POST /org/webhooks", &json!({ "url": receiver.url(path), "events": ["member.*"] }));
        receiver.expect(path, made["secret"].as_str().expect("a secret"));
        made["webhook"]["id"].as_str().expect("an id").to_owned()
    });

    let changing = Changing::start(&admin, &twins.addresses);
    let mut kills = 0;
    for _ in 0..rounds {
        sleep(crate::chance().random_range(Duration::from_millis(100)..Duration::from_millis(700)));
        run_sql(database, FORGET_CHANGES);
        in_mid_delivery(&receiver);
        kills += twins.kill();
        sleep(crate::chance().random_range(Duration::ZERO..Duration::from_millis(200)));
        twins.start_again();
    }
    let acknowledged = changing.stop();
    for hook in &hooks {
        come_to_rest(&admin, &twins.address(0), hook);
    }

    assert_eq!(receiver.faults(), [""; 0], "every signature verifies");
    let received = receiver.received();
    for path in PATHS {
        let deliveries = Deliveries::to(path, &received);
        deliveries.repeat_themselves_and_do_not_overlap();
        deliveries.have_an_unbroken_sequence();
        let lost: Vec<_> = acknowledged.difference(&deliveries.counters()).copied().collect();
        assert!(lost.is_empty(), "acknowledged and never delivered to {path}: {lost:?}");
    }
    let again = received.len() - received.iter().map(|one| (&one.path, &one.id)).collect::<BTreeSet<_>>().len();
    println!(
        "{engine}: {kills} kills in {rounds} rounds, {} changes acknowledged, {} attempts arrived, {again} of them repetitions",
        acknowledged.len(),
        received.len(),
    );
}

fn deployment(program: Program, database: &str) -> Program {
    let program = program.with("DATABASE_URL", database).with("ACCESS_TOKEN_TTL", "36000");
    let program = program.with("WEBHOOK_ALLOW_PRIVATE_NETWORKS", "true").with("WEBHOOK_TIMEOUT", "2");
    program.with("WEBHOOK_RETRY_SCHEDULE", &["1"; 40].join(","))
}

/// Two servers on one database.
struct Twins {
    programs: [Program; 2],
    running: [Option<Running>; 2],
    /// Where they listen, or did before they were killed.
    addresses: Arc<Mutex<[String; 2]>>,
}

impl Twins {
    fn start(programs: [Program; 2]) -> Self {
        let mut twins = Self { programs, running: [None, None], addresses: Arc::default() };
        twins.start_again();
        twins
    }

    /// Starts whichever does not run.
    fn start_again(&mut self) {
        for (twin, program) in self.programs.iter().enumerate() {
            let running = self.running[twin].get_or_insert_with(|| Running::start(program, &["serve"]));
            self.addresses.lock().unwrap_or_else(PoisonError::into_inner)[twin].clone_from(&running.address);
        }
    }

    /// Kills one of them, or both at once; how many.
    fn kill(&mut self) -> usize {
        let victims = [[true, false], [false, true], [true, true]][crate::chance().random_range(0..3)];
        for (running, is_victim) in self.running.iter_mut().zip(victims) {
            running.take_if(|_| is_victim); // dropped, it is sent SIGKILL
        }
        victims.iter().filter(|is_victim| **is_victim).count()
    }

    fn address(&self, twin: usize) -> String {
        self.addresses.lock().unwrap_or_else(PoisonError::into_inner)[twin].clone()
    }
}

/// A client that counts in a member's metadata, at both servers in turn.
struct Changing {
    stop: Arc<AtomicBool>,
    counting: std::thread::JoinHandle<BTreeSet<u64>>,
}

impl Changing {
    fn start(admin: &Admin, addresses: &Arc<Mutex<[String; 2]>>) -> Self {
        let (admin, addresses, stop) = (admin.clone(), Arc::clone(addresses), Arc::new(AtomicBool::new(false)));
        let stopped = Arc::clone(&stop);
        let what = format!("PATCH /org/members/{}", admin.user_id);
        let counting = spawn(move || {
            let mut acknowledged = BTreeSet::new();
            for counter in 0.. {
                let address = addresses.lock().unwrap_or_else(PoisonError::into_inner)[counter as usize % 2].clone();
                match admin.ask(&address, &what, &json!({ "metadata": { "counter": counter } })) {
                    Ok((200, _)) => drop(acknowledged.insert(counter)),
                    Ok((503, _)) | Err(_) => {} // it was killed, or its database was busy: perhaps it happened, perhaps not
                    Ok((status, answer)) => panic!("{status}: {answer}"),
                }
                if stopped.load(Ordering::SeqCst) {
                    break;
                }
                sleep(BETWEEN_CHANGES);
            }
            acknowledged
        });
        Self { stop, counting }
    }

    /// Ends it; which changes were acknowledged.
    fn stop(self) -> BTreeSet<u64> {
        self.stop.store(true, Ordering::SeqCst);
        self.counting.join().expect("every answer was one that may be given")
    }
}

fn in_mid_delivery(receiver: &Receiver) {
    let deadline = Instant::now() + DEADLINE;
    while receiver.at_work() == 0 {
        assert!(Instant::now() < deadline, "nothing is delivered any more");
        sleep(Duration::from_millis(1));
    }
}

/// Waits until a webhook's deliveries have all succeeded.
fn come_to_rest(admin: &Admin, address: &str, hook: &str) {
    let deadline = Instant::now() + TO_REST;
    let mut cursor = None;
    loop {
        let page = cursor.as_ref().map_or(String::new(), |cursor: &String| format!("&cursor={cursor}"));
        let data = admin.data(address, &format!("GET /org/webhooks/{hook}/deliveries?limit=1000{page}"), &Value::Null);
        let unsettled: Vec<&Value> =
            data["deliveries"].as_array().expect("a list").iter().filter(|delivery| delivery["status"] != "succeeded").collect();
        if unsettled.is_empty() {
            match data["nextCursor"].as_str() {
                Some(next) => cursor = Some(next.to_owned()),
                None => return,
            }
        } else {
            assert!(unsettled.iter().all(|delivery| delivery["status"] == "pending"), "{unsettled:?}");
            assert!(Instant::now() < deadline, "{} are still pending: {:?}", unsettled.len(), unsettled[0]);
            sleep(Duration::from_millis(250));
        }
    }
}

/// What came to one webhook, by `webhook-id`.
struct Deliveries<'a>(HashMap<&'a str, Vec<&'a Received>>);

impl<'a> Deliveries<'a> {
    fn to(path: &str, received: &'a [Received]) -> Self {
        let mut by_id: HashMap<&str, Vec<&Received>> = HashMap::new();
        for one in received.iter().filter(|one| one.path == path) {
            by_id.entry(&one.id).or_default().push(one);
        }
        Self(by_id)
    }

    fn repeat_themselves_and_do_not_overlap(&self) {
        for (id, attempts) in &self.0 {
            assert!(attempts.iter().all(|one| one.body == attempts[0].body), "{id} was not the same bytes every time");
            assert!(attempts.iter().any(|one| one.taken), "{id} counts as delivered but never was");
            let mut in_order = attempts.clone();
            in_order.sort_by_key(|one| one.began);
            assert!(in_order.windows(2).all(|pair| pair[0].ended <= pair[1].began), "{id} was attempted twice at the same time");
        }
    }

    fn payloads(&self) -> impl Iterator<Item = (&str, Value)> {
        self.0.iter().map(|(id, attempts)| (*id, serde_json::from_slice(&attempts[0].body).expect("JSON")))
    }

    fn have_an_unbroken_sequence(&self) {
        let mut numbered: BTreeMap<u64, &str> = BTreeMap::new();
        for (id, payload) in self.payloads() {
            assert_eq!(payload["id"], id);
            let other = numbered.insert(payload["sequence"].as_u64().expect("a number"), id);
            assert_eq!(other, None, "{id} has the same sequence number");
        }
        let (first, last) = (numbered.keys().next(), numbered.keys().next_back());
        let span = last.zip(first).map_or(0, |(last, first)| last - first + 1);
        assert_eq!(span, numbered.len() as u64, "the sequence has gaps: {:?}", numbered.keys().collect::<Vec<_>>());
    }

    fn counters(&self) -> BTreeSet<u64> {
        let counter = |payload: Value| payload["data"]["member"]["metadata"]["counter"].as_u64();
        self.payloads().filter_map(|(_, payload)| counter(payload)).collect()
    }
}
