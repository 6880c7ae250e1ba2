//! Commands that move an organization, killed at any moment: an import has then made everything or nothing, an export has left its file
//! whole or not at all, and the same command again ends well. More rounds: `TENANT_AUTH_CRASH_ROUNDS=100`.

use std::{
    fs,
    process::Stdio,
    thread::sleep,
    time::{Duration, Instant},
};

use rand::RngExt;
use serde_json::Value;
use tenant_auth_conformance::{PostgresServer, empty_postgres};

use crate::{Program, error, faults::link::Link, json};

const MEMBERS: usize = 600;
/// How many people one command brings: it must end within the deadline of a test.
const AT_ONCE: usize = 5_000;
/// Rounds of a usual run.
const ROUNDS: u32 = 20;
const IMPORT: [&str; 7] = ["org", "import", "--in", "acme.taex", "--key-file", "acme.key", "--json"];
const EXPORT: [&str; 9] = ["org", "export", "--slug", "acme", "--out", "acme.taex", "--key-file", "acme.key", "--json"];

/// Makes an organization of so many people.
pub(crate) fn settle(program: &Program, members: usize) {
    json(&program.run(&["org", "create", "--name", "Acme", "--slug", "acme", "--admin-email", "ada@example.com", "--json"]));
    let row =
        |n: usize| format!("{{\"email\":\"p{n}@example.com\",\"name\":\"P {n}\",\"metadata\":{{\"team\":\"research {n}\"}}}}\n");
    for first in (0..members).step_by(AT_ONCE) {
        let rows: String = (first..members.min(first + AT_ONCE)).map(row).collect();
        fs::write(program.path().join("users.ndjson"), rows).expect("the directory is there");
        json(&program.run(&["import", "users", "--org", "acme", "--file", "users.ndjson", "--json"]));
    }
}

fn rounds() -> u32 {
    std::env::var("TENANT_AUTH_CRASH_ROUNDS").map_or(ROUNDS, |text| text.parse().expect("a number of rounds"))
}

/// Runs the command and kills it at a random moment of so long, unless it ended by itself before.
fn kill(program: &Program, arguments: &[&str], longest: Duration) {
    let mut child = program.command(arguments).stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("the program starts");
    sleep(crate::chance().random_range(Duration::ZERO..longest));
    child.kill().expect("it can be killed"); // SIGKILL
    child.wait().expect("it ends");
}

/// What the organization holds, by the portable export; `None` when there is none.
fn content(program: &Program) -> Option<Value> {
    json(&program.run(&["migrate", "--json"])); // an import that was killed early may have made no database
    if json(&program.run(&["org", "list", "--json"]))["organizations"].as_array().is_none_or(Vec::is_empty) {
        return None;
    }
    let name = format!("{}.ndjson", crate::chance().random::<u64>());
    Some(json(&program.run(&["org", "export", "--slug", "acme", "--portable", "--out", &name, "--json"]))["exported"].clone())
}

fn import_survives(target: impl Fn() -> Program) {
    let source = Program::new();
    settle(&source, MEMBERS);
    json(&source.run(&EXPORT));
    let new = || {
        let program = target();
        for name in ["acme.taex", "acme.key"] {
            fs::copy(source.path().join(name), program.path().join(name)).expect("the export wrote both");
        }
        program
    };
    let first = new();
    json(&first.run(&["migrate", "--json"])); // makes the tables
    let begun = Instant::now();
    json(&first.run(&IMPORT));
    let takes = begun.elapsed();
    let whole = content(&first).expect("it is there");
    assert_eq!(whole["members"], MEMBERS);

    let (mut program, mut nothing, mut everything) = (new(), 0, 0);
    for _ in 0..rounds() {
        kill(&program, &IMPORT, takes.mul_f64(1.5));
        match content(&program) {
            None => nothing += 1,
            Some(found) => {
                assert_eq!(found, whole, "everything or nothing");
                assert!(error(&program.run(&IMPORT)).contains("it is here already"));
                everything += 1;
                program = new();
            }
        }
    }
    json(&program.run(&IMPORT));
    assert_eq!(content(&program), Some(whole), "the same command again ends well");
    println!(
        "an import of {MEMBERS} members takes {takes:.1?}; killed, {nothing} times it made nothing and {everything} times everything"
    );
}

#[test]
fn a_killed_import_has_made_everything_or_nothing_on_sqlite() {
    import_survives(Program::new);
}

#[test]
fn a_killed_import_has_made_everything_or_nothing_on_postgresql() {
    if empty_postgres().is_some() {
        import_survives(|| Program::new().with("DATABASE_URL", &empty_postgres().expect("it was there before")));
    }
}

#[test]
fn a_killed_export_leaves_no_half_file_under_its_name() {
    let source = Program::new();
    settle(&source, MEMBERS);
    let begun = Instant::now();
    json(&source.run(&EXPORT));
    let takes = begun.elapsed();
    let [file, partial] = ["acme.taex", "acme.taex.partial"].map(|name| source.path().join(name));
    assert!(!partial.exists());
    let target = Program::new();
    fs::copy(source.path().join("acme.key"), target.path().join("acme.key")).expect("the export wrote it");
    let mut import = IMPORT.to_vec();
    import.push("--dry-run");
    let tries = |from: &std::path::Path| {
        fs::copy(from, target.path().join("acme.taex")).expect("it is there");
        target.run(&import)
    };

    let (mut halves, mut wholes) = (0, 0);
    for _ in 0..rounds() {
        let _ = fs::remove_file(&file);
        kill(&source, &EXPORT, takes.mul_f64(1.2));
        if file.exists() {
            assert_eq!(json(&tries(&file))["imported"]["members"], MEMBERS, "what has its name is whole");
            wholes += 1;
        } else if partial.exists() {
            let tried = tries(&partial);
            if tried.status.success() {
                assert_eq!(json(&tried)["imported"]["members"], MEMBERS, "killed between the last byte and the name");
            }
            halves += 1;
        }
    }
    let _ = fs::remove_file(&file);
    json(&source.run(&EXPORT));
    assert!(!partial.exists(), "what the killed ones left is gone");
    assert_eq!(json(&tries(&file))["imported"]["members"], MEMBERS, "the same command again ends well");
    println!(
        "an export of {MEMBERS} members takes {takes:.1?}; killed, {halves} times it left a partial file, {wholes} times the whole one"
    );
}

/// The organization is suspended, and nothing else holds what it was before.
#[test]
fn an_export_whose_closing_is_not_answered_leaves_the_file_and_its_key() {
    let Some(server) = PostgresServer::start() else { return };
    server.run("CREATE DATABASE auth");
    let link = Link::to(server.port());
    let source = Program::new().with("DATABASE_URL", &format!("postgres://postgres@127.0.0.1:{}/auth", link.port));
    settle(&source, 1);
    link.cut_at_commit();
    let said = error(&source.run(&[EXPORT.as_slice(), &["--close"]].concat()));
    link.mend();
    assert!(said.contains("take acme.taex.partial"), "{said}");
    assert!(!source.path().join("acme.taex").exists());
    assert_eq!(json(&source.run(&["org", "list", "--json"]))["organizations"][0]["status"], "suspended");
    let target = Program::new();
    for (from, to) in [("acme.taex.partial", "acme.taex"), ("acme.key", "acme.key")] {
        fs::copy(source.path().join(from), target.path().join(to)).expect("it stays");
    }
    assert_eq!(json(&target.run(&IMPORT))["imported"]["members"], 1);
}

/// The closing holds one from beginning to end, and the file is read through another.
#[test]
fn an_organization_is_closed_also_where_a_process_may_have_one_connection() {
    let Some(url) = empty_postgres() else { return };
    let source = Program::new().with("DATABASE_URL", &url).with("DATABASE_CONNECTIONS", "1");
    settle(&source, 1);
    json(&source.run(&[EXPORT.as_slice(), &["--close"]].concat()));
    assert_eq!(json(&source.run(&["org", "list", "--json"]))["organizations"][0]["status"], "suspended");
}
