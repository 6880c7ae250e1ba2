//! DNS pinning: an attempt connects only to its vetted addresses, so that a DNS answer that changes after the check (DNS rebinding)
//! has no effect. reqwest asks its resolver while the attempt's own task polls it, so the addresses travel beside the attempt and
//! never through a table that another attempt could change; outside an attempt, the resolver knows no address. A URL whose host is
//! an address never reaches a resolver; that address is compared here before anything happens.

use std::{
    future::Future,
    net::{IpAddr, SocketAddr},
};

use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use url::{Host, Url};

use crate::ports::{SendError, WebhookRequest};

tokio::task_local! {
    static PINNED: Pinned;
}

/// The addresses that one attempt may connect to.
#[derive(Debug, Clone)]
pub(super) struct Pinned {
    host: String,
    addresses: Vec<SocketAddr>,
}

impl Pinned {
    /// The addresses of `request`.
    ///
    /// # Errors
    /// [`SendError::Blocked`] when there is none, one has another port than the URL, or the URL's host is another address.
    pub(super) fn to(request: &WebhookRequest) -> Result<Self, SendError> {
        let port = request.url.port_or_known_default();
        let host = request.url.host_str().unwrap_or_default().to_owned();
        let is_vetted =
            |address: &SocketAddr| Some(address.port()) == port && literal(&request.url).is_none_or(|ip| ip == address.ip());
        if host.is_empty() || request.addresses.is_empty() || !request.addresses.iter().all(is_vetted) {
            return Err(SendError::Blocked);
        }
        Ok(Self { host, addresses: request.addresses.clone() })
    }

    /// Runs the attempt.
    pub(super) async fn during<T>(self, attempt: impl Future<Output = T>) -> T {
        PINNED.scope(self, attempt).await
    }
}

fn literal(url: &Url) -> Option<IpAddr> {
    match url.host()? {
        Host::Ipv4(address) => Some(address.into()),
        Host::Ipv6(address) => Some(address.into()),
        Host::Domain(_) => None,
    }
}

/// The resolver was asked for a name that no attempt has vetted.
#[derive(Debug, Clone, Copy, thiserror::Error)]
#[error("the address was not vetted")]
pub(super) struct NotVetted;

/// The resolver of every HTTP client: returns the vetted addresses of the current attempt and sends no DNS query.
#[derive(Debug, Clone, Copy)]
pub(super) struct Addresses;

impl Resolve for Addresses {
    fn resolve(&self, name: Name) -> Resolving {
        // Read here and not in the future: the attempt's task makes this call, but another task may poll the future.
        let addresses = PINNED.try_with(|pinned| (pinned.host == name.as_str()).then(|| pinned.addresses.clone()));
        Box::pin(async move {
            let addresses: Addrs = Box::new(addresses.ok().flatten().ok_or(NotVetted)?.into_iter());
            Ok(addresses)
        })
    }
}
