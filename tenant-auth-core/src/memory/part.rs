//! One part of a shelf: its entries in a ring, the hand of the clock that goes round it, and an index of the keys.

use std::{hash::BuildHasher, sync::Arc};

use hashbrown::HashTable;

use super::{
    footing::Footing,
    sync::{AtomicBool, Ordering, RandomState},
};

/// What a shelf asks of what it remembers.
pub(crate) trait Keyed {
    /// By what it is found.
    fn key(&self) -> &[u8];

    /// What its token holds; `None` without one.
    fn of_token(&self) -> Option<usize> {
        None
    }
}

/// What is remembered under a key.
#[derive(Debug)]
pub(super) struct Place<V> {
    pub(super) value: V,
    pub(super) rests_on: RestsOn,
    /// All that the entry takes.
    pub(super) bytes: u32,
    pub(super) was_used: AtomicBool,
    /// Set when a look names the row that the entry is found by, which needs no footing.
    pub(super) has_fallen: AtomicBool,
}

/// On how many rows an entry rests at most.
pub(super) const MOST_FOOTINGS: usize = 3;

/// The footings of an entry.
type RestsOn = [Option<Arc<Footing>>; MOST_FOOTINGS];

impl<V> Place<V> {
    pub(super) fn stands(&self) -> bool {
        !self.has_fallen.load(Ordering::Acquire) && self.rests_on.iter().flatten().all(|footing| footing.stands())
    }
}

/// The entries, and where each is.
#[derive(Debug)]
pub(super) struct Part<V> {
    index: HashTable<u32>,
    ring: Vec<Box<Place<V>>>,
    /// The place in the ring that is asked to go next.
    hand: usize,
    pub(super) bytes: usize,
    /// Of these, what their tokens take.
    pub(super) of_tokens: usize,
    /// How many have a token.
    pub(super) tokens: usize,
    choice: RandomState,
}

impl<V: Keyed> Part<V> {
    /// What an entry takes here beside its place: 4 bytes and a mark in an index that may be less than half full, and its turn in a
    /// ring that grows by an eighth.
    pub(super) const TURN: usize = (size_of::<u32>() + 1) * 16 / 7 + 1 + size_of::<usize>() * 9 / 8;

    pub(super) fn new(choice: RandomState) -> Self {
        Self { index: HashTable::new(), ring: Vec::new(), hand: 0, bytes: 0, of_tokens: 0, tokens: 0, choice }
    }

    pub(super) fn len(&self) -> usize {
        self.ring.len()
    }

    /// What stands under a key of this hash.
    pub(super) fn get(&self, hash: u64, key: &[u8]) -> Option<&Place<V>> {
        self.find(hash, key).map(|at| &*self.ring[at])
    }

    /// Removes what stands under a key.
    pub(super) fn take(&mut self, key: &[u8]) -> Option<Box<Place<V>>> {
        self.find(self.choice.hash_one(key), key).map(|at| self.take_at(at))
    }

    /// Adds an entry under a key that is free: the last that will be asked to go.
    pub(super) fn add(&mut self, place: Box<Place<V>>) {
        self.bytes += place.bytes as usize;
        self.of_tokens += place.value.of_token().unwrap_or_default();
        self.tokens += usize::from(place.value.of_token().is_some());
        if self.ring.len() == self.ring.capacity() {
            // By itself a vector grows to twice its length, and half of it would be room that is not used yet.
            self.ring.reserve_exact(self.ring.len() / 8 + 1);
        }
        let (at, key) = (self.ring.len(), self.choice.hash_one(place.value.key()));
        let Self { index, ring, choice, .. } = self;
        ring.push(place);
        let hash_of = |at: &u32| choice.hash_one(ring[*at as usize].value.key());
        index.insert_unique(key, number(at), hash_of);
        let hand = self.hand.min(at);
        self.swap(hand, at);
        self.hand = hand + 1;
    }

    /// Removes one entry: the next that was not used since it was last asked.
    pub(super) fn evict(&mut self) -> Option<Box<Place<V>>> {
        loop {
            if self.hand >= self.ring.len() {
                self.hand = 0;
            }
            let place = self.ring.get(self.hand)?;
            if !(place.stands() && place.was_used.swap(false, Ordering::Relaxed)) {
                return Some(self.take_at(self.hand));
            }
            self.hand += 1;
        }
    }

    fn find(&self, hash: u64, key: &[u8]) -> Option<usize> {
        let is_it = |at: &u32| self.ring[*at as usize].value.key() == key;
        self.index.find(hash, is_it).map(|at| *at as usize)
    }

    fn take_at(&mut self, at: usize) -> Box<Place<V>> {
        let last = self.ring.len() - 1;
        self.swap(at, last);
        if let Ok(indexed) = self.index.find_entry(self.choice.hash_one(self.ring[last].value.key()), |at| *at == number(last)) {
            indexed.remove();
        }
        let place = self.ring.swap_remove(last); // the last itself
        self.bytes -= place.bytes as usize;
        self.of_tokens -= place.value.of_token().unwrap_or_default();
        self.tokens -= usize::from(place.value.of_token().is_some());
        place
    }

    /// Exchanges two entries in the ring.
    fn swap(&mut self, one: usize, other: usize) {
        if one == other {
            return;
        }
        let hashes = [one, other].map(|at| self.choice.hash_one(self.ring[at].value.key()));
        // Each is found before either is changed: in between, both would be at the same place.
        for (hash, from, to) in
            [(hashes[0], one, u32::MAX as usize), (hashes[1], other, one), (hashes[0], u32::MAX as usize, other)]
        {
            if let Some(at) = self.index.find_mut(hash, |at| *at == number(from)) {
                *at = number(to);
            }
        }
        self.ring.swap(one, other);
    }
}

#[expect(clippy::cast_possible_truncation, reason = "a part of four thousand million entries has no room anywhere")]
fn number(at: usize) -> u32 {
    at as u32
}
