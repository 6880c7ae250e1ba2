//! Loopback hosts: the hosts of URLs that are this machine itself, where plain http is as safe as https. There are two rules,
//! because a name is only as trustworthy as its resolver.

use std::net::IpAddr;

use url::{Host, Url};

/// Whether the host of a URL that browsers open is this machine: a loopback address, `localhost`, or a name below `localhost`, which
/// browsers resolve to this machine without a network (RFC 6761, section 6.3).
pub fn is_loopback(url: &Url) -> bool {
    match url.host() {
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        Some(Host::Domain(name)) => name == "localhost" || name.ends_with(".localhost"),
        None => false,
    }
}

/// The same of a URL to which this process sends a key or a password, or whose answer it believes: a loopback address or `localhost`.
/// Names below `localhost` do not count, because the system's resolver may ask the network for them.
pub fn is_loopback_for_secrets(url: &Url) -> bool {
    match url.host() {
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        // The URL parser leaves an IPv4 address a name where the scheme is not one of the web's, such as `smtp`.
        Some(Host::Domain(name)) => name == "localhost" || name.parse::<IpAddr>().is_ok_and(|address| address.is_loopback()),
        None => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(text: &str) -> Url {
        Url::parse(text).expect("a URL")
    }

    #[test]
    fn this_machine_is_known_by_its_addresses_and_its_name() {
        for own in ["http://127.0.0.1:8080", "http://[::1]", "http://localhost"] {
            assert!(is_loopback(&url(own)), "{own}");
        }
        for other in ["http://10.0.0.1", "http://localhost.example.com", "http://notlocalhost", "http://[::2]"] {
            assert!(!is_loopback(&url(other)), "{other}");
        }
        assert!(is_loopback(&url("http://acme.localhost")));
    }

    #[test]
    fn secrets_go_to_no_name_that_a_resolver_could_send_elsewhere() {
        for own in
            ["http://127.0.0.1", "http://[::1]", "http://localhost", "smtp://127.0.0.1:2525", "smtp://[::1]", "smtp://localhost"]
        {
            assert!(is_loopback_for_secrets(&url(own)), "{own}");
        }
        for other in ["http://acme.localhost", "smtp://mail.localhost", "http://192.168.0.1", "smtp://192.168.0.1"] {
            assert!(!is_loopback_for_secrets(&url(other)), "{other}");
        }
    }
}
