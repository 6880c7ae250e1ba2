//! Rates: how often something may be done in a fixed window, counted in the database by guarded statements, in the transaction of
//! what is done. What is rolled back is not counted. Unlike failed attempts, nothing is reserved and nobody waits.

use std::time::Duration;

use crate::{bounded::client_network, caller::Client, error::Error, store::Tx};

/// A limit of one kind of deed, for each of those it is counted by.
#[derive(Debug)]
pub(crate) struct Rate {
    /// The beginning of the counter's key.
    name: &'static str,
    /// How many deeds a window allows.
    most: u32,
    /// The length of the window, which begins with its first deed.
    window: Duration,
}

/// Requests for reset mails, by client network (behaviour.md, B145).
pub(crate) const RESET_REQUESTS: Rate = Rate { name: "reset-requests", most: 30, window: Duration::from_secs(15 * 60) };

impl Rate {
    /// Counts a deed of `whose`.
    ///
    /// # Errors
    /// [`Error::RateLimited`] when the window is used up.
    pub(crate) async fn spend(&self, tx: &mut Tx, whose: &str) -> Result<(), Error> {
        let now = tx.now();
        let key = format!("{}:{whose}", self.name);
        if tx.throttles().spend(&key, now.plus(self.window), self.most).await? {
            return Ok(());
        }
        let until = tx.throttles().state(&key).await?.map_or(now, |state| state.window_ends_at());
        Err(Error::rate_limited(until.since(now).min(self.window)))
    }
}

/// The network that a client's requests are counted by: IPv4 /24, IPv6 /48. An address that a backend stated counts for the
/// backend's organization alone. `None` when the address is not known: nothing is counted by it.
pub(crate) fn wide_network_of(client: &Client) -> Option<String> {
    let network = client_network(client.ip?);
    Some(client.stated_by.as_ref().map_or_else(|| network.to_string(), |org| format!("{org}:{network}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn network(ip: &str) -> Option<String> {
        wide_network_of(&Client { ip: Some(ip.parse().expect("an address")), ..Client::default() })
    }

    #[test]
    fn neighbours_in_a_network_are_counted_together() {
        assert_eq!(network("203.0.113.7"), network("::ffff:203.0.113.200"));
        assert_ne!(network("203.0.113.7"), network("203.0.114.7"));
        assert_eq!(network("2001:db8:1:2::3"), network("2001:db8:1:ffff::4"));
        assert_ne!(network("2001:db8:1::1"), network("2001:db8:2::1"));
        assert_eq!(wide_network_of(&Client::default()), None);
    }
}
