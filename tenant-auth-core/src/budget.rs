//! A budget that client networks share: how much of something may be taken at once, and how it is divided among them (dynamic
//! thresholds). A network may hold as much as it leaves free, so that one alone takes half of it and never the last.

use std::{
    collections::HashMap,
    net::IpAddr,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use ipnet::IpNet;

use crate::bounded::client_network;

/// The budget, in units of whatever it bounds.
#[derive(Debug)]
pub(crate) struct Budget {
    most: usize,
    taken: Mutex<Taken>,
}

#[derive(Debug, Default)]
struct Taken {
    all: usize,
    by_network: HashMap<Option<IpNet>, usize>,
}

/// An amount that was taken, given back when dropped.
#[derive(Debug)]
pub(crate) struct Permit {
    budget: Arc<Budget>,
    network: Option<IpNet>,
    amount: usize,
}

impl Budget {
    /// A budget of which nothing is taken.
    pub(crate) fn of(most: usize) -> Arc<Self> {
        Arc::new(Self { most, taken: Mutex::default() })
    }

    /// Takes an amount for this client. `None` when its network would hold more than it leaves free. Clients without a known
    /// address count as one network.
    pub(crate) fn take(self: &Arc<Self>, client: Option<IpAddr>, amount: usize) -> Option<Permit> {
        let network = client.map(client_network);
        let mut taken = self.taken();
        let left_free = self.most.saturating_sub(taken.all).checked_sub(amount)?;
        let would_hold = taken.by_network.get(&network).copied().unwrap_or(0) + amount;
        if would_hold > left_free {
            return None;
        }
        taken.all += amount;
        taken.by_network.insert(network, would_hold);
        Some(Permit { budget: Arc::clone(self), network, amount })
    }

    fn taken(&self) -> MutexGuard<'_, Taken> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        let mut taken = self.budget.taken();
        taken.all -= self.amount;
        if let Some(held) = taken.by_network.get_mut(&self.network) {
            *held -= self.amount;
            if *held == 0 {
                taken.by_network.remove(&self.network);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn take(budget: &Arc<Budget>, address: &str, times: usize) -> Vec<Permit> {
        (0..times).filter_map(|_| budget.take(Some(address.parse().expect("an address")), 1)).collect()
    }

    #[test]
    fn one_network_takes_half_and_leaves_room_for_others() {
        let budget = Budget::of(16);
        let greedy = take(&budget, "192.0.2.1", 20);
        assert_eq!(greedy.len(), 8);
        assert!(take(&budget, "192.0.2.200", 1).is_empty(), "of the same network");
        let second = take(&budget, "2001:db8::1", 20);
        assert_eq!(second.len(), 4);
        assert!(take(&budget, "2001:db8:0:ffff::1", 1).is_empty(), "of the same network");
        assert_eq!(take(&budget, "198.51.100.1", 1).len(), 1);
    }

    #[test]
    fn whoever_gives_back_frees_the_place() {
        let budget = Budget::of(2);
        let only = budget.take(None, 1).expect("there is room");
        assert!(budget.take(None, 1).is_none());
        drop(only);
        assert!(budget.taken().by_network.is_empty(), "nobody is remembered");
        assert!(budget.take(None, 1).is_some());
    }

    #[test]
    fn an_amount_counts_as_what_it_is() {
        let budget = Budget::of(100);
        let (first, second) = (Some(IpAddr::from([192, 0, 2, 1])), Some(IpAddr::from([198, 51, 100, 1])));
        assert!(budget.take(first, 51).is_none(), "more than it would leave");
        let large = budget.take(first, 50).expect("half");
        assert!(budget.take(first, 1).is_none() && budget.take(second, 26).is_none());
        assert!(budget.take(second, 25).is_some());
        drop(large);
        assert!(budget.take(second, 50).is_some());
    }
}
