//! SSRF protection: which URLs and addresses deliveries may connect to. An administrator of one organization chooses the URL, and
//! our server, inside the operator's network, calls it. So the URL's shape, its port and every address of its host are judged when
//! the URL is stored and again before each attempt, because DNS answers change (DNS rebinding). The sender connects to the
//! addresses vetted here and to no others.

mod ranges;
#[cfg(test)]
mod tests;

use std::{
    net::{IpAddr, SocketAddr},
    time::Duration,
};

use url::Host;

use crate::{
    error::{Error, InvalidValue},
    ports::{Resolver, SendError},
    value::WebhookUrl,
};
use ranges::Reach;

/// The time limit for resolving a host name; past it, the host is unreachable.
const RESOLVE_WITHIN: Duration = Duration::from_secs(5);

/// The operator's rules about targets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Targets {
    /// Loopback and private addresses, plain http and any port are allowed too: for development and closed networks.
    pub(crate) allow_private_networks: bool,
    /// The ports that may be called; any where private networks are allowed.
    pub(crate) ports: Vec<u16>,
}

/// The URL or an address is forbidden to webhooks. The error does not say which rule refused, so that it cannot be used to map the
/// operator's network.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Blocked;

impl From<Blocked> for SendError {
    fn from(_: Blocked) -> Self {
        Self::Blocked
    }
}

impl Targets {
    /// Reads and judges the URL of a new subscription, the addresses of its host included. A name that has no addresses now
    /// is refused as one with a private address is: otherwise the difference would tell which names the operator's network knows.
    ///
    /// # Errors
    /// [`Error::Invalid`], with the same words for every reason: a caller who may create subscriptions must not learn which rule
    /// refused.
    pub(crate) async fn admit(&self, text: &str, resolver: &dyn Resolver) -> Result<WebhookUrl, Error> {
        let url = self.expect_url(text)?;
        self.vet(&url, resolver).await.map_err(|_| self.refusal())?;
        Ok(url)
    }

    /// Reads what is to be a webhook's URL, wherever it leads.
    ///
    /// # Errors
    /// [`Error::Invalid`], with the words for any other reason.
    pub(crate) fn expect_url(&self, text: &str) -> Result<WebhookUrl, Error> {
        WebhookUrl::parse(text).map_err(|_| self.refusal())
    }

    fn refusal(&self) -> Error {
        InvalidValue::WebhookUrl { rule: self.rule() }.into()
    }

    /// Judges what needs no name resolution: scheme, port, and a host that is an IP address or `localhost`.
    pub(crate) fn check(&self, url: &WebhookUrl) -> Result<(), Blocked> {
        let calls_here = match url.host() {
            Host::Ipv4(address) => self.allows(address.into()),
            Host::Ipv6(address) => self.allows(address.into()),
            Host::Domain(name) => self.allow_private_networks || !is_localhost(name),
        };
        let speaks_so = self.allow_private_networks || (url.is_https() && self.ports.contains(&url.port()));
        if calls_here && speaks_so { Ok(()) } else { Err(Blocked) }
    }

    /// The addresses an attempt may connect to, with the URL's port.
    ///
    /// # Errors
    /// [`SendError::Blocked`] when the URL or any resolved address is not allowed, even when the other addresses are public;
    /// [`SendError::Unreachable`] when the host has no addresses or does not resolve in time.
    pub(crate) async fn vet(&self, url: &WebhookUrl, resolver: &dyn Resolver) -> Result<Vec<SocketAddr>, SendError> {
        self.vet_within(RESOLVE_WITHIN, url, resolver).await
    }

    async fn vet_within(&self, limit: Duration, url: &WebhookUrl, resolver: &dyn Resolver) -> Result<Vec<SocketAddr>, SendError> {
        self.check(url)?;
        let addresses = match url.host() {
            Host::Ipv4(address) => vec![address.into()],
            Host::Ipv6(address) => vec![address.into()],
            Host::Domain(name) => tokio::time::timeout(limit, resolver.resolve(name))
                .await
                .map_err(|_| SendError::Unreachable)?
                .map_err(|_| SendError::Unreachable)?,
        };
        if addresses.is_empty() {
            return Err(SendError::Unreachable);
        }
        if !addresses.iter().all(|address| self.allows(*address)) {
            return Err(SendError::Blocked);
        }
        Ok(addresses.into_iter().map(|address| SocketAddr::new(address, url.port())).collect())
    }

    fn allows(&self, address: IpAddr) -> bool {
        match ranges::reach(address) {
            Reach::Public => true,
            Reach::Private => self.allow_private_networks,
            Reach::Never => false,
        }
    }

    /// What a URL must be, to be read after the field's name.
    fn rule(&self) -> String {
        const NOTHING_ELSE: &str = "without user name, password or fragment, at most 2048 bytes long";
        if self.allow_private_networks {
            return format!("must be an http or https URL of a host that can be reached from here, {NOTHING_ELSE}");
        }
        let ports: Vec<String> = self.ports.iter().map(u16::to_string).collect();
        let ports = ports.join(" or ");
        format!("must be an https URL on port {ports} of a host that is reachable from the public internet, {NOTHING_ELSE}")
    }
}

/// The names that mean this machine on every machine (RFC 6761, section 6.3).
fn is_localhost(name: &str) -> bool {
    let name = name.strip_suffix('.').unwrap_or(name);
    name == "localhost" || name.ends_with(".localhost")
}
