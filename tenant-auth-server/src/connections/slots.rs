//! The connection limit, shared out by client network: IPv4 /24, IPv6 /48. When the limit is reached, the network with most
//! connections loses one to a newcomer whose network has fewer, so that one client with many sockets cannot keep the others out.

use std::{
    collections::HashMap,
    net::IpAddr,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
};

use ipnet::IpNet;
use tenant_auth_core::ports::client_network;
use tokio::sync::{Notify, watch};

use super::pulse::Pulse;

/// The connections of one listener, counted against its limit.
#[derive(Debug)]
pub(crate) struct ConnectionSlots {
    most: usize,
    proxies: Vec<IpNet>,
    taken: Mutex<Taken>,
    /// Connections that have not ended yet; one more than the limit while a displaced connection closes.
    alive: watch::Sender<usize>,
    displaced: AtomicU64,
    refused: AtomicU64,
}

#[derive(Debug, Default)]
struct Taken {
    holders: HashMap<Network, HashMap<u64, Holder>>,
    count: usize,
    /// The number of the newest connection.
    last: u64,
}

/// The network that a connection counts for. A trusted proxy speaks for many people, so it counts separately.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Network {
    Proxy,
    Client(IpNet),
}

#[derive(Debug)]
struct Holder {
    pulse: Arc<Pulse>,
    displaced: Arc<Notify>,
}

/// One connection's slot, freed when dropped.
#[derive(Debug)]
pub(super) struct ConnectionSlot {
    slots: Arc<ConnectionSlots>,
    network: Network,
    number: u64,
    pub(super) pulse: Arc<Pulse>,
    displaced: Arc<Notify>,
}

impl ConnectionSlots {
    /// A limit of `most` connections; the connections of `proxies` are never displaced.
    pub(crate) fn new(most: usize, proxies: Vec<IpNet>) -> Arc<Self> {
        Arc::new(Self {
            most,
            proxies,
            taken: Mutex::default(),
            alive: watch::Sender::new(0),
            displaced: AtomicU64::new(0),
            refused: AtomicU64::new(0),
        })
    }

    /// For the metrics: the limit and the connections open now; since the start, connections displaced and newcomers refused.
    pub(crate) fn told(&self) -> [u64; 4] {
        let (most, count) = (self.most, self.taken().count);
        let [most, count] = [most, count].map(|number| u64::try_from(number).unwrap_or(u64::MAX));
        [most, count, self.displaced.load(Ordering::Relaxed), self.refused.load(Ordering::Relaxed)]
    }

    /// Takes a slot for a connection from this address, displacing another connection if necessary.
    pub(super) fn take(slots: &Arc<Self>, address: IpAddr) -> Option<ConnectionSlot> {
        let network = slots.network_of(address);
        let mut taken = slots.taken();
        if taken.count >= slots.most {
            let held = if network == Network::Proxy { 0 } else { taken.holders.get(&network).map_or(0, HashMap::len) };
            if !taken.displace_for_one_who_holds(held) {
                slots.refused.fetch_add(1, Ordering::Relaxed);
                return None;
            }
            slots.displaced.fetch_add(1, Ordering::Relaxed);
        }
        taken.last += 1;
        taken.count += 1;
        let (number, pulse, displaced) = (taken.last, Arc::new(Pulse::new()), Arc::new(Notify::new()));
        let holder = Holder { pulse: Arc::clone(&pulse), displaced: Arc::clone(&displaced) };
        taken.holders.entry(network).or_default().insert(number, holder);
        drop(taken);
        slots.alive.send_modify(|alive| *alive += 1);
        Some(ConnectionSlot { slots: Arc::clone(slots), network, number, pulse, displaced })
    }

    /// Resolves when every connection has ended.
    pub(super) async fn all_left(&self) {
        // It fails only when the sender is gone, which is ours.
        let _ = self.alive.subscribe().wait_for(|alive| *alive == 0).await;
    }

    fn network_of(&self, address: IpAddr) -> Network {
        let address = address.to_canonical();
        if self.proxies.iter().any(|proxy| proxy.contains(&address)) {
            return Network::Proxy;
        }
        Network::Client(client_network(address))
    }

    fn taken(&self) -> MutexGuard<'_, Taken> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Taken {
    /// Displaces the idlest connection of the network with most connections, if that network has more than `held`.
    fn displace_for_one_who_holds(&mut self, held: usize) -> bool {
        let clients = self.holders.iter().filter(|(network, _)| **network != Network::Proxy);
        let Some((&network, holders)) = clients.max_by_key(|(_, holders)| holders.len()) else { return false };
        if holders.len() <= held {
            return false;
        }
        let idlest = holders.iter().min_by_key(|(_, holder)| holder.pulse.worth()).map(|(number, _)| *number);
        let displaced = idlest.and_then(|number| self.leave(network, number));
        displaced.inspect(|holder| holder.displaced.notify_one()).is_some()
    }

    fn leave(&mut self, network: Network, number: u64) -> Option<Holder> {
        let holders = self.holders.get_mut(&network)?;
        let holder = holders.remove(&number)?;
        if holders.is_empty() {
            self.holders.remove(&network);
        }
        self.count -= 1;
        Some(holder)
    }
}

impl ConnectionSlot {
    /// Resolves when this connection was displaced.
    pub(super) async fn displaced(&self) {
        self.displaced.notified().await;
    }
}

impl Drop for ConnectionSlot {
    fn drop(&mut self) {
        self.slots.taken().leave(self.network, self.number); // a displaced one has left already
        self.slots.alive.send_modify(|alive| *alive -= 1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn from(slots: &Arc<ConnectionSlots>, address: &str) -> Option<ConnectionSlot> {
        ConnectionSlots::take(slots, address.parse().expect("an address"))
    }

    fn is_displaced(slot: &ConnectionSlot) -> bool {
        let slots = slot.slots.taken();
        !slots.holders.get(&slot.network).is_some_and(|holders| holders.contains_key(&slot.number))
    }

    #[tokio::test(start_paused = true)]
    async fn whoever_holds_most_gives_way_to_whoever_holds_less() {
        let slots = ConnectionSlots::new(3, Vec::new());
        let greedy: Vec<_> =
            ["192.0.2.1", "192.0.2.2", "192.0.2.3"].map(|address| from(&slots, address)).into_iter().flatten().collect();
        assert_eq!(greedy.len(), 3);
        assert!(from(&slots, "192.0.2.4").is_none(), "the same network gets no more");
        tokio::time::advance(std::time::Duration::from_secs(1)).await;
        greedy[0].pulse.read();
        greedy[2].pulse.asked();

        let other = from(&slots, "2001:db8::1").expect("another network gets one");
        assert_eq!(greedy.iter().map(is_displaced).collect::<Vec<_>>(), [false, true, false], "the idlest goes");
        let third = from(&slots, "198.51.100.1").expect("and a third one");
        assert_eq!(greedy.iter().map(is_displaced).collect::<Vec<_>>(), [true, true, false]);
        assert!(from(&slots, "2001:db8:0:ffff::1").is_none(), "nobody holds more than this network");
        assert_eq!(slots.told(), [3, 3, 2, 2]);
        drop((other, third, greedy));
        assert_eq!(slots.told()[1], 0);
        slots.all_left().await;
    }

    #[tokio::test]
    async fn a_trusted_proxy_is_never_closed_for_others_and_always_gets_in() {
        let slots = ConnectionSlots::new(2, vec!["10.0.0.0/8".parse().expect("a network")]);
        let proxies = [from(&slots, "10.0.0.1").expect("free"), from(&slots, "::ffff:10.0.0.2").expect("free")];
        assert!(from(&slots, "192.0.2.1").is_none() && !proxies.iter().any(is_displaced));
        drop(proxies);
        let strangers = [from(&slots, "192.0.2.1").expect("free"), from(&slots, "198.51.100.1").expect("free")];
        let _proxy = from(&slots, "10.0.0.3").expect("gets in");
        assert_eq!(strangers.iter().filter(|stranger| is_displaced(stranger)).count(), 1);
    }
}
