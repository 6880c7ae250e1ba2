//! What many sessions have alike, their organization and their user agent, is kept once (interning). What is shared is equal, field by
//! field, and never changes: so sharing it says nothing about how fresh it is.

use std::{collections::HashSet, hash::Hash, sync::Arc};

use super::bytes;
use crate::model::Organization;

/// The values that are shared.
#[derive(Debug)]
pub(super) struct Alike {
    pub(super) organizations: Pool<Organization>,
    pub(super) user_agents: Pool<UserAgent>,
}

/// Boxed, so that a pointer to what is shared is a word and not two.
pub(super) type UserAgent = Box<str>;

/// Values of one kind, of which each is there once. The pool is bounded: what finds no place in it belongs to its session alone.
#[derive(Debug)]
pub(super) struct Pool<T> {
    known: HashSet<Arc<T>>,
    bytes: usize,
    most_bytes: usize,
    /// What a value takes, with all that is there because of it.
    bytes_of: fn(&T) -> usize,
    /// How many found no place since the last sweep.
    refused: usize,
}

impl Alike {
    pub(super) fn new(most_bytes: usize) -> Self {
        let of_organization = |org: &Organization| bytes::of_organization(org) + bytes::FOOTING;
        Self {
            organizations: Pool::new(most_bytes / 4 * 3, of_organization),
            user_agents: Pool::new(most_bytes / 4, |text| bytes::COUNTS + size_of::<UserAgent>() + text.len()),
        }
    }

    /// What the pools hold.
    pub(super) fn bytes(&self) -> usize {
        self.organizations.bytes + self.user_agents.bytes
    }
}

impl<T: Eq + Hash> Pool<T> {
    const PLACE: usize = bytes::place::<Arc<T>>();

    fn new(most_bytes: usize, bytes_of: fn(&T) -> usize) -> Self {
        Self { known: HashSet::new(), bytes: 0, most_bytes, bytes_of, refused: 0 }
    }

    /// The value that is equal to this one, and how many bytes of it are to be counted where it is held: none when the pool does.
    pub(super) fn shared(&mut self, value: Arc<T>) -> (Arc<T>, usize) {
        if let Some(known) = self.known.get(&*value) {
            return (Arc::clone(known), 0);
        }
        let bytes = (self.bytes_of)(&value);
        if !self.makes_room_for(bytes + Self::PLACE) {
            return (value, bytes);
        }
        self.known.insert(Arc::clone(&value));
        self.bytes += bytes + Self::PLACE;
        (value, 0)
    }

    fn makes_room_for(&mut self, bytes: usize) -> bool {
        let fits = |pool: &Self| pool.bytes + bytes <= pool.most_bytes;
        // As seldom as it costs something.
        if !fits(self) && self.refused >= self.known.len() {
            self.sweep();
        }
        if !fits(self) {
            self.refused += 1;
        }
        fits(self)
    }

    /// Forgets what nobody holds any more.
    fn sweep(&mut self) {
        self.known.retain(|value| Arc::strong_count(value) > 1);
        self.bytes = self.known.iter().map(|value| (self.bytes_of)(value) + Self::PLACE).sum();
        self.refused = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_values_are_one_and_the_pool_is_bounded() {
        let mut pool = Pool::<UserAgent>::new(1_000, |text| text.len());
        let mut shared = |text: &str| pool.shared(Arc::new(text.into()));
        let (first, second) = (shared("a browser"), shared("a browser"));
        assert!(Arc::ptr_eq(&first.0, &second.0) && first.1 + second.1 == 0);
        let held: Vec<_> = (0..100).map(|number| shared(&format!("browser {number:0>3}"))).collect();
        assert!(held.iter().any(|(_, counted)| *counted == 0));
        assert_eq!(held.last().expect("there are some").1, "browser 099".len(), "it is counted where it is held");
        drop(held);
        let later: Vec<_> = (100..200).map(|number| shared(&format!("browser {number:0>3}"))).collect();
        assert!(later.iter().any(|(_, counted)| *counted == 0), "the room of what nobody holds is used again");
        assert!(Arc::ptr_eq(&first.0, &shared("a browser").0), "what is held stays");
        assert!(pool.bytes <= 1_000);
    }
}
