//! Ports for programs that cannot be given a socket that is open already.

use std::{
    net::{Ipv4Addr, TcpListener},
    sync::atomic::{AtomicU16, Ordering},
};

/// Below the ports from which systems take one for a connection that goes out: a port that was free a moment ago and is asked of the
/// system again may be anybody's by then, and a server that was stopped would not get its own back.
const FIRST: u16 = 12_000;
const COUNT: u16 = 18_000;

/// A port of loopback on which nobody listens, another one with each call. Processes that run at once begin at different places.
///
/// # Panics
/// Where none is left.
pub fn free_port() -> u16 {
    static CALLS: AtomicU16 = AtomicU16::new(0);
    let start = std::process::id().wrapping_mul(251);
    let mut candidates = std::iter::repeat_with(|| {
        let call = u32::from(CALLS.fetch_add(1, Ordering::Relaxed));
        FIRST + u16::try_from(start.wrapping_add(call) % u32::from(COUNT)).expect("it is below COUNT")
    });
    candidates
        .by_ref()
        .take(usize::from(COUNT))
        .find(|port| TcpListener::bind((Ipv4Addr::LOCALHOST, *port)).is_ok())
        .expect("a port on which nobody listens")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_call_gives_another_port_outside_those_of_connections() {
        let ports = [free_port(), free_port(), free_port()];
        assert!(ports.iter().all(|port| (FIRST..FIRST + COUNT).contains(port)), "{ports:?}");
        assert!(ports[0] != ports[1] && ports[1] != ports[2] && ports[0] != ports[2], "{ports:?}");
    }

    #[test]
    fn a_port_on_which_somebody_listens_is_not_given() {
        let port = free_port();
        let next = if port + 1 < FIRST + COUNT { port + 1 } else { FIRST };
        let Ok(_taken) = TcpListener::bind((Ipv4Addr::LOCALHOST, next)) else { return };
        assert_ne!(free_port(), next);
    }
}
