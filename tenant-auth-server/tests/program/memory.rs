//! Memory under load: three rounds of everything that people, backends and webhooks do, at a server as it is shipped. The second round
//! needs more than the first, for caches and pools fill; the third needs what the second needed, or something is never given back.
//! Longer rounds: `TENANT_AUTH_MEMORY_TURNS=300`, turns of each client in each round, 20 requests a turn.

use std::time::{Duration, Instant};

use serde_json::json;
use tenant_auth_conformance::{Caller, Person, receiver::Receiver, run_sql};
use tokio::task::JoinSet;

use crate::{
    Program,
    admin::{Admin, PASSWORD},
    metrics::metrics_address,
    running::{DEADLINE, Running, get},
};

/// Turns of each client in a usual round.
const TURNS: usize = 8;
const CLIENTS: usize = 4;
/// Verifications in a turn.
const VERIFIES: usize = 12;
/// How much more the third round may hold than the second: what an allocator keeps differs by a few of these from run to run.
const SLACK: u64 = 8 * 1_024 * 1_024;
/// Deliveries have ended when none came for so long.
const QUIET: Duration = Duration::from_secs(2);
/// What limits have counted, and the mails by which some of them count.
const FORGET_COUNTS: &str = "DELETE FROM tenant_auth_throttles; DELETE FROM tenant_auth_mails";

#[test]
fn memory_levels_off_under_mixed_load() {
    let program = Program::new().with("METRICS_LISTEN", "127.0.0.1:0").with("ACCESS_TOKEN_TTL", "36000");
    // A usual hash takes 19 MiB, which an allocator may keep for each thread that ever hashed: with many processors they would hide the rest.
    let program = program.with("WEBHOOK_ALLOW_PRIVATE_NETWORKS", "true").with("ARGON2", "64,1,1");
    let server = Running::start(&program, &["serve"]);
    let admin = Admin::of_new_organization(&program, &server.address);
    let turns = std::env::var("TENANT_AUTH_MEMORY_TURNS").map_or(TURNS, |text| text.parse().expect("a number of turns"));
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().expect("a runtime");
    let load = runtime.block_on(Load::new(&program, &server, &admin));
    let mut resident = vec![resident_bytes(&server)];
    for round in 1..=3 {
        let (since, requests) = (Instant::now(), runtime.block_on(load.round(round, turns)));
        resident.push(resident_bytes(&server));
        let (mib, seconds) = (resident[round] as f64 / 1_048_576.0, since.elapsed().as_secs_f64());
        println!("round {round}: {requests} requests in {seconds:.1} s, then {mib:.1} MiB resident");
    }
    let growth = resident[3].saturating_sub(resident[2]);
    println!("the third round holds {} KiB more than the second", growth / 1_024);
    assert!(growth < SLACK, "after each round, beginning before the first: {resident:?}");
}

/// What a server holds in memory, as it tells itself.
fn resident_bytes(server: &Running) -> u64 {
    let (_, text) = get(&metrics_address(server), "/metrics");
    let line = text.lines().find_map(|line| line.strip_prefix("process_resident_memory_bytes "));
    line.and_then(|number| number.parse().ok()).unwrap_or_else(|| panic!("no such metric: {text}"))
}

/// Clients, and who is told of what they do.
struct Load {
    database: String,
    client: Client,
    receiver: Receiver,
}

/// One of several that do the same at once.
#[derive(Clone)]
struct Client {
    admin: Caller,
    backend: Caller,
}

impl Load {
    async fn new(program: &Program, server: &Running, admin: &Admin) -> Self {
        let person = Person {
            id: admin.user_id.clone(),
            name: "Ada".to_owned(),
            email: "ada@example.com".to_owned(),
            password: PASSWORD.to_owned(),
        };
        let caller = Caller::at(server.address.parse().expect("an address"), "acme").named(person);
        let receiver = Receiver::start().await;
        let caller = caller.logged_in().await;
        for _ in 0..2 {
            caller.post("/org/webhooks", json!({ "url": receiver.url(), "events": ["*"] })).await.expect(201);
        }
        let (_, key) = caller.created_key(json!({ "name": "Back end" })).await;
        let database = format!("sqlite:{}", program.path().join("auth.db").display());
        Self { database, client: Client { backend: caller.backend_with(&key), admin: caller }, receiver }
    }

    /// The turns of all clients, up to the last delivery; how many requests they made.
    async fn round(&self, round: usize, turns: usize) -> usize {
        let before = self.receiver.count();
        let mut clients = JoinSet::new();
        for number in 0..CLIENTS {
            let client = self.client.clone();
            let database = self.database.clone();
            clients.spawn(async move {
                let mut requests = 0;
                for turn in 0..turns {
                    if number == 0 && turn % 10 == 0 {
                        run_sql(&database, FORGET_COUNTS);
                    }
                    requests += client.turn(&format!("r{round}c{number}t{turn}")).await;
                }
                requests
            });
        }
        let requests = clients.join_all().await.into_iter().sum();
        self.rest(before).await;
        requests
    }

    /// Waits until nothing more is delivered.
    async fn rest(&self, before: usize) {
        let mut last = (before, Instant::now());
        while last.0 == before || last.1.elapsed() < QUIET {
            assert!(last.1.elapsed() < DEADLINE, "nothing is delivered");
            tokio::time::sleep(Duration::from_millis(100)).await;
            let count = self.receiver.count();
            if count > last.0 {
                last = (count, Instant::now());
            }
        }
    }
}

impl Client {
    /// A login, a refresh, lists, an invite that is taken back, a change that two webhooks hear of, and verifications; how many requests.
    async fn turn(&self, name: &str) -> usize {
        let device = self.admin.elsewhere().logged_in().await;
        device.refresh().await.expect(200);
        device.get("/org/members?limit=50").await.expect(200);
        device.get("/org/members?q=ada").await.expect(200);
        device.set_metadata(self.admin.id(), json!({ "turn": name })).await.expect(200);
        let invited = device.invite(&format!("{name}@example.com")).await.expect(201).data();
        let invite = invited["invite"]["id"].as_str().expect("an id");
        device.delete(&format!("/org/invites/{invite}")).await.expect(200);
        for _ in 0..VERIFIES {
            assert!(self.backend.finds_valid(&device.access_token()).await, "it is logged in");
        }
        device.logout().await.expect(200);
        8 + VERIFIES
    }
}
