//! The ranges are written down a second time here, as the registries print them, so that a slip in the table is a failing test.

use std::net::{Ipv4Addr, Ipv6Addr};

use ipnet::{IpNet, Ipv4Net, Ipv6Net};
use proptest::{prelude::*, sample::select, test_runner::Config};

use super::*;

mod names;

/// Private where the operator allows private networks.
const PRIVATE: &[&str] = &["10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "::1/128", "fc00::/7"];

/// Both registries, their multicast neighbours and what is refused beyond them.
const SPECIAL: &[&str] = &[
    "0.0.0.0/8",
    "0.0.0.0/32",
    "169.254.0.0/16",
    "192.0.0.0/24",
    "192.0.0.0/29",
    "192.0.0.8/32",
    "192.0.0.9/32",
    "192.0.0.10/32",
    "192.0.0.170/31",
    "192.0.2.0/24",
    "192.31.196.0/24",
    "192.52.193.0/24",
    "192.88.99.0/24",
    "192.175.48.0/24",
    "198.18.0.0/15",
    "198.51.100.0/24",
    "203.0.113.0/24",
    "224.0.0.0/4",
    "240.0.0.0/4",
    "255.255.255.255/32",
    "168.63.129.16/32",
    "100.100.100.200/32",
    "::/128",
    "::ffff:0:0/96",
    "::/96",
    "::ffff:0:0:0/96",
    "64:ff9b::/96",
    "64:ff9b:1::/48",
    "100::/64",
    "100:0:0:1::/64",
    "2001::/23",
    "2001::/32",
    "2001:1::1/128",
    "2001:1::2/128",
    "2001:1::3/128",
    "2001:2::/48",
    "2001:3::/32",
    "2001:4:112::/48",
    "2001:10::/28",
    "2001:20::/28",
    "2001:30::/28",
    "2001:db8::/32",
    "2002::/16",
    "2620:4f:8000::/48",
    "3fff::/20",
    "5f00::/16",
    "fd00:ec2::/32",
    "fe80::/10",
    "fec0::/10",
    "ff00::/8",
    "::/3",
    "4000::/2",
    "8000::/2",
    "c000::/3",
    "e000::/4",
    "f000::/5",
    "f800::/6",
];

const STRICT: Targets = Targets { allow_private_networks: false, ports: Vec::new() };
const CLOSED_NETWORK: Targets = Targets { allow_private_networks: true, ports: Vec::new() };

fn networks(texts: &[&str]) -> Vec<IpNet> {
    texts.iter().map(|text| text.parse().expect("a network")).collect()
}

/// An address of `network`, its free bits taken from `bits`.
fn inside(network: IpNet, bits: u128) -> IpAddr {
    match network {
        IpNet::V4(network) => {
            let bits = (bits as u32) & u32::from(network.hostmask());
            Ipv4Addr::from(u32::from(network.network()) | bits).into()
        }
        IpNet::V6(network) => {
            let bits = bits & u128::from(network.hostmask());
            Ipv6Addr::from(u128::from(network.network()) | bits).into()
        }
    }
}

fn is_listed(address: IpAddr) -> bool {
    networks(PRIVATE).into_iter().chain(networks(SPECIAL)).any(|network| network.contains(&address))
}

/// Every way of writing an IPv4 address into an IPv6 one, some under a public prefix.
fn embeddings(inner: Ipv4Addr, bits: u128) -> Vec<Ipv6Addr> {
    let v4 = u128::from(u32::from(inner));
    let public_prefix = 0x2a00_1450_4001_0001_u128 << 64;
    vec![
        inner.to_ipv6_mapped(),
        Ipv6Addr::from(v4),                                                             // compatible
        Ipv6Addr::from(0xffff_0000_0000 << 32 >> 16 << 16 | v4),                        // translated, ::ffff:0:a.b.c.d
        Ipv6Addr::from((0x64_ff9b << 96) | v4),                                         // NAT64
        Ipv6Addr::from((0x0064_ff9b_0001 << 80) | (bits << 32 >> 48 << 32) | v4),       // local NAT64
        Ipv6Addr::from((0x2002 << 112) | (v4 << 80) | (bits >> 48)),                    // 6to4
        Ipv6Addr::from((0x2001_0000 << 96) | (v4 << 64) | (bits >> 64)),                // Teredo, the server
        Ipv6Addr::from((0x2001_0000 << 96) | (bits << 64 >> 32) | (!v4 & 0xffff_ffff)), // Teredo, the client
        Ipv6Addr::from(public_prefix | (0x5efe << 32) | v4),                            // ISATAP
        Ipv6Addr::from(public_prefix | (0x0200_5efe << 32) | v4),                       // ISATAP, globally unique
    ]
}

proptest! {
    #![proptest_config(Config { cases: 4_000, failure_persistence: None, ..Config::default() })]

    #[test]
    fn every_address_of_a_special_range_is_refused_always(network in select(networks(SPECIAL)), bits in any::<u128>()) {
        let address = inside(network, bits);
        prop_assert!(!STRICT.allows(address), "{address} of {network}");
        let is_private = networks(PRIVATE).iter().any(|private| private.contains(&address)) && network.prefix_len() < 8;
        prop_assert!(!CLOSED_NETWORK.allows(address) || is_private, "{address} of {network}");
    }

    #[test]
    fn every_address_of_a_private_range_needs_the_setting(network in select(networks(PRIVATE)), bits in any::<u128>()) {
        let address = inside(network, bits);
        prop_assert!(!STRICT.allows(address), "{address} of {network}");
        let is_special = networks(SPECIAL).iter().any(|special| special.prefix_len() > 8 && special.contains(&address));
        prop_assert!(CLOSED_NETWORK.allows(address) || is_special, "{address} of {network}");
    }

    #[test]
    fn every_ipv6_form_of_any_ipv4_address_is_refused(inner in any::<u32>(), bits in any::<u128>()) {
        for address in embeddings(inner.into(), bits) {
            prop_assert!(!STRICT.allows(address.into()), "{address}");
            prop_assert!(!CLOSED_NETWORK.allows(address.into()) || address == Ipv6Addr::LOCALHOST, "{address}");
        }
    }

    #[test]
    fn every_ipv6_form_of_an_internal_address_is_refused(network in select(networks(&PRIVATE[..5])), bits in any::<u128>()) {
        let IpAddr::V4(inner) = inside(network, bits) else { unreachable!("the first five are IPv4") };
        for address in embeddings(inner, bits) {
            prop_assert!(!STRICT.allows(address.into()), "{address}");
        }
    }

    #[test]
    fn public_ipv4_addresses_pass(bits in any::<u32>()) {
        let address = IpAddr::from(Ipv4Addr::from(bits));
        prop_assume!(!is_listed(address));
        prop_assert!(STRICT.allows(address) && CLOSED_NETWORK.allows(address), "{address}");
    }

    #[test]
    fn public_ipv6_addresses_pass(bits in any::<u128>()) {
        let address = Ipv6Addr::from((bits >> 3) | (1 << 125));
        prop_assume!(!is_listed(address.into()) && address.segments()[5] != 0x5efe);
        prop_assert!(STRICT.allows(address.into()) && CLOSED_NETWORK.allows(address.into()), "{address}");
    }

    #[test]
    fn every_spelling_of_an_internal_ipv4_address_is_refused(network in select(networks(&PRIVATE[..5])), bits in any::<u128>()) {
        let IpAddr::V4(address) = inside(network, bits) else { unreachable!("the first five are IPv4") };
        let [a, b, c, d] = address.octets();
        let number = u32::from(address);
        for host in [
            format!("{a}.{b}.{c}.{d}"),
            format!("{a}.{b}.{c}.{d}."),
            format!("{number}"),
            format!("0x{number:x}"),
            format!("0{number:o}"),
            format!("0x{a:X}.0{b:o}.{c}.{d}"),
            format!("{a}.{}", number & 0x00ff_ffff),
            format!("{a}.{b}.{}", number & 0xffff),
            format!("{a}%2e{b}%2E{c}.{d}"),
            format!("{a}。{b}．{c}｡{d}"),
            format!("[::ffff:{a}.{b}.{c}.{d}]"),
            format!("[::{a}.{b}.{c}.{d}]"),
            format!("[64:ff9b::{a}.{b}.{c}.{d}]"),
            format!("[2002:{:x}:{:x}::1]", number >> 16, number & 0xffff),
        ] {
            let url = WebhookUrl::parse(&format!("https://{host}/hook")).expect(&host);
            prop_assert_eq!(Targets { ports: vec![443], ..STRICT }.check(&url), Err(Blocked), "{}", host);
        }
    }
}

#[test]
fn the_edges_of_every_range_are_inside() {
    for network in networks(PRIVATE).into_iter().chain(networks(SPECIAL)) {
        for bits in [0, u128::MAX] {
            assert!(!STRICT.allows(inside(network, bits)), "{network}");
        }
    }
    let neighbours: &[&str] = &[
        "9.255.255.255",
        "11.0.0.0",
        "100.63.255.255",
        "100.128.0.0",
        "126.255.255.255",
        "128.0.0.0",
        "169.253.255.255",
        "169.255.0.0",
        "172.15.255.255",
        "172.32.0.0",
        "192.0.1.0",
        "192.0.3.0",
        "192.167.255.255",
        "192.169.0.0",
        "198.17.255.255",
        "198.20.0.0",
        "203.0.112.255",
        "203.0.114.0",
        "223.255.255.255",
        "2000::",
        "2001:200::",
        "2001:db7:ffff:ffff:ffff:ffff:ffff:ffff",
        "2001:db9::",
        "2003::",
        "3ffe:ffff::",
        "3fff:1000::",
    ];
    for address in neighbours {
        assert!(STRICT.allows(address.parse().expect("an address")), "{address}");
    }
}

#[test]
fn the_networks_of_this_test_are_written_as_networks() {
    for text in PRIVATE.iter().chain(SPECIAL) {
        let (v4, v6) = (text.parse::<Ipv4Net>().ok(), text.parse::<Ipv6Net>().ok());
        assert!(v4.is_some_and(|net| net.trunc() == net) || v6.is_some_and(|net| net.trunc() == net), "{text}");
    }
}
