//! More connections than there are connection slots, or files: the network that holds most gives way, and health checks always get through.

use std::{
    io::{Read, Write},
    net::{Ipv4Addr, SocketAddr, TcpStream},
    time::{Duration, Instant},
};

use tokio::{net::TcpSocket, runtime};

use crate::{
    Program,
    metrics::metrics_address,
    running::{DEADLINE, Running, answer, get},
};

const GREEDY: Ipv4Addr = Ipv4Addr::new(127, 0, 0, 1);
/// Of another /24.
const MODEST: Ipv4Addr = Ipv4Addr::new(127, 0, 1, 1);

fn connect_from(source: Ipv4Addr, address: &str) -> TcpStream {
    let runtime = runtime::Builder::new_current_thread().enable_io().build().expect("a runtime");
    let address: SocketAddr = address.parse().expect("an address");
    let stream = runtime.block_on(async {
        let socket = TcpSocket::new_v4()?;
        socket.bind((source, 0).into())?;
        socket.connect(address).await?.into_std()
    });
    let stream = stream.expect("the system connects");
    stream.set_nonblocking(false).expect("it blocks");
    stream.set_read_timeout(Some(DEADLINE)).expect("a timeout can be set");
    stream
}

fn live_from(source: Ipv4Addr, address: &str) -> u16 {
    let mut stream = connect_from(source, address);
    stream.write_all(b"GET /health/live HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n").expect("it reads");
    answer(stream).0
}

fn is_closed(stream: &mut TcpStream) -> bool {
    stream.set_read_timeout(Some(Duration::from_millis(1))).expect("a timeout can be set");
    match stream.read(&mut [0]) {
        Ok(count) => count == 0,
        Err(error) => error.kind() != std::io::ErrorKind::WouldBlock,
    }
}

/// Opens connections that say nothing, more than there are connection slots, and asks from another network.
#[track_caller]
fn others_are_served(server: &Running, silent: usize) {
    let mut silent: Vec<_> = (0..silent).map(|_| connect_from(GREEDY, &server.address)).collect();
    for _ in 0..5 {
        assert_eq!(live_from(MODEST, &server.address), 200, "{}", server.log());
    }
    let metrics = metrics_address(server);
    assert_eq!(get(&metrics, "/health/live").0, 200, "the metrics listener is outside the limit");
    let deadline = Instant::now() + DEADLINE;
    while get(&metrics, "/health/ready").0 != 200 {
        assert!(Instant::now() < deadline, "{}", server.log());
    }
    let closed = silent.iter_mut().filter_map(|stream| is_closed(stream).then_some(())).count();
    assert!(closed > 0 && closed < silent.len(), "{closed} of {} were closed", silent.len());
}

#[test]
fn another_network_is_served_when_one_holds_all_slots() {
    let program = Program::new().with("METRICS_LISTEN", "127.0.0.1:0").with("CONNECTIONS", "32");
    let server = Running::start(&program, &["serve"]);
    others_are_served(&server, 48);
    let (_, text) = get(&metrics_address(&server), "/metrics");
    assert!(text.contains("\ntenant_auth_connections_max 32\n"), "{text}");
    for counted in ["displaced", "refused"] {
        assert!(!text.contains(&format!("\ntenant_auth_connections_{counted}_total 0\n")), "{counted}: {text}");
    }
    assert!(server.log().contains("all connections are taken"), "{}", server.log());
}

#[test]
fn few_files_mean_fewer_connections_and_no_outage() {
    let program = Program::new().with("METRICS_LISTEN", "127.0.0.1:0").with_open_files("-n 256");
    let server = Running::start(&program, &["serve"]);
    assert!(server.log().contains("allows fewer connections"), "{}", server.log());
    others_are_served(&server, 300);
    assert!(!server.log().contains("cannot be accepted"), "{}", server.log());
}

#[test]
fn the_soft_limit_of_files_is_raised_to_the_hard_one() {
    let program = Program::new().with("METRICS_LISTEN", "127.0.0.1:0").with_open_files("-S -n 128 && ulimit -H -n 2000");
    let server = Running::start(&program, &["serve"]);
    let (_, text) = get(&metrics_address(&server), "/metrics");
    assert!(text.contains("\nprocess_max_fds 2000\n") && text.contains("\ntenant_auth_connections_max 1440\n"), "{text}");
}
