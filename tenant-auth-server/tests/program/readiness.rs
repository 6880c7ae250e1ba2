//! `/health/ready` beside faults that leave reading as it was: it is 503 whenever a write would fail, and 200 again without a restart.

use std::{
    os::unix::fs::PermissionsExt,
    time::{Duration, Instant},
};

use tenant_auth_conformance::{as_postgres_administrator, empty_postgres};

use crate::{
    MASTER_KEY, OTHER_KEY, Program,
    admin::Admin,
    error, json,
    metrics::metrics_address,
    running::{DEADLINE, Running, get},
};

/// How soon it must be is tested with a clock of the test's own, beside the code.
#[track_caller]
pub(crate) fn until_ready_is(server: &Running, expected: u16) {
    let deadline = Instant::now() + DEADLINE;
    loop {
        let (status, text) = server.get("/health/ready");
        if status == expected {
            return;
        }
        assert!(Instant::now() < deadline, "{text}\n{}", server.log());
        std::thread::sleep(Duration::from_millis(50));
    }
}

#[track_caller]
fn until_told(server: &Running, metrics: &[&str]) {
    let deadline = Instant::now() + DEADLINE;
    loop {
        let (_, text) = get(&metrics_address(server), "/metrics");
        if metrics.iter().all(|metric| text.contains(&format!("\ntenant_auth_{metric}\n"))) {
            return;
        }
        assert!(Instant::now() < deadline, "{text}\n{}", server.log());
    }
}

/// The log says which part of a trial failed, a moment after the answer.
#[track_caller]
pub(crate) fn until_logged(server: &Running, line: &str) {
    let deadline = Instant::now() + DEADLINE;
    while !server.log().contains(line) {
        assert!(Instant::now() < deadline, "{line}\n{}", server.log());
        std::thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn a_removed_database_file_is_noticed_and_never_silently_replaced() {
    let program = Program::new().with("METRICS_LISTEN", "127.0.0.1:0");
    let mut server = Running::start(&program, &["serve"]);
    assert!(server.log().contains("a new and empty one was created"), "{}", server.log());
    until_ready_is(&server, 200);
    let (file, away) = (program.path().join("auth.db"), program.path().join("away.db"));
    for name in ["auth.db", "auth.db-wal", "auth.db-shm"] {
        let mode = program.path().join(name).metadata().expect("it is there").permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{name}");
    }

    std::fs::rename(&file, &away).expect("it is there");
    until_ready_is(&server, 503);
    assert!(server.get("/health/ready").1.contains("or takes no writes"), "a full disk is not taken for a lost database");
    until_logged(&server, "not ready trial=\"write\"");
    until_told(&server, &["database_writable 0", "ready 0"]);
    std::fs::rename(&away, &file).expect("it is there");
    until_ready_is(&server, 200);
    until_told(&server, &["database_writable 1", "ready 1"]);

    server.terminate();
    assert!(server.ended().success());
    std::fs::remove_file(&file).expect("it is there");
    let said = crate::error(&program.run(&["serve"]));
    assert!(said.contains("TENANT_AUTH_DATABASE_URL") && said.contains("auth.db.known"), "{said}");
    assert!(!file.exists(), "nothing was put in its place");
}

/// Nothing is answered out of a file that nobody sees, also where nothing is remembered.
#[test]
fn another_file_in_the_databases_place_ends_the_server() {
    let program = Program::new().with("MEMORY", "0");
    let mut server = Running::start(&program, &["serve"]);
    let admin = Admin::of_new_organization(&program, &server.address);
    let read = || admin.ask(&server.address, "GET /org", &serde_json::json!({})).expect("it answers").0;
    let (file, away) = (program.path().join("auth.db"), program.path().join("away.db"));
    std::fs::rename(&file, &away).expect("it is there");
    assert_eq!(read(), 503);
    std::fs::rename(&away, &file).expect("it is there");
    assert_eq!(read(), 200);
    std::fs::copy(&file, &away).expect("there is room");
    std::fs::rename(&away, &file).expect("they are there");
    assert_eq!(server.ended().code(), Some(1));
    assert!(server.log().contains("auth.db was removed or replaced"), "{}", server.log());
}

/// A lost volume takes the mark beside the file with it.
#[test]
fn a_database_that_must_exist_is_never_made() {
    let program = Program::new().with("SQLITE_MUST_EXIST", "true");
    let file = program.path().join("auth.db");
    let create = ["org", "create", "--name", "Acme", "--org", "acme", "--admin-email", "ada@example.com"];
    for command in [&["serve"][..], &["migrate"], &create, &["org", "list"]] {
        let said = crate::error(&program.run(command));
        assert!(said.contains("TENANT_AUTH_DATABASE_URL names ") && said.contains("SQLITE_MUST_EXIST=false"), "{said}");
        assert!(!file.exists(), "nothing was made");
    }
    let program = program.without("SQLITE_MUST_EXIST");
    json(&program.run(&["migrate", "--json"]));
    json(&program.with("SQLITE_MUST_EXIST", "true").run(&["org", "list", "--json"]));
}

#[test]
fn a_replica_that_cannot_open_the_keys_is_not_ready() {
    let program = Program::new().with("METRICS_LISTEN", "127.0.0.1:0");
    let server = Running::start(&program, &["serve"]);
    until_ready_is(&server, 200);
    until_told(&server, &["ready 1"]);
    let rotating = program.with("MASTER_KEY", &format!("{OTHER_KEY},{MASTER_KEY}"));
    json(&rotating.run(&["keys", "rotate", "--compromised", "--json"]));
    until_ready_is(&server, 503);
    until_logged(&server, "not ready trial=\"keys\"");
    // No alert about the database is the one that leads to the cure.
    until_told(&server, &["database_up 1", "database_writable 1", "ready 0"]);
    assert!(server.get("/health/ready").1.contains("or the signing keys cannot be read"));
}

/// Like a standby that is promoted: connections that were made while the node was read-only stay so.
#[test]
fn a_read_only_postgresql_is_not_ready_and_no_connection_remembers_it() {
    let Some(url) = empty_postgres() else { return };
    let name = url.split(['/', '?']).find(|part| part.starts_with("empty_")).expect("a name");
    let program = Program::new().with("DATABASE_URL", &url);
    let server = Running::start(&program, &["serve"]);
    let admin = Admin::of_new_organization(&program, &server.address);
    let write = || admin.ask(&server.address, "PATCH /org", &serde_json::json!({ "name": "Acme" })).expect("it answers").0;
    until_ready_is(&server, 200);
    for read_only in ["on", "off"] {
        as_postgres_administrator(&format!("ALTER DATABASE {name} SET default_transaction_read_only = {read_only}"));
        if read_only == "on" {
            as_postgres_administrator(&format!("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{name}'"));
            let deadline = Instant::now() + DEADLINE;
            while write() != 503 {
                assert!(Instant::now() < deadline, "it is not read-only");
            }
            until_ready_is(&server, 503);
            // A server that starts here would answer from what may be long past.
            error(&program.run(&["migrate"]));
        }
    }
    let deadline = Instant::now() + DEADLINE;
    while write() != 200 {
        assert!(Instant::now() < deadline, "no write since it takes them again:\n{}", server.log());
        std::thread::sleep(Duration::from_millis(50));
    }
    until_ready_is(&server, 200);
}

/// Without its own connection memory cannot learn of changes, and no session is answered.
#[test]
fn a_server_that_cannot_look_for_changes_is_not_ready() {
    let Some(url) = empty_postgres() else { return };
    let name = url.split(['/', '?']).find(|part| part.starts_with("empty_")).expect("a name");
    let role = format!("few_{name}");
    as_postgres_administrator(&format!("CREATE ROLE {role} LOGIN CONNECTION LIMIT 2"));
    as_postgres_administrator(&format!("ALTER DATABASE {name} OWNER TO {role}"));
    let program = Program::new()
        .with("DATABASE_URL", &url.replace("user=postgres", &format!("user={role}")))
        .with("DATABASE_CONNECTIONS", "1");
    let server = Running::start(&program, &["serve"]);
    until_ready_is(&server, 200);
    as_postgres_administrator(&format!("ALTER ROLE {role} CONNECTION LIMIT 1"));
    as_postgres_administrator(&format!("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = '{role}'"));
    until_ready_is(&server, 503);
    until_logged(&server, "not ready trial=\""); // the look, or the write where the look took the only connection
    assert!(!server.log().contains("unavailable: unavailable"), "{}", server.log());
    as_postgres_administrator(&format!("ALTER ROLE {role} CONNECTION LIMIT 2"));
    until_ready_is(&server, 200);
}
