//! The client's IP address: the socket's, or, when the socket is a trusted proxy, the rightmost address of `X-Forwarded-For` that
//! is not a trusted proxy. No other header is believed, and nothing to the left of an untrusted hop, because clients can forge
//! both. Where every hop is a trusted proxy, the rightmost counts: a client among trusted addresses can forge the others.

use std::{
    net::{IpAddr, SocketAddr},
    sync::Once,
};

use ::http::HeaderMap;
use ipnet::IpNet;

use crate::value::canonical_network;

static WITHOUT_PEER: Once = Once::new();
static UNTRUSTED_PROXY: Once = Once::new();

/// Finds the client's address; `None` when the socket's address is not known, which the log tells once.
pub(crate) fn of(trusted_proxies: &[IpNet], peer: Option<IpAddr>, headers: &HeaderMap) -> Option<IpAddr> {
    let trusts = |hop: IpAddr| trusted_proxies.iter().any(|net| canonical_network(*net).contains(&hop));
    let Some(peer) = peer else {
        WITHOUT_PEER.call_once(|| {
            tracing::error!(
                "the socket's address of a request is not known: nothing is counted by client addresses; \
                 on axum, serve with into_make_service_with_connect_info"
            );
        });
        return None;
    };
    let peer = peer.to_canonical();
    if !trusts(peer) {
        if is_unnamed_proxy(peer, headers) {
            UNTRUSTED_PROXY.call_once(|| {
                tracing::warn!(
                    %peer,
                    "a request from a private address that is no trusted proxy states X-Forwarded-For, which is not believed; \
                     if it is your proxy, everybody behind it counts as one client: name it among the trusted proxies"
                );
            });
        }
        return Some(peer);
    }
    let mut rightmost = None;
    for value in headers.get_all("x-forwarded-for").iter().rev() {
        // Hop by hop: a proxy appends to the line of its client, who must not spoil what the proxy says.
        for hop in value.as_bytes().rsplit(|byte| *byte == b',') {
            let hop = std::str::from_utf8(hop).ok().and_then(|hop| address(hop.trim()));
            let Some(hop) = hop else { return rightmost.or(Some(peer)) };
            if !trusts(hop) {
                return Some(hop);
            }
            rightmost.get_or_insert(hop);
        }
    }
    rightmost.or(Some(peer))
}

/// Whether this looks like a proxy that the settings forgot. Whoever comes from the internet may state the header at will.
fn is_unnamed_proxy(peer: IpAddr, headers: &HeaderMap) -> bool {
    let is_near = match peer {
        IpAddr::V4(peer) => peer.is_loopback() || peer.is_private(),
        IpAddr::V6(peer) => peer.is_loopback() || peer.is_unique_local(),
    };
    is_near && headers.contains_key("x-forwarded-for")
}

/// Parses an address with or without a port, as proxies write it.
fn address(text: &str) -> Option<IpAddr> {
    let bare = text.trim_start_matches('[').trim_end_matches(']');
    bare.parse().ok().or_else(|| text.parse::<SocketAddr>().ok().map(|socket| socket.ip())).map(|ip: IpAddr| ip.to_canonical())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(proxies: &[&str], peer: &str, forwarded: &[&str]) -> String {
        let mut headers = HeaderMap::new();
        for value in forwarded {
            headers.append("x-forwarded-for", value.parse().expect("a header value"));
        }
        let proxies: Vec<IpNet> = proxies.iter().map(|net| net.parse().expect("a CIDR")).collect();
        of(&proxies, peer.parse().ok(), &headers).map(|ip| ip.to_string()).unwrap_or_default()
    }

    #[test]
    fn an_untrusted_socket_is_the_client_whatever_it_says() {
        assert_eq!(seen(&[], "203.0.113.9", &["198.51.100.1"]), "203.0.113.9");
        assert_eq!(seen(&["10.0.0.0/8"], "203.0.113.9", &["198.51.100.1"]), "203.0.113.9");
    }

    #[test]
    fn behind_trusted_proxies_the_rightmost_untrusted_hop_is_the_client() {
        assert_eq!(seen(&["10.0.0.0/8"], "10.0.0.1", &["1.2.3.4, 198.51.100.1, 10.0.0.2"]), "198.51.100.1");
        assert_eq!(seen(&["10.0.0.0/8"], "10.0.0.1", &["1.2.3.4", "198.51.100.1:4711"]), "198.51.100.1");
        assert_eq!(seen(&["10.0.0.0/8"], "::ffff:10.0.0.1", &["[2001:db8::1]"]), "2001:db8::1");
        assert_eq!(seen(&["10.0.0.0/8"], "10.0.0.1", &["1.2.3.4, nonsense, 10.0.0.2"]), "10.0.0.2", "nothing left of nonsense");
        assert_eq!(seen(&["10.0.0.0/8"], "10.0.0.1", &[]), "10.0.0.1");
        assert_eq!(seen(&["::ffff:10.0.0.0/104"], "10.0.0.1", &["198.51.100.1, 10.0.0.2"]), "198.51.100.1");
        assert_eq!(seen(&["::/0"], "10.0.0.1", &["198.51.100.1"]), "10.0.0.1", "IPv6 alone");
    }

    #[test]
    fn a_client_cannot_spoil_what_its_proxy_appends() {
        let line = ::http::HeaderValue::from_bytes(b"\xff\xfe, 198.51.100.1").expect("hyper takes it");
        let headers = HeaderMap::from_iter([(::http::header::HeaderName::from_static("x-forwarded-for"), line)]);
        let proxies = ["10.0.0.0/8".parse().expect("a CIDR")];
        assert_eq!(of(&proxies, "10.0.0.1".parse().ok(), &headers), "198.51.100.1".parse().ok());
    }

    #[test]
    fn a_proxy_that_the_settings_forgot_is_told_from_a_client() {
        let headers = HeaderMap::from_iter([(
            ::http::header::HeaderName::from_static("x-forwarded-for"),
            "1.2.3.4".parse().expect("a value"),
        )]);
        for (peer, is_proxy) in [("127.0.0.1", true), ("10.1.2.3", true), ("::1", true), ("fd00::1", true), ("203.0.113.9", false)]
        {
            let peer = peer.parse().expect("an address");
            assert_eq!(is_unnamed_proxy(peer, &headers), is_proxy, "{peer}");
            assert!(!is_unnamed_proxy(peer, &HeaderMap::new()), "{peer}");
        }
    }

    #[test]
    fn where_every_hop_is_trusted_the_rightmost_is_the_client() {
        assert_eq!(seen(&["10.0.0.0/8"], "10.0.0.1", &["10.6.6.6, 10.1.1.1, 10.0.0.2"]), "10.0.0.2");
        assert_eq!(seen(&["10.0.0.0/8"], "10.0.0.1", &["10.6.6.6", "10.1.1.1"]), "10.1.1.1");
        assert_eq!(seen(&["10.0.0.0/8"], "10.0.0.1", &["10.6.6.6, nonsense, 10.1.1.1, 10.0.0.2"]), "10.0.0.2");
    }
}
