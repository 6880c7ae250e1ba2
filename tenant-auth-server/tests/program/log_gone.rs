//! A log that cannot be written: a full volume, a collector that died, or one that stands still. It costs the log lines and nothing else.

use std::{
    fs::File,
    io::{self, Write},
    net::{TcpListener, TcpStream},
    process::{Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use crate::{
    Program, json,
    metrics::metrics_address,
    running::{DEADLINE, Running, get},
};

/// Longer than the stop of an idle server takes without a notice, and shorter than a supervisor's patience.
const STOPS_WITHIN: Duration = Duration::from_secs(20);

/// How long a start waits for its lines to be written.
const WAITS_FOR_THE_LOG: Duration = Duration::from_secs(2);

fn with_many_lines() -> Program {
    Program::new().with("LOG", "trace").with("METRICS_LISTEN", "127.0.0.1:0").with("DRAIN_NOTICE", "0")
}

/// Each request leaves lines in the log, if there were one.
#[track_caller]
fn serves_on(mut server: Running) {
    let metrics = metrics_address(&server);
    let until = Instant::now() + Duration::from_secs(1);
    let deadline = Instant::now() + 4 * DEADLINE; // there may be a mebibyte of lines to write first, on a busy machine
    let lost = |text: &str| {
        let lost = text.lines().find_map(|line| line.strip_prefix("tenant_auth_log_lines_lost_total "));
        lost.is_some_and(|lost| lost != "0")
    };
    let mut text = String::new();
    while Instant::now() < until || !lost(&text) {
        assert!(Instant::now() < deadline, "nothing is lost: {text}");
        for _ in 0..20 {
            assert_eq!(server.get("/health/ready").0, 200);
            assert_eq!(server.get("/api/v1/.well-known/jwks.json").0, 200);
        }
        text = get(&metrics, "/metrics").1;
    }
    let told = Instant::now();
    server.terminate();
    assert!(server.ended().success());
    assert!(told.elapsed() < STOPS_WITHIN, "{:?}", told.elapsed());
}

#[test]
fn a_full_log_volume_costs_nothing_but_the_log() {
    let program = with_many_lines();
    serves_on(Running::with_log(&program, &["serve"], File::options().write(true).open("/dev/full").expect("Linux has one")));
}

#[test]
fn a_log_pipe_that_nobody_reads_any_more_costs_nothing_but_the_log() {
    let program = with_many_lines();
    serves_on(Running::with_log(&program, &["serve"], Stdio::piped()));
}

#[test]
fn a_log_pipe_whose_reader_stands_still_costs_nothing_but_the_log() {
    let program = with_many_lines();
    let (unread, log) = std::io::pipe().expect("a pipe");
    serves_on(Running::with_log(&program, &["serve"], log));
    drop(unread);
}

/// How long a server takes to start and stop, whose log goes to a pipe that is full or that somebody reads.
fn starting(program: &Program, is_read: bool) -> Duration {
    let (mut reader, log) = std::io::pipe().expect("a pipe");
    let mut lines = log.try_clone().expect("another end");
    let (reading, filling) = match is_read {
        true => (Some(thread::spawn(move || io::copy(&mut reader, &mut io::sink()))), None),
        false => (None, Some((reader, thread::spawn(move || while lines.write_all(&[b'\n'; 4_096]).is_ok() {})))),
    };
    thread::sleep(Duration::from_millis(200));
    let began = Instant::now();
    let mut server = Running::with_log(program, &["serve"], log);
    let took = began.elapsed();
    if let Some((reader, filling)) = filling {
        drop(reader);
        filling.join().expect("it ends with the reader");
    }
    server.terminate();
    assert!(server.ended().success());
    drop(reading);
    took
}

/// However many addresses it prints.
#[test]
fn a_start_waits_once_for_a_log_whose_reader_stands_still() {
    let program = with_many_lines();
    // A busy machine takes long to start, too.
    let once = |_| starting(&program, false) < starting(&program, true) + WAITS_FOR_THE_LOG * 3 / 2;
    assert!((0..10).any(once), "it waits more than once");
}

fn free_address() -> String {
    let free = TcpListener::bind("127.0.0.1:0").expect("a port");
    free.local_addr().expect("an address").to_string()
}

/// Of one reader for both, which is how a supervisor without a journal reads.
#[test]
fn a_server_works_and_stops_also_where_its_address_cannot_be_told() {
    let (listen, metrics) = (free_address(), free_address());
    let program = with_many_lines().with("LISTEN", &listen).with("METRICS_LISTEN", &metrics);
    let (unread, both) = std::io::pipe().expect("a pipe");
    let mut lines = both.try_clone().expect("another end");
    let filling = thread::spawn(move || while lines.write_all(&[b'\n'; 4_096]).is_ok() {});
    thread::sleep(Duration::from_millis(200));
    let mut command = program.command(&["serve"]);
    let mut server = command.stdout(both.try_clone().expect("another end")).stderr(both).spawn().expect("it starts");
    let until = Instant::now() + DEADLINE;
    let answers = || {
        let answer = TcpStream::connect(&metrics).ok().map(|_| get(&metrics, "/metrics").1);
        answer.is_some_and(|text| text.contains("tenant_auth_worker_last_round_age_seconds"))
    };
    while !answers() {
        assert!(Instant::now() < until, "its worker works");
        thread::sleep(Duration::from_millis(50));
    }
    let told = Instant::now();
    assert!(Command::new("kill").arg(server.id().to_string()).status().expect("kill runs").success());
    while server.try_wait().expect("a child").is_none() {
        if told.elapsed() > STOPS_WITHIN {
            server.kill().expect("a child");
            panic!("it does not stop");
        }
        thread::sleep(Duration::from_millis(50));
    }
    drop(unread);
    filling.join().expect("it ends with the reader");
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
