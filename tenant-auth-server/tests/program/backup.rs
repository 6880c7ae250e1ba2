//! A backup of a SQLite database in use, and its restore. The statement is that of the guide for operators, as it stands there.

use std::{
    fs,
    sync::atomic::{AtomicBool, AtomicU32, Ordering},
    time::{Duration, Instant},
};

use serde_json::json;
use tenant_auth_conformance::run_sql;

use crate::{Program, admin::Admin, running::Running};

/// More than is copied in one step, so that commits of the server fall between the beginning of the copy and its end.
const BALLAST: &str = "
    CREATE TABLE ballast (content BLOB NOT NULL);
    INSERT INTO ballast
    WITH RECURSIVE numbers (number) AS (SELECT 1 UNION ALL SELECT number + 1 FROM numbers WHERE number < 16000)
    SELECT randomblob(4000) FROM numbers;";
const WITHIN: Duration = Duration::from_secs(60);
/// Between two commits.
const PAUSE: Duration = Duration::from_millis(10);
/// Fewer than an admin may make.
const COMMITS: u32 = 1_500;

/// What the guide gives to `sqlite3`, with another file to copy to.
fn statement(copy: &str) -> String {
    let guide = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/guides/operations.md")).expect("the guide");
    let line = guide.lines().find(|line| line.starts_with("(umask 077; sqlite3 ")).expect("the guide has the command");
    let statement = line.split('"').nth(1).expect("the statement stands between quotation marks");
    assert!(statement.contains("'/backup/auth.db'"), "{statement}");
    statement.replace("/backup/auth.db", copy)
}

#[test]
fn a_database_in_use_is_copied_while_the_server_writes_and_can_be_restored() {
    let program = Program::new();
    let file = |name: &str| program.path().join(name);
    let url = format!("sqlite:{}", file("auth.db").display());
    let mut server = Running::start(&program, &["serve"]);
    let admin = Admin::of_new_organization(&program, &server.address);
    run_sql(&url, BALLAST);

    let (is_copied, written) = (AtomicBool::new(false), AtomicU32::new(0));
    let rename = |name: &str| admin.data(&server.address, "PATCH /org", &json!({ "name": name }));
    rename("Before");
    let began = Instant::now();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !is_copied.load(Ordering::Relaxed) && began.elapsed() < WITHIN && written.load(Ordering::Relaxed) < COMMITS {
                rename(&format!("During {}", written.load(Ordering::Relaxed)));
                written.fetch_add(1, Ordering::Relaxed);
                std::thread::sleep(PAUSE);
            }
        });
        while written.load(Ordering::Relaxed) == 0 && began.elapsed() < WITHIN {
            std::thread::sleep(PAUSE);
        }
        let before = written.load(Ordering::Relaxed);
        run_sql(&url, &statement(&file("copy.db").display().to_string()));
        let after = written.load(Ordering::Relaxed);
        is_copied.store(true, Ordering::Relaxed);
        assert!(began.elapsed() < WITHIN, "{:?}", began.elapsed());
        assert!(after > before + 1, "beside the commit that may be as old as the copy: {before}, {after}");
    });
    rename("After");
    server.terminate();
    assert!(server.ended().success());

    for name in ["auth.db-wal", "auth.db-shm"] {
        let _ = fs::remove_file(file(name)); // a server that stopped may have left none
    }
    fs::rename(file("copy.db"), file("auth.db")).expect("it was written");
    let server = Running::start(&program, &["serve"]);
    let restored = admin.data(&server.address, "GET /org", &json!({}))["org"]["name"].as_str().expect("a name").to_owned();
    assert!(restored.starts_with("During "), "{restored}");
    admin.data(&server.address, "PATCH /org", &json!({ "name": "Restored" }));
}
