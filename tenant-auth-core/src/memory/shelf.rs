//! A bounded map of what is remembered, by key (a cache with the CLOCK algorithm: second chance). It is bounded in bytes, by
//! estimates made of the real lengths. A lookup takes one shared lock of one part of the map and writes at most one flag.
//!
//! An entry rests on footings, one for each row it was read of. When a look names a row, its footing falls, and with it every entry
//! that rests on it, however many these are; the entries themselves go when their place is needed.

use std::{
    collections::{HashMap, VecDeque},
    hash::BuildHasher,
    sync::Arc,
};

use super::{
    footing::Footing,
    sync::{AtomicBool, AtomicUsize, Ordering, PoisonError, RandomState, RwLock},
};

/// Into how many parts the map is divided, so that lookups on many cores seldom meet.
const PARTS: usize = 16;
/// What an entry costs beside its own bytes: its place in the map and in the queue, and its footings.
const OVERHEAD: usize = 512;

/// A bounded map.
#[derive(Debug)]
pub(crate) struct Shelf<V> {
    parts: [RwLock<Part<V>>; PARTS],
    choice: RandomState,
    most_bytes: usize,
    bytes: AtomicUsize,
    entries: AtomicUsize,
}

#[derive(Debug)]
struct Part<V> {
    places: HashMap<Arc<str>, Place<V>>,
    /// The keys in the order in which they are asked to go; each stands here once.
    order: VecDeque<Arc<str>>,
    bytes: usize,
}

/// What is remembered under a key.
#[derive(Debug)]
struct Place<V> {
    value: V,
    rests_on: Vec<Arc<Footing>>,
    bytes: usize,
    was_used: AtomicBool,
}

impl<V> Place<V> {
    fn stands(&self) -> bool {
        self.rests_on.iter().all(|footing| footing.stands())
    }
}

/// An entry to remember.
#[derive(Debug)]
pub(crate) struct Entry<V> {
    pub(crate) value: V,
    pub(crate) rests_on: Vec<Arc<Footing>>,
    /// The bytes that the value holds.
    pub(crate) bytes: usize,
}

impl<V: Clone> Shelf<V> {
    /// An empty map of at most so many bytes.
    pub(crate) fn new(most_bytes: usize) -> Self {
        let part = || RwLock::new(Part { places: HashMap::new(), order: VecDeque::new(), bytes: 0 });
        let (bytes, entries) = (AtomicUsize::new(0), AtomicUsize::new(0));
        Self { parts: std::array::from_fn(|_| part()), choice: RandomState::new(), most_bytes: most_bytes / PARTS, bytes, entries }
    }

    /// What is remembered under this key, while all that it rests on stands.
    pub(crate) fn get(&self, key: &str) -> Option<V> {
        let part = self.part(key).read().unwrap_or_else(PoisonError::into_inner);
        let place = part.places.get(key).filter(|place| place.stands())?;
        if !place.was_used.load(Ordering::Relaxed) {
            place.was_used.store(true, Ordering::Relaxed);
        }
        Some(place.value.clone())
    }

    /// Remembers an entry. What has to go for it is returned: the footings that nobody may rest on any more.
    pub(crate) fn put(&self, key: &str, entry: Entry<V>) -> Vec<Arc<Footing>> {
        let bytes = entry.bytes + key.len() + OVERHEAD;
        let mut gone = Vec::new();
        if bytes > self.most_bytes {
            return entry.rests_on;
        }
        let mut part = self.part(key).write().unwrap_or_else(PoisonError::into_inner);
        let (bytes_before, entries_before) = (part.bytes, part.places.len());
        let place = Place { value: entry.value, rests_on: entry.rests_on, bytes, was_used: AtomicBool::new(false) };
        if let Some(present) = part.places.get_mut(key) {
            let former = std::mem::replace(present, place);
            gone.extend(former.rests_on);
            part.bytes = part.bytes + bytes - former.bytes;
        } else {
            let key: Arc<str> = key.into();
            part.order.push_back(Arc::clone(&key));
            part.places.insert(key, place);
            part.bytes += bytes;
        }
        while part.bytes > self.most_bytes {
            let Some(key) = part.order.pop_front() else { break };
            // Used since it was last asked: it gets another round.
            let stays = part.places.get(&key).is_some_and(|place| place.stands() && place.was_used.swap(false, Ordering::Relaxed));
            if stays {
                part.order.push_back(key);
            } else if let Some(place) = part.places.remove(&key) {
                part.bytes -= place.bytes;
                gone.extend(place.rests_on);
            }
        }
        // Wrapping sums of differences: a part shrinks as well as grows.
        self.bytes.fetch_add(part.bytes.wrapping_sub(bytes_before), Ordering::Relaxed);
        self.entries.fetch_add(part.places.len().wrapping_sub(entries_before), Ordering::Relaxed);
        gone
    }

    /// Forgets everything.
    pub(crate) fn clear(&self) {
        for part in &self.parts {
            let mut part = part.write().unwrap_or_else(PoisonError::into_inner);
            self.bytes.fetch_sub(part.bytes, Ordering::Relaxed);
            self.entries.fetch_sub(part.places.len(), Ordering::Relaxed);
            *part = Part { places: HashMap::new(), order: VecDeque::new(), bytes: 0 };
        }
    }

    /// How many entries there are, those included that fell and have not gone yet.
    pub(crate) fn len(&self) -> usize {
        self.entries.load(Ordering::Relaxed)
    }

    /// The bytes that they hold.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes.load(Ordering::Relaxed)
    }

    fn part(&self, key: &str) -> &RwLock<Part<V>> {
        #[expect(clippy::cast_possible_truncation, reason = "any part of a hash chooses")]
        let index = self.choice.hash_one(key) as usize % PARTS;
        &self.parts[index]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(value: usize) -> Entry<usize> {
        Entry { value, rests_on: vec![Arc::new(Footing::default())], bytes: 100 }
    }

    #[test]
    fn it_never_holds_more_than_it_may_and_keeps_what_is_used() {
        let shelf = Shelf::new(PARTS * 64 * 1024);
        shelf.put("used", entry(0));
        for number in 0..100_000 {
            shelf.put(&format!("key_{number}"), entry(number));
            assert_eq!(shelf.get("used"), Some(0), "after {number}");
            assert!(shelf.bytes() <= PARTS * 64 * 1024);
        }
        assert!(shelf.len() > 1_000 && shelf.len() * (100 + OVERHEAD) < PARTS * 64 * 1024);
        shelf.clear();
        assert_eq!((shelf.len(), shelf.bytes(), shelf.get("used")), (0, 0, None));
    }

    #[test]
    fn what_a_former_entry_rested_on_is_returned() {
        let shelf = Shelf::new(PARTS * 64 * 1024);
        let first = entry(1);
        let footing = Arc::clone(&first.rests_on[0]);
        assert!(shelf.put("key", first).is_empty());
        footing.fall();
        assert_eq!(shelf.get("key"), None, "what it rests on has fallen");
        let gone = shelf.put("key", entry(2));
        assert!(gone.len() == 1 && Arc::ptr_eq(&gone[0], &footing));
        assert_eq!((shelf.get("key"), shelf.len()), (Some(2), 1));
    }

    #[test]
    fn what_is_larger_than_a_part_is_not_kept() {
        let shelf = Shelf::new(PARTS * 1024);
        let gone = shelf.put("key", Entry { bytes: 1_024, ..entry(1) });
        assert_eq!((gone.len(), shelf.get("key"), shelf.bytes()), (1, None, 0));
    }
}
