//! The rate limiter of guesses at keys and links (behaviour.md, B149): bad ones are counted by client network, in the memory of this
//! process. 256 random bits cannot be guessed, so the count keeps no secret safe; it stops whoever loads the service by trying.

use std::{
    collections::{HashMap, VecDeque},
    hash::{BuildHasher, RandomState},
    sync::{Mutex, PoisonError},
    time::Duration,
};

use crate::time::Timestamp;

/// How many guesses of one network are answered as bad in one window.
const MOST: u32 = 30;
/// The length of a window, which begins with its first guess.
const WINDOW: Duration = Duration::from_secs(900);
/// How many networks are counted at once. One more ends the oldest window, so that memory stays bounded.
const NETWORKS: usize = 65_536;

/// The counts of guesses, by network.
#[derive(Debug)]
pub(crate) struct Guesses {
    networks: usize,
    /// Keyed by chance: nobody can choose networks that fall together, and no address is kept.
    hashing: RandomState,
    counts: Mutex<Counts>,
}

#[derive(Debug, Default)]
struct Counts {
    windows: HashMap<u64, Window>,
    /// The networks in the order in which their windows began.
    by_age: VecDeque<u64>,
}

#[derive(Debug, Clone, Copy)]
struct Window {
    guesses: u32,
    ends_at: Timestamp,
}

impl Guesses {
    /// No guess yet.
    pub(crate) fn new() -> Self {
        Self::of(NETWORKS)
    }

    fn of(networks: usize) -> Self {
        Self { networks, hashing: RandomState::new(), counts: Mutex::default() }
    }

    /// Counts a guess of this network. `Some` beyond the limit: how long the network has to wait.
    pub(super) fn count(&self, network: &str, now: Timestamp) -> Option<Duration> {
        let network = self.hashing.hash_one(network);
        let mut counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        counts.make_room(self.networks, now);
        let end = now.plus(WINDOW);
        let counts = &mut *counts;
        let window = counts.windows.entry(network).or_insert_with(|| {
            counts.by_age.push_back(network);
            Window { guesses: 0, ends_at: end }
        });
        // A clock that was set back makes no window longer.
        window.ends_at = window.ends_at.min(end);
        if window.guesses >= MOST {
            return Some(window.ends_at.since(now));
        }
        window.guesses += 1;
        None
    }

    /// Whether the next guess of this network is beyond the limit.
    pub(super) fn is_spent(&self, network: &str, now: Timestamp) -> bool {
        let counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        let window = counts.windows.get(&self.hashing.hash_one(network));
        window.is_some_and(|window| now < window.ends_at && window.guesses >= MOST)
    }
}

impl Counts {
    /// Ends the windows that are over, and the oldest one where there is no room for another.
    fn make_room(&mut self, networks: usize, now: Timestamp) {
        while let Some(oldest) = self.by_age.front() {
            let is_over = self.windows.get(oldest).is_none_or(|window| window.ends_at <= now);
            if !is_over && self.by_age.len() < networks {
                return;
            }
            self.windows.remove(oldest);
            self.by_age.pop_front();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOON: Timestamp = Timestamp::from_secs(1_800_000_000);

    fn exhaust(guesses: &Guesses, network: &str, now: Timestamp) {
        for _ in 0..MOST {
            assert_eq!(guesses.count(network, now), None);
        }
    }

    #[test]
    fn a_window_begins_with_the_first_guess_and_ends_for_good() {
        let guesses = Guesses::new();
        assert!(!guesses.is_spent("a", NOON));
        exhaust(&guesses, "a", NOON);
        assert!(guesses.is_spent("a", NOON) && !guesses.is_spent("b", NOON) && !guesses.is_spent("a", NOON.plus(WINDOW)));
        let later = NOON.plus(Duration::from_secs(100));
        assert_eq!(guesses.count("a", later), Some(Duration::from_secs(800)));
        assert_eq!(guesses.count("b", later), None, "another network");
        exhaust(&guesses, "a", NOON.plus(WINDOW));
        assert_eq!(guesses.count("a", NOON.plus(WINDOW)), Some(WINDOW));
    }

    #[test]
    fn a_clock_set_back_makes_no_wait_longer_than_a_window() {
        let guesses = Guesses::new();
        exhaust(&guesses, "a", NOON);
        let earlier = NOON.minus(Duration::from_secs(3_600));
        assert_eq!(guesses.count("a", earlier), Some(WINDOW));
        assert_eq!(guesses.count("a", earlier.plus(WINDOW)), None, "who waits so long is heard");
    }

    #[test]
    fn memory_is_bounded_and_the_oldest_window_makes_room() {
        let guesses = Guesses::of(2);
        exhaust(&guesses, "a", NOON);
        exhaust(&guesses, "b", NOON);
        assert!(guesses.count("b", NOON).is_some());
        for network in ["c", "d", "e", "f"] {
            assert_eq!(guesses.count(network, NOON), None);
            let counts = guesses.counts.lock().expect("nobody panicked");
            assert!(counts.windows.len() <= 2 && counts.by_age.len() == counts.windows.len());
        }
        assert_eq!(guesses.count("a", NOON), None, "forgotten");
    }
}
