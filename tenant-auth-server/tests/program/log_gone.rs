//! A log that cannot be written: a full volume, or a collector that died. It costs the log lines and nothing else.

use std::{
    fs::File,
    process::Stdio,
    time::{Duration, Instant},
};

use crate::{
    Program, json,
    metrics::metrics_address,
    running::{Running, get},
};

/// Each request leaves lines in the log, if there were one.
#[track_caller]
fn serves_on(mut server: Running) {
    let metrics = metrics_address(&server);
    let until = Instant::now() + Duration::from_secs(1);
    while Instant::now() < until {
        assert_eq!(server.get("/health/ready").0, 200);
        assert_eq!(server.get("/api/v1/.well-known/jwks.json").0, 200);
    }
    let (_, text) = get(&metrics, "/metrics");
    let lost = text.lines().find_map(|line| line.strip_prefix("tenant_auth_log_lines_lost_total "));
    assert!(lost.is_some_and(|lost| lost != "0"), "{text}");
    server.terminate();
    assert!(server.ended().success());
}

#[test]
fn a_full_log_volume_costs_nothing_but_the_log() {
    let program = Program::new().with("LOG", "trace").with("METRICS_LISTEN", "127.0.0.1:0");
    serves_on(Running::with_log(&program, &["serve"], File::options().write(true).open("/dev/full").expect("Linux has one")));
}

#[test]
fn a_log_pipe_that_nobody_reads_any_more_costs_nothing_but_the_log() {
    let program = Program::new().with("LOG", "trace").with("METRICS_LISTEN", "127.0.0.1:0");
    serves_on(Running::with_log(&program, &["serve"], Stdio::piped()));
}

#[test]
fn a_refusal_that_cannot_be_told_is_still_an_exit_code() {
    let full = || File::options().write(true).open("/dev/full").expect("Linux has one");
    let program = Program::new();
    json(&program.run(&["migrate", "--json"]));
    let status = program.command(&["org", "list"]).stdout(full()).stderr(full()).status().expect("it runs");
    assert_eq!(status.code(), Some(1), "what was asked for could not be printed");
    let program = program.without("PUBLIC_URL");
    let status = program.command(&["serve"]).stdout(full()).stderr(full()).status().expect("it runs");
    assert_eq!(status.code(), Some(1));
}
