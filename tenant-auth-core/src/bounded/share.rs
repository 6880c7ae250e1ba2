//! Shares of the hashing queue: whose place a job takes.

use std::net::IpAddr;

use ipnet::{IpNet, Ipv4Net, Ipv6Net};

use crate::id::OrgId;

/// The share of the hashing queue that a job takes its place of: an organization's, and in it a client network's. The queue is
/// served in turn by these, and a full queue takes places from whoever holds most (behaviour.md, B88).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QueueShare {
    organization: OrgId,
    network: Option<IpNet>,
}

impl QueueShare {
    /// The share of a client in an organization. Clients without a known address share one place in the turn.
    pub fn new(organization: &OrgId, client: Option<IpAddr>) -> Self {
        Self { organization: organization.clone(), network: client.map(client_network) }
    }

    /// The organization in which the password is typed.
    pub fn organization(&self) -> &OrgId {
        &self.organization
    }

    /// The client's network, where its address is known: IPv4 /24, IPv6 /48.
    pub fn network(&self) -> Option<IpNet> {
        self.network
    }
}

/// The network that a client counts for: IPv4 /24, IPv6 /48, which is about what one customer can choose addresses from.
pub fn client_network(address: IpAddr) -> IpNet {
    let network = match address.to_canonical() {
        IpAddr::V4(address) => Ipv4Net::new(address, 24).map(IpNet::V4),
        IpAddr::V6(address) => Ipv6Net::new(address, 48).map(IpNet::V6),
    };
    network.map_or_else(|_| IpNet::from(address), |network| network.trunc())
}
