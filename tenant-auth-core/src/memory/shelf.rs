//! A bounded map of what is remembered, by key (a cache with the CLOCK algorithm: second chance). It is bounded in bytes, which are
//! counted of the real lengths. A lookup takes one shared lock of one part of the map and writes at most one flag.
//!
//! An entry rests on footings, one for each row it was read of. When a look names a row, its footing falls, and with it every entry
//! that rests on it, however many these are; the entries themselves go when their place is needed. The row by whose id an entry is
//! found needs no footing: the entry itself falls.

use std::{hash::BuildHasher, sync::Arc};

use super::{
    footing::Footing,
    part::{Keyed, MOST_FOOTINGS, Part, Place},
    sync::{AtomicBool, AtomicUsize, Ordering, PoisonError, RandomState, RwLock},
};

/// Into how many parts the map is divided, so that lookups on many cores seldom meet.
const PARTS: usize = 16;

/// A bounded map.
#[derive(Debug)]
pub(crate) struct Shelf<V> {
    parts: [RwLock<Part<V>>; PARTS],
    choice: RandomState,
    most_bytes: usize,
    held: Held,
}

/// How much there is in all parts.
#[derive(Debug, Default)]
struct Held {
    entries: AtomicUsize,
    bytes: AtomicUsize,
    tokens: AtomicUsize,
    of_tokens: AtomicUsize,
}

/// An entry to remember.
#[derive(Debug)]
pub(crate) struct Entry<V> {
    pub(crate) value: V,
    /// Three at most.
    pub(crate) rests_on: Vec<Arc<Footing>>,
    /// The bytes that the value holds beyond its own size, with the footings that are made for it.
    pub(crate) bytes: usize,
}

impl<V: Keyed> Shelf<V> {
    /// What an entry takes beside what its value holds.
    pub(crate) const ENTRY: usize = size_of::<Place<V>>() + Part::<V>::TURN;

    /// An empty map of at most so many bytes.
    pub(crate) fn new(most_bytes: usize) -> Self {
        let choice = RandomState::new();
        let parts = std::array::from_fn(|_| RwLock::new(Part::new(choice.clone())));
        Self { parts, choice, most_bytes: most_bytes / PARTS, held: Held::default() }
    }

    /// What is seen of that which is remembered under this key, while all that it rests on stands.
    pub(crate) fn see<R>(&self, key: &[u8], seen: impl FnOnce(&V) -> R) -> Option<R> {
        let (hash, part) = self.part(key);
        let part = part.read().unwrap_or_else(PoisonError::into_inner);
        let place = part.get(hash, key).filter(|place| place.stands())?;
        if !place.was_used.load(Ordering::Relaxed) {
            place.was_used.store(true, Ordering::Relaxed);
        }
        Some(seen(&place.value))
    }

    /// What is remembered under this key, while all that it rests on stands.
    pub(crate) fn get(&self, key: &[u8]) -> Option<V>
    where
        V: Clone,
    {
        self.see(key, V::clone)
    }

    /// Remembers an entry. What has to go for it is returned: the footings that nobody may rest on any more.
    pub(crate) fn put(&self, entry: Entry<V>) -> Vec<Arc<Footing>> {
        let (_, part) = self.part(entry.value.key());
        self.put_in(&mut part.write().unwrap_or_else(PoisonError::into_inner), entry)
    }

    /// Puts what is made of that which stands under a key in its place: the same with another token. It rests on the same, so that it is
    /// no more lasting. Returned is what [`Shelf::put`] returns.
    #[cfg(feature = "service")]
    pub(crate) fn renew(&self, key: &[u8], made_of: impl FnOnce(&V) -> Option<V>) -> Vec<Arc<Footing>> {
        let (hash, part) = self.part(key);
        let mut part = part.write().unwrap_or_else(PoisonError::into_inner);
        let standing = part.get(hash, key).filter(|place| place.stands());
        let entry = standing.and_then(|place| {
            let value = made_of(&place.value)?;
            let [before, now] = [&place.value, &value].map(|value| value.of_token().unwrap_or_default());
            let bytes = place.bytes as usize - Self::ENTRY - before + now;
            Some(Entry { value, rests_on: place.rests_on.iter().flatten().cloned().collect(), bytes })
        });
        entry.map(|entry| self.put_in(&mut part, entry)).unwrap_or_default()
    }

    /// The row by whose id something is found changed.
    #[cfg(feature = "service")]
    pub(crate) fn fall(&self, key: &[u8]) {
        let (hash, part) = self.part(key);
        let part = part.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(place) = part.get(hash, key) {
            place.has_fallen.store(true, Ordering::Release);
        }
    }

    /// Forgets everything.
    pub(crate) fn clear(&self) {
        for part in &self.parts {
            let mut part = part.write().unwrap_or_else(PoisonError::into_inner);
            self.counting(&mut part, |part| *part = Part::new(self.choice.clone()));
        }
    }

    /// How many entries there are, those included that fell and have not gone yet.
    pub(crate) fn len(&self) -> usize {
        self.held.entries.load(Ordering::Relaxed)
    }

    /// The bytes that they hold.
    pub(crate) fn bytes(&self) -> usize {
        self.held.bytes.load(Ordering::Relaxed)
    }

    /// How many of them have a token, and what their tokens hold of the bytes.
    #[cfg(feature = "service")]
    pub(crate) fn tokens(&self) -> (usize, usize) {
        (self.held.tokens.load(Ordering::Relaxed), self.held.of_tokens.load(Ordering::Relaxed))
    }

    fn put_in(&self, part: &mut Part<V>, entry: Entry<V>) -> Vec<Arc<Footing>> {
        let Entry { value, rests_on: footings, bytes } = entry;
        let bytes = bytes + Self::ENTRY;
        // On more rows than there is room for it would not fall with each.
        let has_room = bytes <= self.most_bytes && footings.len() <= MOST_FOOTINGS;
        let Some(counted) = u32::try_from(bytes).ok().filter(|_| has_room) else { return footings };
        let mut footings = footings.into_iter();
        let rests_on = std::array::from_fn(|_| footings.next());
        let unused = || AtomicBool::new(false);
        let place = Box::new(Place { value, rests_on, bytes: counted, was_used: unused(), has_fallen: unused() });
        self.counting(part, |part| {
            let mut gone: Vec<_> = part.take(place.value.key()).into_iter().collect();
            while part.bytes + bytes > self.most_bytes {
                let Some(place) = part.evict() else { break };
                gone.push(place);
            }
            part.add(place);
            gone.into_iter().flat_map(|place| place.rests_on).flatten().collect()
        })
    }

    /// Changes a part, and counts what it holds more or less. Sums of differences wrap: a part shrinks as well as grows.
    fn counting<R>(&self, part: &mut Part<V>, change: impl FnOnce(&mut Part<V>) -> R) -> R {
        let measured = |part: &Part<V>| [part.len(), part.bytes, part.tokens, part.of_tokens];
        let before = measured(part);
        let result = change(part);
        let Held { entries, bytes, tokens, of_tokens } = &self.held;
        for ((held, now), before) in [entries, bytes, tokens, of_tokens].into_iter().zip(measured(part)).zip(before) {
            held.fetch_add(now.wrapping_sub(before), Ordering::Relaxed);
        }
        result
    }

    /// The hash of a key, and the part that it is in.
    fn part(&self, key: &[u8]) -> (u64, &RwLock<Part<V>>) {
        let hash = self.choice.hash_one(key);
        // By other bits than the index takes.
        (hash, &self.parts[(hash >> 32) as usize % PARTS])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, Clone, PartialEq)]
    struct Numbered(String, usize);

    impl Keyed for Numbered {
        fn key(&self) -> &[u8] {
            self.0.as_bytes()
        }

        fn of_token(&self) -> Option<usize> {
            Some(self.1).filter(|token| *token > 0)
        }
    }

    fn entry(key: &str, number: usize) -> Entry<Numbered> {
        Entry { value: Numbered(key.to_owned(), number), rests_on: vec![Arc::new(Footing::default())], bytes: 100 }
    }

    fn number(shelf: &Shelf<Numbered>, key: &str) -> Option<usize> {
        shelf.see(key.as_bytes(), |seen| seen.1)
    }

    const MOST: usize = PARTS * 64 * 1024;

    #[test]
    fn it_never_holds_more_than_it_may_and_keeps_what_is_used() {
        let shelf = Shelf::<Numbered>::new(MOST);
        shelf.put(entry("used", 0));
        for round in 0..100_000 {
            shelf.put(entry(&format!("key_{round}"), round));
            assert_eq!(number(&shelf, "used"), Some(0), "after {round}");
            assert!(shelf.bytes() <= MOST);
        }
        let whole = MOST / (100 + Shelf::<Numbered>::ENTRY);
        assert!(shelf.len() <= whole && shelf.len() > whole * 9 / 10, "{} of {whole}", shelf.len());
        let latest = (0..100_000).rev().take_while(|round| number(&shelf, &format!("key_{round}")).is_some()).count();
        assert!(latest > shelf.len() / 2, "the oldest go first: {latest} of {}", shelf.len());
        shelf.clear();
        assert_eq!((shelf.len(), shelf.bytes(), number(&shelf, "used")), (0, 0, None));
    }

    #[test]
    fn what_a_former_entry_rested_on_is_returned() {
        let shelf = Shelf::<Numbered>::new(MOST);
        let first = entry("key", 1);
        let footing = Arc::clone(&first.rests_on[0]);
        assert!(shelf.put(first).is_empty());
        footing.fall();
        assert_eq!(number(&shelf, "key"), None, "what it rests on has fallen");
        let gone = shelf.put(entry("key", 2));
        assert!(gone.len() == 1 && Arc::ptr_eq(&gone[0], &footing));
        assert_eq!((number(&shelf, "key"), shelf.len()), (Some(2), 1));
    }

    #[test]
    fn what_is_larger_than_a_part_is_not_kept() {
        let shelf = Shelf::new(PARTS * 1024);
        let gone = shelf.put(Entry { bytes: 1_024, ..entry("key", 1) });
        assert_eq!((gone.len(), number(&shelf, "key"), shelf.bytes()), (1, None, 0));
    }

    #[test]
    fn what_is_renewed_rests_on_the_same() {
        let shelf = Shelf::<Numbered>::new(MOST);
        let renew = |to: usize| shelf.renew(b"key", |seen: &Numbered| Some(Numbered(seen.0.clone(), to)));
        for falls_itself in [true, false] {
            let first = entry("key", 1);
            let footing = Arc::clone(&first.rests_on[0]);
            shelf.put(first);
            let before = shelf.bytes();
            renew(2);
            assert_eq!((number(&shelf, "key"), shelf.bytes()), (Some(2), before + 1));
            if falls_itself {
                shelf.fall(b"key")
            } else {
                footing.fall()
            }
            assert_eq!(number(&shelf, "key"), None);
            renew(3);
            assert_eq!(number(&shelf, "key"), None, "what has fallen is not renewed");
            assert_eq!(shelf.tokens(), (1, 2));
        }
        assert_eq!(shelf.len(), 1);
    }
}
