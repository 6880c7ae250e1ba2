//! A rolling restart: servers restarted one after the other behind a load balancer that checks their health; no client gets an
//! error.

use std::{
    io::{Read, Write},
    net::TcpStream,
    sync::atomic::{AtomicBool, AtomicUsize, Ordering},
    thread,
    time::{Duration, Instant},
};

use crate::{
    Program,
    running::{DEADLINE, Running},
};

/// Between two health checks, which fail at once.
const CHECKED_EVERY: Duration = Duration::from_millis(500);
const CLIENTS: usize = 4;
/// Seconds, so many that a health check gets through on a busy machine.
const NOTICE: &str = "8";

/// A load balancer that picks in turn among those that were healthy when last asked, and never tries again.
struct Balancer {
    addresses: [String; 2],
    healthy: [AtomicBool; 2],
    turn: AtomicUsize,
    stop: AtomicBool,
    served: AtomicUsize,
    failed: AtomicUsize,
}

impl Balancer {
    fn check_health(&self, index: usize) {
        while !self.stop.load(Ordering::Relaxed) {
            self.healthy[index].store(asks(&self.addresses[index], "/health/ready"), Ordering::Relaxed);
            thread::sleep(CHECKED_EVERY);
        }
    }

    fn load(&self) {
        while !self.stop.load(Ordering::Relaxed) {
            let turn = self.turn.fetch_add(1, Ordering::Relaxed);
            let chosen = [turn % 2, (turn + 1) % 2].into_iter().find(|index| self.healthy[*index].load(Ordering::Relaxed));
            let is_served = chosen.is_some_and(|index| asks(&self.addresses[index], "/api/v1/.well-known/jwks.json"));
            let count = if is_served { &self.served } else { &self.failed };
            count.fetch_add(1, Ordering::Relaxed);
            thread::sleep(Duration::from_millis(5));
        }
    }

    fn wait_until_healthy(&self, index: usize) {
        let deadline = Instant::now() + DEADLINE;
        while !self.healthy[index].load(Ordering::Relaxed) {
            assert!(Instant::now() < deadline, "it is never healthy");
            thread::sleep(Duration::from_millis(20));
        }
    }
}

/// Whether an address answers 200.
fn asks(address: &str, path: &str) -> bool {
    let answered = || {
        let mut stream = TcpStream::connect(address)?;
        stream.set_read_timeout(Some(Duration::from_secs(10)))?;
        write!(stream, "GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")?;
        let mut text = String::new();
        stream.read_to_string(&mut text)?;
        Ok::<_, std::io::Error>(text.starts_with("HTTP/1.1 200 "))
    };
    answered().unwrap_or(false)
}

#[test]
fn a_rolling_restart_under_load_fails_no_request() {
    let first = Program::new().with("DRAIN_NOTICE", NOTICE);
    let database = format!("sqlite:{}", first.path().join("auth.db").display());
    let mut programs = [first, Program::new().with("DATABASE_URL", &database).with("DRAIN_NOTICE", NOTICE)];
    let mut servers = [Running::start(&programs[0], &["serve"]), Running::start(&programs[1], &["serve"])];
    let addresses = [servers[0].address.clone(), servers[1].address.clone()];
    programs = {
        let [first, second] = programs;
        [first.with("LISTEN", &addresses[0]), second.with("LISTEN", &addresses[1])] // started again, they listen where they did
    };
    let balancer = Balancer {
        addresses,
        healthy: [AtomicBool::new(true), AtomicBool::new(true)],
        turn: AtomicUsize::new(0),
        stop: AtomicBool::new(false),
        served: AtomicUsize::new(0),
        failed: AtomicUsize::new(0),
    };
    thread::scope(|threads| {
        threads.spawn(|| balancer.check_health(0));
        threads.spawn(|| balancer.check_health(1));
        for _ in 0..CLIENTS {
            threads.spawn(|| balancer.load());
        }
        for (index, (server, program)) in servers.iter_mut().zip(&programs).enumerate() {
            thread::sleep(Duration::from_millis(300));
            server.terminate();
            assert!(server.ended().success(), "{}", server.log());
            *server = Running::start(program, &["serve"]);
            balancer.wait_until_healthy(index);
        }
        balancer.stop.store(true, Ordering::Relaxed);
    });
    let (served, failed) = (balancer.served.into_inner(), balancer.failed.into_inner());
    println!("{served} requests served, {failed} failed");
    assert!(served > 100 && failed == 0, "{failed} of {} failed", served + failed);
}
