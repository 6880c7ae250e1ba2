//! The command `health`: asks the server on this machine whether it is ready, for a supervisor whose image has no other client.

use std::{
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr},
    time::Duration,
};

use crate::{
    failure::Failure,
    settings::{self, Input},
};

/// Longer than a server that has lost its database takes to say so.
const PATIENCE: Duration = Duration::from_secs(3);

/// # Errors
/// [`Failure::Service`] when it does not answer, or is not ready.
pub(super) async fn run(input: &Input) -> Result<(), Failure> {
    let address = reachable(settings::for_health(input)?);
    let client = reqwest::Client::builder().no_proxy().timeout(PATIENCE).build();
    let client = client.map_err(|error| Failure::Service(format!("No client can be made: {error}")))?;
    let answer = client.get(format!("http://{address}/health/ready")).send().await;
    match answer.map(|answer| answer.status()) {
        Ok(status) if status.is_success() => Ok(()),
        Ok(status) => Err(Failure::Service(format!("The server at {address} is not ready: it answered {}.", status.as_u16()))),
        Err(error) => Err(Failure::Service(format!("The server at {address} does not answer: {error}"))),
    }
}

/// Where a client on this machine reaches a server that listens here.
fn reachable(listen: SocketAddr) -> SocketAddr {
    match listen.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => (Ipv4Addr::LOCALHOST, listen.port()).into(),
        IpAddr::V6(ip) if ip.is_unspecified() => (Ipv6Addr::LOCALHOST, listen.port()).into(),
        _ => listen,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_on_every_address_is_reached_on_this_machine() {
        for (listen, reached) in [("0.0.0.0:80", "127.0.0.1:80"), ("[::]:80", "[::1]:80"), ("10.0.0.7:80", "10.0.0.7:80")] {
            assert_eq!(reachable(listen.parse().expect("an address")).to_string(), reached);
        }
    }
}
