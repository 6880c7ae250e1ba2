//! The fault walk: one server for each database, and one fault after another below it. `/health/ready` is 503 while a write fails, and
//! 200 again after the cure, without a restart. One command prints how soon:
//!
//! ```sh
//! cargo test --release -p tenant-auth-server --test program -- faults --nocapture --test-threads 1
//! ```

pub(crate) mod link;
mod postgres;
mod sqlite;

use std::{
    fmt::Write,
    sync::atomic::{AtomicUsize, Ordering},
    time::{Duration, Instant},
};

use serde_json::json;

use crate::{
    admin::Admin,
    readiness::until_ready_is,
    running::{DEADLINE, Running},
};

/// A server on a database that things happen to.
struct Walk<'a> {
    database: &'static str,
    server: &'a Running,
    admin: &'a Admin,
    table: String,
}

impl<'a> Walk<'a> {
    fn begin(database: &'static str, server: &'a Running, admin: &'a Admin) -> Self {
        let table =
            format!("{:<10} {:<28} {:>8} {:>8} {:>14} {:>8}\n", "database", "fault", "503 in", "write", "answered in", "200 in");
        let walk = Self { database, server, admin, table };
        until_ready_is(server, 200);
        assert_eq!(walk.write(), 200);
        walk
    }

    /// Status of the answer to a change, which is another one each time.
    fn write(&self) -> u16 {
        static CHANGES: AtomicUsize = AtomicUsize::new(0);
        let name = format!("Acme {}", CHANGES.fetch_add(1, Ordering::SeqCst));
        let answer = self.admin.ask(&self.server.address, "PATCH /org", &json!({ "name": name }));
        let (status, body) = answer.expect("the server answers, whatever its database does");
        assert!(status == 200 || body["code"] == "unavailable", "{body}\n{}", self.server.log());
        status
    }

    /// Time until readiness is told as it should be.
    fn until_ready_is(&self, expected: u16) -> Duration {
        let since = Instant::now();
        until_ready_is(self.server, expected);
        since.elapsed()
    }

    /// Lets a fault happen and pass.
    fn fault<T>(&mut self, name: &str, hurt: impl FnOnce() -> T, cure: impl FnOnce(T)) {
        let hurt = hurt();
        let noticed = self.until_ready_is(503);
        let asked = Instant::now();
        let status = self.write();
        let answered = asked.elapsed();
        assert_eq!(status, 503, "{name}: not ready, and yet it takes writes");
        assert_eq!(self.server.get("/health/live").0, 200, "{name}");
        cure(hurt);
        let cured = self.until_ready_is(200);
        assert_eq!(self.write(), 200, "{name}: ready, and yet it takes no writes\n{}", self.server.log());
        let row = [noticed, answered, cured].map(|time| format!("{:.1} s", time.as_secs_f64()));
        let _ = writeln!(self.table, "{:<10} {name:<28} {:>8} {status:>8} {:>14} {:>8}", self.database, row[0], row[1], row[2]);
    }

    /// Prints what was measured; that all of it happened has been asserted.
    fn end(self) {
        println!("{}", self.table);
    }
}

/// Waits for something that has no answer to wait for.
#[track_caller]
fn until(what: &str, is_so: impl Fn() -> bool) {
    let deadline = Instant::now() + DEADLINE;
    while !is_so() {
        assert!(Instant::now() < deadline, "{what}: never");
        std::thread::sleep(Duration::from_millis(20));
    }
}
