//! `isolation-check`: a sound deployment is found isolated and left as it was; a hole is found, whatever its kind, and not used.

mod leaky;

use std::{
    fs::File,
    process::{Output, Stdio},
};

use serde_json::{Value, json};
use tenant_auth_conformance::{Adapter, Neighbours};

use crate::Program;
use leaky::{Leaky, Seen};

/// Runs the check at an address.
async fn check(neighbours: &Neighbours, address: std::net::SocketAddr, more: &[&str]) -> Output {
    let program = Program::new();
    let url = format!("http://{address}");
    let arguments = [&["isolation-check", "--url", &url, "--org-a", "acme", "--org-b", "globex"], more].concat();
    let mut command = program.command(&arguments);
    command.envs(neighbours.environment());
    tokio::task::spawn_blocking(move || command.output().expect("the program runs")).await.expect("it ends")
}

/// The report of a check that ended with this code.
#[track_caller]
fn report(output: &Output, code: i32) -> Value {
    let (stdout, stderr) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert_eq!(output.status.code(), Some(code), "{stdout}{stderr}");
    serde_json::from_str(&stdout).unwrap_or_else(|error| panic!("{error}: {stdout}{stderr}"))
}

/// The attempts that came out so, by what was asked.
fn of_outcome<'a>(report: &'a Value, outcome: &str) -> Vec<&'a Value> {
    let attempts = report["attempts"].as_array().expect("a list").iter();
    attempts.filter(|attempt| attempt["outcome"] == outcome).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_sound_deployment_is_isolated_on_either_adapter_and_left_as_it_was() {
    for adapter in [Adapter::Axum, Adapter::Actix] {
        let neighbours = Neighbours::start(adapter).await;
        let before = neighbours.seen().await;
        for more in [&["--json"][..], &["--json", "--at-risk"]] {
            let report = report(&check(&neighbours, neighbours.address(), more).await, 0);
            assert_eq!(report["verdict"], "isolated", "{report:#}");
            assert_eq!(of_outcome(&report, "kept").len(), report["attempts"].as_array().expect("a list").len());
            assert!(of_outcome(&report, "kept").len() > 800, "{}", of_outcome(&report, "kept").len());
            assert_eq!(report["wanting"], json!([]), "each id that was tried exists");
        }
        assert_eq!(neighbours.seen().await, before);
        let output = check(&neighbours, neighbours.address(), &[]).await;
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(output.status.success() && text.contains("\nIsolated: every attempt was refused"), "{text}");
        assert!(text.contains("\nGET /org/members "), "{text}");
        for (name, value) in neighbours.environment() {
            assert!(!text.contains(&value) || name.ends_with("EMAIL"), "{name} is told");
        }
    }
}

/// Runs the check at a server with a hole, and expects that it is found where it is, and that nothing came of it.
async fn expect_found(neighbours: &Neighbours, hole: fn(&Seen) -> bool, operation: &str) {
    let (before, token) = (neighbours.seen().await, neighbours.token_at_globex().await);
    let leaky = Leaky::start(neighbours.address(), token, hole);
    let report = report(&check(neighbours, leaky.address(), &["--json"]).await, 1);
    let holes = of_outcome(&report, "hole");
    assert!(!holes.is_empty() && holes.iter().all(|hole| hole["operation"] == operation), "{holes:#?}");
    assert!(holes.iter().all(|hole| hole["with"] == "acme" && hole["at"] == "globex"), "{holes:#?}");
    assert_eq!(neighbours.seen().await, before, "the hole at {operation} was used");
}

#[tokio::test(flavor = "multi_thread")]
async fn every_kind_of_hole_is_found_and_not_used() {
    let neighbours = Neighbours::start(Adapter::Axum).await;
    // Somebody else's session counts: what is read, changed, and changed without a body.
    expect_found(&neighbours, |seen| at(seen, "GET", "/org/members"), "GET /org/members").await;
    expect_found(&neighbours, |seen| at(seen, "PATCH", "/org"), "PATCH /org").await;
    expect_found(
        &neighbours,
        |seen| {
            seen.method == "DELETE" && seen.is_foreign && seen.path.starts_with("/org/members/") && !seen.path.contains("/sessions")
        },
        "DELETE /org/members/{userId}",
    )
    .await;
    // An id is looked up in every organization.
    let by_id = |seen: &Seen| seen.method == "PUT" && seen.slug == "acme" && seen.names_globex && seen.path.ends_with("/role");
    expect_found(&neighbours, by_id, "PUT /org/members/{userId}/role").await;
    let by_id = |seen: &Seen| {
        seen.method == "GET"
            && seen.names_globex
            && seen.path.starts_with("/org/webhooks/whk_")
            && !seen.path.contains("/deliveries")
    };
    expect_found(&neighbours, by_id, "GET /org/webhooks/{id}").await;
}

fn at(seen: &Seen, method: &str, path: &str) -> bool {
    seen.method == method && seen.is_foreign && seen.path == path
}

#[tokio::test(flavor = "multi_thread")]
async fn a_report_that_cannot_be_printed_is_no_finding() {
    let neighbours = Neighbours::start(Adapter::Axum).await;
    let program = Program::new();
    let url = format!("http://{}", neighbours.address());
    let mut command = program.command(&["isolation-check", "--url", &url, "--org-a", "acme", "--org-b", "globex"]);
    command.envs(neighbours.environment()).stderr(Stdio::null());
    command.stdout(File::options().write(true).open("/dev/full").expect("Linux has one"));
    let status = tokio::task::spawn_blocking(move || command.status().expect("the program runs")).await.expect("it ends");
    assert_eq!(status.code(), Some(2));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_cannot_be_checked_is_no_finding() {
    let neighbours = Neighbours::start(Adapter::Axum).await;
    let program = Program::new();
    let run = |change: fn(&mut Vec<(String, String)>), url: String| {
        let mut environment = neighbours.environment();
        change(&mut environment);
        let mut command = program.command(&["isolation-check", "--url", &url, "--org-a", "acme", "--org-b", "globex"]);
        command.envs(environment);
        tokio::task::spawn_blocking(move || command.output().expect("the program runs"))
    };
    let here = format!("http://{}", neighbours.address());
    let without_key = |environment: &mut Vec<(String, String)>| environment.retain(|(name, _)| name != "ISOLATION_B_API_KEY");
    let wrong_password = |environment: &mut Vec<(String, String)>| {
        environment.retain(|(name, _)| name != "ISOLATION_B_PASSWORD");
        environment.push(("ISOLATION_B_PASSWORD".to_owned(), "not-the-password".to_owned()));
    };
    let plain_member = |environment: &mut Vec<(String, String)>| {
        environment.retain(|(name, _)| name != "ISOLATION_B_EMAIL");
        environment.push(("ISOLATION_B_EMAIL".to_owned(), "pat@globex.example".to_owned()));
    };
    for (output, said) in [
        (run(without_key, here.clone()), "ISOLATION_B_API_KEY is not set"),
        (run(wrong_password, here.clone()), "olga@globex.example is not logged in: 401 invalid_credentials"),
        (run(plain_member, here.clone()), "GET /org/invites with the session of its org_admin: the answer was 403"),
        (run(|_| (), "http://auth.example.com".to_owned()), "--url must be https"),
        (run(|_| (), "http://127.0.0.1:9".to_owned()), "openapi.json cannot be read"),
    ] {
        let output = output.await.expect("it ends");
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{stderr}");
        assert!(stderr.contains(said) && output.stdout.is_empty(), "{stderr}");
    }
}
