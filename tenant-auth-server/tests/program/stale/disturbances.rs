//! What happens to the servers and to their database meanwhile, one thing at a time, at random.

use std::{
    sync::{
        PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::Duration,
};

use rand::RngExt;

use super::{
    Tally,
    servers::{Database, Servers},
};
use crate::{chance, faults::link::Link};

/// Disturbs until it is over; then everything runs again.
pub(super) fn go_on_until(is_over: &AtomicBool, tally: &Tally, servers: &Servers) {
    while !is_over.load(Ordering::SeqCst) {
        servers.forget_counts();
        pause(50..600);
        let happened = match chance().random_range(0..12) {
            0..=4 => stop_one(servers),
            5 => restart(servers),
            6 | 7 => third(servers),
            _ => below(servers),
        };
        tally.count(format!("disturbed: {happened}"));
    }
    servers.begin(0);
    servers.begin(1);
}

fn pause(millis: std::ops::Range<u64>) {
    thread::sleep(Duration::from_millis(chance().random_range(millis)));
}

/// Most pauses are about as long as a freshness.
fn stop_one(servers: &Servers) -> &'static str {
    let place = chance().random_range(0..3);
    let most = [60, 300, 2_500][chance().random_range(0..3)];
    servers.stopped(place, || pause(1..most));
    "a server stopped and went on"
}

fn restart(servers: &Servers) -> &'static str {
    let place = chance().random_range(0..2);
    servers.kill(place);
    pause(1..300);
    servers.begin(place);
    "a server killed and started"
}

fn third(servers: &Servers) -> &'static str {
    if servers.is_running(2) {
        servers.kill(2);
        return "the third server killed";
    }
    servers.begin(2);
    "a third server started"
}

fn below(servers: &Servers) -> &'static str {
    let Database::Postgres(server, link) = &servers.database else { return stop_one(servers) };
    let mut server = server.lock().unwrap_or_else(PoisonError::into_inner);
    match chance().random_range(0..12) {
        0 => {
            server.crash();
            pause(1..500);
            server.start_again();
            "the database crashed"
        }
        1 => {
            servers.stopped(1, || {
                server.crash();
                server.start_again();
            });
            "the database crashed beside a stopped server"
        }
        2 => {
            server.freeze();
            pause(1..2_000);
            server.thaw();
            "the database stood still"
        }
        3..=5 => mended_after(link, Link::cut, "the network cut"),
        6 | 7 => mended_after(link, Link::stall, "the network stalled"),
        _ => mended_after(link, Link::cut_at_commit, "connections lost over which a COMMIT was sent"),
    }
}

fn mended_after(link: &Link, disturb: fn(&Link), happened: &'static str) -> &'static str {
    disturb(link);
    pause(1..800);
    link.mend();
    happened
}
