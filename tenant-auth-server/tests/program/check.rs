//! `serve --check`, and what a shell gets: they find what is wrong, and change nothing.

use std::{fs, net::TcpListener, os::unix::fs::PermissionsExt, process::Command};

use serde_json::Value;
use tenant_auth_conformance::{as_postgres_administrator, empty_postgres, free_port, run_sql, smtp::SmtpSink};

use crate::{MASTER_KEY, OTHER_KEY, Program, error, json, running::Running, small_disk::SmallDisk};

/// What was tried, as `part verdict: found`.
fn tried(report: &Value) -> Vec<String> {
    let parts = report["parts"].as_array().expect("a list");
    let text = |part: &Value, name: &str| part[name].as_str().expect("a text").to_owned();
    parts.iter().map(|part| format!("{} {}: {}", text(part, "part"), text(part, "verdict"), text(part, "found"))).collect()
}

#[track_caller]
fn expect(tried: &[String], beginning: &str) {
    assert!(tried.iter().any(|line| line.starts_with(beginning)), "no '{beginning}' in {tried:#?}");
}

#[test]
fn it_tells_what_a_start_would_do_to_a_file_and_does_nothing() {
    let program = Program::new();
    let check = || tried(&json(&program.run(&["serve", "--check", "--json"])));
    expect(&check(), "database ok: is not there; a start creates it");
    assert_eq!(fs::read_dir(program.path()).expect("a directory").count(), 0, "nothing was made");
    json(&program.run(&["migrate", "--json"]));
    let found = check();
    expect(&found, "database ok: is at schema version ");
    assert!(found.iter().any(|line| line.ends_with("a start changes nothing")), "{found:#?}");
    expect(&found, "mail warning: no mail server is set");
    expect(&found, "names ok: localhost is ");
    expect(&found, "address ok: 127.0.0.1:0 is free");
}

fn the_master_key_is_tried(program: Program) {
    let report = |program: &Program| -> Value {
        serde_json::from_slice(&program.run(&["serve", "--check", "--json"]).stdout).expect("a report")
    };
    json(&program.run(&["migrate", "--json"]));
    assert!(!tried(&report(&program)).iter().any(|line| line.starts_with("master key")), "nothing is sealed yet");
    json(&program.run(&["org", "create", "--name", "Acme", "--slug", "acme", "--admin-email", "ada@example.com", "--json"]));
    expect(&tried(&report(&program)), "master key ok: opens the signing keys");
    let another = report(&program.with("MASTER_KEY", OTHER_KEY));
    expect(&tried(&another), "master key failed: TENANT_AUTH_MASTER_KEY opens none of the sealed values in this database");
    expect(&tried(&another), "database ok: ");
    assert_eq!(another["starts"], false);
}

/// A start with another key is refused, which is to be known before the former server was stopped.
#[test]
fn a_master_key_that_opens_nothing_is_found() {
    the_master_key_is_tried(Program::new());
    if let Some(url) = empty_postgres() {
        the_master_key_is_tried(Program::new().with("DATABASE_URL", &url));
    }
}

/// Whoever asks for JSON waits for an outcome, which a server has none of.
#[test]
fn without_check_there_is_nothing_to_print_as_json() {
    let refused = error(&Program::new().run(&["serve", "--json"]));
    assert!(refused.contains("--json goes with --check."), "{refused}");
}

#[test]
fn every_part_is_tried_though_one_failed() {
    let taken = TcpListener::bind("127.0.0.1:0").expect("a port");
    let program = Program::new()
        .with("DATABASE_URL", "postgres://nobody@127.0.0.1:9/nothing")
        .with("SMTP_URL", &format!("smtp://127.0.0.1:{}", free_port()))
        .with("MAIL_FROM", "no-reply@example.com")
        .with("LISTEN", &taken.local_addr().expect("an address").to_string());
    let output = program.run(&["serve", "--check", "--json"]);
    assert_eq!(output.status.code(), Some(1));
    let report: Value = serde_json::from_slice(&output.stdout).expect("a report all the same");
    assert_eq!(report["starts"], false);
    let found = tried(&report);
    expect(&found, "database failed: TENANT_AUTH_DATABASE_URL names a database that does not answer");
    expect(&found, "mail failed: the mail server could not be reached");
    expect(&found, "address warning: 127.0.0.1:");
    let text = program.run(&["serve", "--check"]);
    let text = String::from_utf8_lossy(&text.stdout);
    assert!(text.contains("database   FAILED") && text.contains("names      ok"), "{text}");
    assert!(!text.contains(MASTER_KEY), "{text}");
}

#[tokio::test(flavor = "multi_thread")]
async fn it_greets_the_mail_server_and_sends_nothing() {
    let sink = SmtpSink::start().await;
    let program = Program::new().with("SMTP_URL", &sink.url()).with("MAIL_FROM", "no-reply@example.com");
    let report = tokio::task::spawn_blocking(move || json(&program.run(&["serve", "--check", "--json"]))).await.expect("it ends");
    expect(&tried(&report), "mail ok: the mail server answers and lets us in");
    assert!(sink.taken().is_empty());
}

#[test]
fn it_tells_what_a_start_would_do_to_postgresql() {
    let Some(url) = empty_postgres() else { return };
    let program = Program::new().with("DATABASE_URL", &url);
    let check = |program: &Program| tried(&json(&program.run(&["serve", "--check", "--json"])));
    expect(&check(&program), "database ok: is there, without tables; a start creates them");
    json(&program.run(&["migrate", "--json"]));
    tenant_auth_conformance::run_sql(&url, "DELETE FROM tenant_auth_migrations WHERE version > 24");
    let found = check(&program);
    assert!(found.iter().any(|line| line.contains("is at schema version 24; a start migrates it: deployment_log")), "{found:#?}");
    let (server, database) = url.split_once("?").expect("parameters");
    let other = format!("{server}_missing?{database}");
    expect(&check(&program.with("DATABASE_URL", &other)), "database ok: is not there; a start creates it");
}

/// What a start would do is of no use where it could not do it.
#[test]
fn a_file_that_takes_no_writes_is_found() {
    let place = tempfile::tempdir().expect("a temporary directory");
    let Some(disk) = SmallDisk::mounted_at(place.path(), "3m") else { return };
    let database = format!("sqlite:{}", place.path().join("auth.db").display());
    let program = Program::new().with("DATABASE_URL", &database);
    let check = || tried(&serde_json::from_slice(&program.run(&["serve", "--check", "--json"]).stdout).expect("a report"));
    for is_there in [false, true] {
        if is_there {
            json(&program.run(&["migrate", "--json"]));
        }
        disk.fill();
        let found = check();
        assert!(found.iter().any(|line| line.starts_with("database failed") && line.contains("no room beside")), "{found:#?}");
        disk.free();
        expect(&check(), "database ok: ");
    }
    disk.refuse_writes();
    expect(&check(), "database failed: ");
}

/// Made by root, as by a command that was run with sudo, and not by the user of the service.
#[test]
fn a_file_of_another_user_is_found() {
    let program = Program::new();
    json(&program.run(&["migrate", "--json"]));
    let place = program.path().to_owned();
    let program = program.run_by(&["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]);
    let Ok(tried_first) = program.command(&["completions", "bash"]).output() else { return println!("SKIPPED: no setpriv here") };
    if !tried_first.status.success() {
        return println!("SKIPPED: another user cannot be acted as here (this needs root), or may not read the program");
    }
    let owned = Command::new("chown").arg("65534").arg(&place).status().expect("it runs");
    assert!(owned.success());
    let report = |program: &Program| -> Value {
        serde_json::from_slice(&program.run(&["serve", "--check", "--json"]).stdout).expect("a report")
    };
    for mode in [0o600, 0o644] {
        fs::set_permissions(place.join("auth.db"), fs::Permissions::from_mode(mode)).expect("it is ours");
        expect(&tried(&report(&program)), "database failed: ");
    }
    let owned = Command::new("chown").arg("-R").arg("65534").arg(&place).status().expect("it runs");
    assert!(owned.success());
    expect(&tried(&report(&program)), "database ok: ");
}

#[test]
fn a_user_of_postgresql_without_rights_or_writes_is_found() {
    let Some(url) = empty_postgres() else { return };
    let name = url.split(['/', '?']).find(|part| part.starts_with("empty_")).expect("a name");
    let owner = Program::new().with("DATABASE_URL", &url);
    let set_read_only = |to: &str| {
        as_postgres_administrator(&format!("ALTER DATABASE {name} SET default_transaction_read_only = {to}"));
    };
    let check_of = |program: &Program| {
        let report = program.run(&["serve", "--check", "--json"]);
        tried(&serde_json::from_slice(&report.stdout).expect("a report"))
    };
    set_read_only("on");
    let found = check_of(&owner);
    assert!(found.iter().any(|line| line.starts_with("database failed") && line.contains("takes no writes")), "{found:#?}");
    set_read_only("off");
    json(&owner.run(&["migrate", "--json"]));
    as_postgres_administrator(&format!("CREATE ROLE checked_{name} LOGIN"));
    run_sql(&url, &format!("GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO checked_{name}"));
    let program = Program::new().with("DATABASE_URL", &url.replace("user=postgres", &format!("user=checked_{name}")));
    let check = || check_of(&program);
    expect(&check(), "database ok: ");
    let kept = "IF EXISTS (SELECT FROM tenant_auth_probe) THEN RAISE EXCEPTION 'the write that it tried was kept'; END IF;";
    run_sql(&url, &format!("DO $$ BEGIN {kept} END $$"));
    run_sql(&url, &format!("REVOKE DELETE ON tenant_auth_sessions FROM checked_{name}"));
    let found = check();
    let names = |line: &String| line.starts_with("database failed") && line.contains("write the tables tenant_auth_sessions. ");
    assert!(found.iter().any(names), "{found:#?}");
    run_sql(&url, &format!("GRANT DELETE ON tenant_auth_sessions TO checked_{name}"));
    set_read_only("on");
    expect(&check(), "database failed: ");
}

#[test]
fn a_newer_database_is_told_before_the_upgrade_goes_wrong() {
    let program = Program::new();
    json(&program.run(&["migrate", "--json"]));
    let url = format!("sqlite:{}", program.path().join("auth.db").display());
    let newer = "INSERT INTO tenant_auth_migrations SELECT 9999, description, installed_on, success, checksum, execution_time \
                 FROM tenant_auth_migrations WHERE version = 1";
    tenant_auth_conformance::run_sql(&url, newer);
    let output = program.run(&["serve", "--check", "--json"]);
    let report: Value = serde_json::from_slice(&output.stdout).expect("a report");
    assert!(tried(&report).iter().any(|line| line.contains("newer version of this program") && line.contains("9999")), "{report}");
}

#[test]
fn shells_and_man_know_every_command_without_settings() {
    let program = Program::without_settings().with("PUBLIC_URL", "not a URL");
    for shell in ["bash", "zsh", "fish"] {
        // More than a pipe holds.
        let script = program.command(&["completions", shell]).output().expect("the program runs");
        let script = String::from_utf8(script.stdout).expect("text");
        assert!(["deployment-key", "isolation-check", "cancel-deletion"].iter().all(|word| script.contains(word)), "{shell}");
    }
    assert!(!program.run(&["completions", "cmd.exe"]).status.success());
    assert!(program.run(&["man", "pages"]).status.success());
    for page in ["tenant-auth-server.1", "tenant-auth-server-serve.1", "tenant-auth-server-org-delete.1"] {
        let text = fs::read_to_string(program.path().join("pages").join(page)).expect(page);
        assert!(text.contains(".SH NAME") && text.contains(".SH SYNOPSIS"), "{text}");
    }
}

#[test]
fn the_health_check_follows_the_server() {
    let program = Program::new();
    let server = Running::start(&program, &["serve"]);
    let ask = |address: &str| Program::new().with("LISTEN", address).run(&["health"]);
    assert!(ask(&server.address).status.success());
    let everywhere = format!("0.0.0.0:{}", server.address.rsplit(':').next().expect("a port"));
    assert!(ask(&everywhere).status.success());
    drop(server);
    assert!(error(&ask(&everywhere)).contains("does not answer"));
}
