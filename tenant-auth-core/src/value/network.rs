//! A network, as an operator names those from which a credential may be used.

use std::net::IpAddr;

use ipnet::{IpNet, Ipv4Net};

use super::{Rejected, text_value};

/// A network in CIDR notation (RFC 4632), such as `203.0.113.0/24`; a single address is a network of one.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Network(String);

text_value!(
    Network,
    Text { means: "A network in CIDR notation.", min: Some(1), example: Some("203.0.113.0/24"), ..Text::default() }
);

impl Network {
    /// Reads a network or a single address.
    ///
    /// # Errors
    /// [`Rejected`], saying what it must be.
    pub fn parse(text: &str) -> Result<Self, Rejected> {
        let network = parsed(text).ok_or_else(|| Rejected::because("must be a network such as 203.0.113.0/24, or an address"))?;
        Ok(Self(network.trunc().to_string()))
    }

    /// The network in normal form.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether the address is of this network.
    pub fn contains(&self, address: IpAddr) -> bool {
        parsed(&self.0).is_some_and(|network| network.contains(&address.to_canonical()))
    }
}

pub(crate) fn parsed(text: &str) -> Option<IpNet> {
    text.parse().ok().or_else(|| text.parse::<IpAddr>().ok().map(IpNet::from)).map(canonical)
}

/// IPv4 networks that are written as IPv6 (`::ffff:10.0.0.0/104`) as what they are: clients' addresses are compared in that form.
pub(crate) fn canonical(network: IpNet) -> IpNet {
    const MAPPED: u8 = 96;
    let IpNet::V6(six) = network else { return network };
    let four = six.network().to_ipv4_mapped().filter(|_| six.prefix_len() >= MAPPED);
    four.and_then(|four| Ipv4Net::new(four, six.prefix_len() - MAPPED).ok()).map_or(network, IpNet::V4)
}

/// Refuses trusted proxies among which everybody is (`/0`, in either form): anybody could then state any address, which limits count by.
pub(crate) fn refuse_everybody<'a>(proxies: impl IntoIterator<Item = &'a IpNet>) -> Result<(), Rejected> {
    if proxies.into_iter().any(|network| canonical(*network).prefix_len() == 0) {
        return Err(Rejected::because(
            "must not hold every address: anybody could then state any address in X-Forwarded-For. Give your proxies' networks",
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_network_has_one_form_and_knows_its_own() {
        let form = |text: &str| Network::parse(text).map(|network| network.as_str().to_owned());
        assert_eq!(form("203.0.113.9/24").as_deref(), Ok("203.0.113.0/24"));
        assert_eq!(form("203.0.113.9").as_deref(), Ok("203.0.113.9/32"));
        assert_eq!(form("::ffff:203.0.113.9").as_deref(), Ok("203.0.113.9/32"));
        assert_eq!(form("::ffff:203.0.113.9/120").as_deref(), Ok("203.0.113.0/24"));
        assert_eq!(form("2001:db8::1/32").as_deref(), Ok("2001:db8::/32"));
        for none in ["", "203.0.113.0/33", "example.com", "203.0.113.0/24 ", "10.0.0.0/8,::/0"] {
            assert!(form(none).is_err(), "{none}");
        }
        let network = Network::parse("203.0.113.0/24").expect("a network");
        assert!(network.contains([203, 0, 113, 255].into()) && !network.contains([203, 0, 114, 0].into()));
        assert!(network.contains("::ffff:203.0.113.1".parse().expect("an address")));
        assert!(!network.contains("2001:db8::1".parse().expect("an address")));
    }

    #[test]
    fn everybody_is_no_proxy_in_either_form() {
        let judged = |text: &str| refuse_everybody(&["10.0.0.0/8", text].map(|text| text.parse::<IpNet>().expect("a network")));
        for everybody in ["0.0.0.0/0", "::/0", "::ffff:0:0/96"] {
            assert!(judged(everybody).is_err(), "{everybody}");
        }
        for some in ["192.0.2.1/32", "::/1", "::ffff:10.0.0.0/104"] {
            assert!(judged(some).is_ok(), "{some}");
        }
    }
}
