//! Shares of the hashing queue: whose place a job takes.

use std::net::IpAddr;

use ipnet::{IpNet, Ipv4Net, Ipv6Net};

use crate::id::OrgId;

/// The share of the hashing queue that a job takes its place of: an organization's, and in it a client network's. The queue is
/// served in turn by these, a network of many organizations has one turn for them all, and a full queue takes places from whoever holds
/// most (behaviour.md, B88).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QueueShare {
    organization: OrgId,
    origin: Origin,
}

/// Where a job comes from, in its organization.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Origin {
    network: Option<IpNet>,
    /// Whether a backend stated the address. Its network counts in this organization alone then.
    is_stated: bool,
}

impl QueueShare {
    /// The share of a client in an organization. Clients without a known address share one place in the turn.
    pub fn new(organization: &OrgId, client: Option<IpAddr>) -> Self {
        Self { organization: organization.clone(), origin: Origin { network: client.map(client_network), is_stated: false } }
    }

    /// The same, where the organization's backend stated the address: no tenant steers what other tenants' clients hold.
    #[must_use]
    pub(crate) fn stated(mut self, is_stated: bool) -> Self {
        self.origin.is_stated = is_stated;
        self
    }

    /// The organization in which the password is typed.
    pub fn organization(&self) -> &OrgId {
        &self.organization
    }

    /// The client's network, where its address is known: IPv4 /24, IPv6 /48.
    pub fn network(&self) -> Option<IpNet> {
        self.origin.network
    }

    pub(super) fn origin(&self) -> Origin {
        self.origin
    }
}

impl Origin {
    /// The network as what it holds in all organizations counts, where it is known and nobody's word.
    pub(super) fn in_all(self) -> Option<IpNet> {
        self.network.filter(|_| !self.is_stated)
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
