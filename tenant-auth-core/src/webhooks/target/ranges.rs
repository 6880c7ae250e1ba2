//! Address ranges for SSRF protection: which IP addresses are the public internet. The tables are the IANA IPv4 and IPv6
//! Special-Purpose Address Registries with the registries' names, then ranges from other documents. An IPv6 address that embeds an
//! IPv4 address is always refused: no receiver needs one, and a translator on the way could turn it into an internal address.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use ipnet::{Ipv4Net, Ipv6Net};

/// The reach of an address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reach {
    /// A public internet address.
    Public,
    /// This machine or its own network: refused, unless the operator allows private networks.
    Private,
    /// Unusable or dangerous: unassigned, multicast, metadata services, embedded addresses. Refused always.
    Never,
}
use Reach::{Never, Private};

/// <https://www.iana.org/assignments/iana-ipv4-special-registry>. The anycast services among them are globally reachable by the
/// registry's word, but it is the nearest node that answers, and that may be the operator's own.
const IPV4: &[(Ipv4Net, Reach, &str)] = &[
    v4([0, 0, 0, 0], 8, Never, "\"This network\""),
    v4([10, 0, 0, 0], 8, Private, "Private-Use"),
    v4([100, 64, 0, 0], 10, Private, "Shared Address Space"),
    v4([127, 0, 0, 0], 8, Private, "Loopback"),
    v4([169, 254, 0, 0], 16, Never, "Link Local"), // where clouds keep their credentials
    v4([172, 16, 0, 0], 12, Private, "Private-Use"),
    v4([192, 0, 0, 0], 24, Never, "IETF Protocol Assignments"),
    v4([192, 0, 2, 0], 24, Never, "Documentation (TEST-NET-1)"),
    v4([192, 31, 196, 0], 24, Never, "AS112-v4"),
    v4([192, 52, 193, 0], 24, Never, "AMT"),
    v4([192, 88, 99, 0], 24, Never, "Deprecated (6to4 Relay Anycast)"),
    v4([192, 168, 0, 0], 16, Private, "Private-Use"),
    v4([192, 175, 48, 0], 24, Never, "Direct Delegation AS112 Service"),
    v4([198, 18, 0, 0], 15, Never, "Benchmarking"),
    v4([198, 51, 100, 0], 24, Never, "Documentation (TEST-NET-2)"),
    v4([203, 0, 113, 0], 24, Never, "Documentation (TEST-NET-3)"),
    v4([240, 0, 0, 0], 4, Never, "Reserved; Limited Broadcast"),
    // Beyond the registry.
    v4([224, 0, 0, 0], 4, Never, "Multicast (RFC 5771)"),
    v4([100, 100, 100, 200], 32, Never, "Metadata service of Alibaba Cloud"),
    v4([168, 63, 129, 16], 32, Never, "Host services of Azure"),
];

/// <https://www.iana.org/assignments/iana-ipv6-special-registry>. Only 2000::/3 is public at all (RFC 4291, section 2.4); the
/// rows outside it are here for their names and because some are the own network.
const IPV6: &[(Ipv6Net, Reach, &str)] = &[
    v6(&[0, 0, 0, 0, 0, 0, 0, 1], 128, Private, "Loopback Address"),
    v6(&[0], 128, Never, "Unspecified Address"),
    v6(&[0, 0, 0, 0, 0, 0xffff], 96, Never, "IPv4-mapped Address"),
    v6(&[0x64, 0xff9b], 96, Never, "IPv4-IPv6 Translat. (NAT64)"),
    v6(&[0x64, 0xff9b, 1], 48, Never, "IPv4-IPv6 Translat. (local NAT64)"),
    v6(&[0x100], 64, Never, "Discard-Only Address Block"),
    v6(&[0x100, 0, 0, 1], 64, Never, "Dummy IPv6 Prefix"),
    v6(&[0x2001], 23, Never, "IETF Protocol Assignments; TEREDO, Benchmarking, AMT, AS112-v6, ORCHID, ORCHIDv2, DETs"),
    v6(&[0x2001, 0xdb8], 32, Never, "Documentation"),
    v6(&[0x2002], 16, Never, "6to4"),
    v6(&[0x2620, 0x4f, 0x8000], 48, Never, "Direct Delegation AS112 Service"),
    v6(&[0x3fff], 20, Never, "Documentation"),
    v6(&[0x5f00], 16, Never, "Segment Routing (SRv6) SIDs"),
    v6(&[0xfc00], 7, Private, "Unique-Local"),
    v6(&[0xfe80], 10, Never, "Link-Local Unicast"),
    // Beyond the registry.
    v6(&[0, 0, 0, 0, 0xffff], 96, Never, "IPv4-translated (RFC 2765)"),
    v6(&[0xfec0], 10, Never, "Site-Local, deprecated (RFC 3879)"),
    v6(&[0xff00], 8, Never, "Multicast (RFC 4291)"),
    v6(&[0xfd00, 0xec2], 32, Never, "Metadata service of Amazon EC2"),
];

/// The reach of `address`. Where rows overlap, the strictest one holds.
pub(super) fn reach(address: IpAddr) -> Reach {
    match address {
        IpAddr::V4(address) => strictest(IPV4.iter().filter(|(network, ..)| network.contains(&address)).map(|row| row.1)),
        IpAddr::V6(address) => {
            let named = strictest(IPV6.iter().filter(|(network, ..)| network.contains(&address)).map(|row| row.1));
            let is_global = address.segments()[0] >> 13 == 1 && !is_isatap(address);
            if named == Reach::Public && !is_global { Never } else { named }
        }
    }
}

fn strictest(rows: impl Iterator<Item = Reach>) -> Reach {
    rows.fold(Reach::Public, |so_far, row| match (so_far, row) {
        (Never, _) | (_, Never) => Never,
        (Private, _) | (_, Private) => Private,
        (Reach::Public, Reach::Public) => Reach::Public,
    })
}

/// An ISATAP interface identifier (RFC 5214, section 6.1): `[02]00:5efe` and an IPv4 address, under any prefix.
fn is_isatap(address: Ipv6Addr) -> bool {
    let segments = address.segments();
    segments[4] & !0x0200 == 0 && segments[5] == 0x5efe
}

const fn v4(octets: [u8; 4], prefix: u8, reach: Reach, name: &'static str) -> (Ipv4Net, Reach, &'static str) {
    (Ipv4Net::new_assert(Ipv4Addr::from_octets(octets), prefix), reach, name)
}

/// From the leading segments; the others are zero.
const fn v6(head: &[u16], prefix: u8, reach: Reach, name: &'static str) -> (Ipv6Net, Reach, &'static str) {
    let mut segments = [0; 8];
    let mut at = 0;
    while at < head.len() {
        segments[at] = head[at];
        at += 1;
    }
    (Ipv6Net::new_assert(Ipv6Addr::from_segments(segments), prefix), reach, name)
}
