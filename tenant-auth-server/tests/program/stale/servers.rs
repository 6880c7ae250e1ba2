//! Servers over one database, as an operator starts them, that are stopped, killed and started while clients ask.

use std::{
    io,
    path::PathBuf,
    sync::{Mutex, MutexGuard, PoisonError},
    thread,
    time::Duration,
};

use rand::RngExt;
use serde_json::Value;
use tenant_auth_conformance::{PostgresServer, hold_sql};

use super::client::Question;
use crate::{
    Program, chance,
    faults::link::Link,
    metrics::metrics_address,
    running::{Running, get},
};

/// What the limits have counted: the rounds are more than any limit allows.
const FORGET_COUNTS: &str = "DELETE FROM tenant_auth_throttles; DELETE FROM tenant_auth_mails";

/// The database of the servers.
pub(super) enum Database {
    Sqlite,
    /// With the network before one of the servers.
    Postgres(Mutex<PostgresServer>, Link),
}

/// A server, or the place of one.
pub(super) struct Place {
    program: Program,
    running: Option<Running>,
}

/// The places of three servers. The third is often empty.
pub(super) struct Servers {
    pub(super) database: Database,
    /// Where processes that do not answer clients reach the database.
    pub(super) url: String,
    places: Vec<Mutex<Place>>,
    addresses: Mutex<Vec<String>>,
    command: Program,
}

impl Database {
    pub(super) fn sqlite() -> Self {
        Self::Sqlite
    }

    /// `None` where PostgreSQL is not installed.
    pub(super) fn postgres() -> Option<Self> {
        let server = PostgresServer::start()?;
        server.run("CREATE DATABASE auth");
        let link = Link::to(server.port());
        Some(Self::Postgres(Mutex::new(server), link))
    }
}

/// Starts a server again and again until it runs, as a supervisor does: so many clients may keep SQLite's writer from it for longer
/// than it waits.
fn supervised(program: &Program) -> Running {
    let start = || std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| Running::start(program, &["serve"])));
    (0..20).find_map(|_| start().ok()).expect("a server starts")
}

impl Servers {
    pub(super) fn start(database: Database) -> Self {
        let command = Program::new();
        let (url, first_url) = match &database {
            Database::Sqlite => {
                let url = format!("sqlite:{}", command.path().join("shared.db").display());
                (url.clone(), url)
            }
            Database::Postgres(server, link) => {
                let direct = server.lock().unwrap_or_else(PoisonError::into_inner).url("auth");
                (direct, format!("postgres://postgres@127.0.0.1:{}/auth", link.port))
            }
        };
        let place = |url: &str, freshness: &str| {
            let program = Program::new().with("DATABASE_URL", url).with("ARGON2", "8,1,1").with("ACCESS_TOKEN_TTL", "86400");
            let program = program.with("MEMORY", "8").with("FRESHNESS", freshness).with("METRICS_LISTEN", "127.0.0.1:0");
            let program = program.with("API_KEYS_PER_ORG", "100000"); // each rotation leaves one
            Mutex::new(Place { program, running: None })
        };
        let places = vec![place(&first_url, "20"), place(&url, "1000"), place(&url, "100")];
        let command = command.with("DATABASE_URL", &url).with("ARGON2", "8,1,1");
        let servers = Self { database, url, places, addresses: Mutex::new(vec![String::new(); 3]), command };
        servers.begin(0);
        servers.begin(1);
        servers
    }

    pub(super) fn name(&self) -> &'static str {
        match self.database {
            Database::Sqlite => "SQLite",
            Database::Postgres(..) => "PostgreSQL",
        }
    }

    /// The file of a SQLite database.
    pub(super) fn file(&self) -> Option<PathBuf> {
        self.url.strip_prefix("sqlite:").map(PathBuf::from)
    }

    /// Starts the server of a place, unless it runs.
    pub(super) fn begin(&self, place: usize) {
        let mut at = self.at(place);
        if at.running.is_none() {
            let running = supervised(&at.program);
            self.addresses()[place].clone_from(&running.address);
            at.running = Some(running);
        }
    }

    /// Kills the server of a place.
    pub(super) fn kill(&self, place: usize) {
        self.addresses()[place].clear();
        self.at(place).running = None;
    }

    pub(super) fn is_running(&self, place: usize) -> bool {
        self.at(place).running.is_some()
    }

    /// Stops the server of a place where it stands while something is done.
    pub(super) fn stopped(&self, place: usize, meanwhile: impl FnOnce()) {
        let at = self.at(place);
        let Some(running) = &at.running else { return };
        running.signal("-STOP");
        meanwhile();
        running.signal("-CONT");
    }

    /// Asks one of the servers that run.
    pub(super) fn ask_any(&self, question: &Question) -> io::Result<(u16, Value)> {
        let running: Vec<String> = self.addresses().iter().filter(|address| !address.is_empty()).cloned().collect();
        if running.is_empty() {
            thread::sleep(Duration::from_millis(20));
            return Err(io::ErrorKind::ConnectionRefused.into());
        }
        question.ask(&running[chance().random_range(0..running.len())])
    }

    /// Asks until somebody answers as wanted: a server in trouble, and a limit that is forgotten soon, are asked again.
    pub(super) fn insist(&self, question: &Question) -> Value {
        loop {
            match self.ask_any(question) {
                Ok((status, answer)) if status < 300 => return answer["data"].clone(),
                Ok((status, answer)) if status < 500 && status != 429 => panic!("{question:?}: {status} {answer}"),
                _ => thread::sleep(Duration::from_millis(20)),
            }
        }
    }

    /// Runs a command; whether it succeeded.
    pub(super) fn command(&self, arguments: &[&str]) -> bool {
        self.command.run(arguments).status.success()
    }

    /// Lets everybody begin as if nothing had ever been counted.
    pub(super) fn forget_counts(&self) {
        let _ = hold_sql(&self.url, FORGET_COUNTS); // a busy database forgets later
    }

    /// How many answers the running servers gave from memory.
    pub(super) fn hits(&self) -> u64 {
        let hits = |place: &Mutex<Place>| {
            let at = place.lock().unwrap_or_else(PoisonError::into_inner);
            let (_, text) = get(&metrics_address(at.running.as_ref()?), "/metrics");
            text.lines().find_map(|line| line.strip_prefix("tenant_auth_memory_hits_total "))?.parse::<u64>().ok()
        };
        self.places.iter().filter_map(hits).sum()
    }

    fn at(&self, place: usize) -> MutexGuard<'_, Place> {
        self.places[place].lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn addresses(&self) -> MutexGuard<'_, Vec<String>> {
        self.addresses.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
