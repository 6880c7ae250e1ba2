//! The bound on requests in flight: how many may be at work or wait at once, and how they are shared out among client networks. Each
//! holds its body and what was read of it, so without a bound waiting requests could fill the memory.

use std::{
    collections::HashMap,
    net::IpAddr,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use ipnet::IpNet;

use crate::{
    bounded::client_network,
    error::{Error, Overload},
};

/// How many requests may be in flight: with bodies of at most 64 KiB, 256 MiB.
const MOST: usize = 4_096;

/// The requests in flight. A client network may hold as many places as it leaves free, so that one network can take half of them
/// and never the last.
#[derive(Debug)]
pub(crate) struct InFlight {
    most: usize,
    taken: Mutex<Taken>,
}

#[derive(Debug, Default)]
struct Taken {
    count: usize,
    by_network: HashMap<Option<IpNet>, usize>,
}

/// A request's permit, given back when dropped.
#[derive(Debug)]
pub(crate) struct Permit {
    requests: Arc<InFlight>,
    network: Option<IpNet>,
}

impl InFlight {
    /// No request yet.
    pub(crate) fn new() -> Arc<Self> {
        Self::of(MOST)
    }

    fn of(most: usize) -> Arc<Self> {
        Arc::new(Self { most, taken: Mutex::default() })
    }

    /// Takes a place for a request of this client.
    ///
    /// # Errors
    /// [`Error::Unavailable`] when its network holds as many as are free.
    pub(crate) fn take(self: &Arc<Self>, client: Option<IpAddr>) -> Result<Permit, Error> {
        let network = client.map(client_network);
        let mut taken = self.taken();
        let free = self.most - taken.count;
        let held = taken.by_network.entry(network).or_default();
        if *held >= free {
            if *held == 0 {
                taken.by_network.remove(&network);
            }
            return Err(Error::unavailable(Overload("too many requests are in flight")));
        }
        *held += 1;
        taken.count += 1;
        Ok(Permit { requests: Arc::clone(self), network })
    }

    fn taken(&self) -> MutexGuard<'_, Taken> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        let mut taken = self.requests.taken();
        taken.count -= 1;
        if let Some(held) = taken.by_network.get_mut(&self.network) {
            *held -= 1;
            if *held == 0 {
                taken.by_network.remove(&self.network);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn take(requests: &Arc<InFlight>, address: &str, times: usize) -> Vec<Permit> {
        (0..times).filter_map(|_| requests.take(Some(address.parse().expect("an address"))).ok()).collect()
    }

    #[test]
    fn one_network_takes_half_and_leaves_room_for_others() {
        let requests = InFlight::of(16);
        let greedy = take(&requests, "192.0.2.1", 20);
        assert_eq!(greedy.len(), 8);
        assert!(take(&requests, "192.0.2.200", 1).is_empty(), "of the same network");
        let second = take(&requests, "2001:db8::1", 20);
        assert_eq!(second.len(), 4);
        assert!(take(&requests, "2001:db8:0:ffff::1", 1).is_empty(), "of the same network");
        assert_eq!(take(&requests, "198.51.100.1", 1).len(), 1);
    }

    #[test]
    fn whoever_is_answered_frees_the_place() {
        let requests = InFlight::of(2);
        let only = requests.take(None).expect("there is room");
        assert!(matches!(requests.take(None), Err(Error::Unavailable(_))));
        drop(only);
        assert!(requests.taken().by_network.is_empty(), "nobody is remembered");
        assert!(requests.take(None).is_ok());
    }
}
