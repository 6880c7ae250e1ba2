//! The limits of an attempt, and the keys of their counters.

use std::{net::IpAddr, time::Duration};

use super::{gates::Limit, rates::wide_network_of};
use crate::{
    caller::Client,
    config::Config,
    secret::Secret,
    time::{CLOCKS_DIFFER, Timestamp},
    value::Email,
};

/// The longest block of an account at an address (behaviour.md, B82).
pub(super) const LONGEST_BLOCK: Duration = Duration::from_secs(900);
pub(super) const HOUR: Duration = Duration::from_secs(3_600);

/// How long a limit blocks at most.
pub(super) fn longest_block(limit: &Limit) -> Duration {
    if limit.doubling { LONGEST_BLOCK } else { limit.window }
}

impl Limit {
    /// Until when failures count at least, where the one of `now` blocks until `blocked_until`: a block that doubles, and is as long as
    /// the window or longer, is not forgotten with its end, but a window later.
    pub(super) fn counts_until(&self, now: Timestamp, blocked_until: Timestamp) -> Timestamp {
        let outlasts_window = blocked_until >= now.plus(self.window);
        if self.doubling && outlasts_window { blocked_until.plus(self.window) } else { blocked_until }
    }

    /// Until when a failure of `now` counts at most.
    pub(super) fn counts_at_most_until(&self, now: Timestamp) -> Timestamp {
        self.counts_until(now, now.plus(longest_block(self))).max(now.plus(self.window))
    }

    /// The latest end of a window that counts at `now`. One that ends later was begun before the clock was set back, and is over.
    pub(crate) fn latest_end(&self, now: Timestamp) -> Timestamp {
        self.counts_at_most_until(now).plus(CLOCKS_DIFFER)
    }
}

/// The counter of an account at a network.
pub(crate) fn pair_key(account: &str, network: &str) -> String {
    format!("pair:{account}:{network}")
}

pub(super) fn pair_limit(config: &Config, account: &str, network: &str) -> Limit {
    Limit {
        key: pair_key(account, network),
        subject: Some(account.to_owned()),
        most: config.login.max_failures,
        window: config.login.window,
        doubling: true,
    }
}

pub(super) fn wide_limits(config: &Config, account: &str, client: &Client) -> Vec<Limit> {
    let by_account = Limit {
        key: client.stated_by.as_ref().map_or_else(|| format!("account:{account}"), |org| format!("account:{org}:{account}")),
        subject: Some(account.to_owned()),
        most: config.login.max_failures_per_account,
        window: HOUR,
        doubling: false,
    };
    let by_ip = network_of(client).map(|network| Limit {
        key: format!("ip:{network}"),
        subject: None,
        most: config.login.max_failures_per_ip,
        window: config.login.window,
        doubling: false,
    });
    by_ip.into_iter().chain([by_account]).collect()
}

/// How many attempts from one client network may be undecided at once in this process: more than keep every core busy, and few
/// enough that other networks hardly wait for their turn at the database's writer.
const MOST_OF_A_NETWORK: u32 = 128;

/// The gate of a client network: IPv4 /24, IPv6 /48. It counts no failures and has no counter in the database; it keeps a network
/// with ever new accounts and addresses from filling the queues that all networks share (behaviour.md, B152).
pub(super) fn network_gate(client: &Client) -> Option<Limit> {
    let network = wide_network_of(client)?;
    let (most, window) = (MOST_OF_A_NETWORK, Duration::ZERO);
    Some(Limit { key: format!("network:{network}"), subject: None, most, window, doubling: false })
}

/// The counter key of an account: a digest of the address as typed, lower-cased, so that a leaked table is no list of addresses.
pub(crate) fn account_key(email: &Email) -> String {
    Secret::<()>::new(email.key()).digest().as_str().chars().take(32).collect()
}

/// The client network that failures are counted by: an IPv4 address, or an IPv6 /64, because one IPv6 customer can choose from all
/// addresses of a /64. An address that a backend stated counts for the backend's organization alone. `None` when the address is not
/// known: nothing is counted by it, because otherwise all clients without an address would share one counter.
pub(crate) fn network_of(client: &Client) -> Option<String> {
    let ip = match client.ip?.to_canonical() {
        IpAddr::V4(v4) => v4.to_string(),
        IpAddr::V6(v6) => {
            let [a, b, c, d, ..] = v6.segments();
            format!("{a:x}:{b:x}:{c:x}:{d:x}::")
        }
    };
    Some(client.stated_by.as_ref().map_or_else(|| ip.clone(), |org| format!("{org}:{ip}")))
}
