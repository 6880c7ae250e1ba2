//! Footings: one for each row of the database that something remembered was read of. A look that names a row makes its footing fall;
//! whatever is read of the row afterwards gets a new one.

use std::{hash::BuildHasher, sync::Arc};

use hashbrown::HashTable;

use super::sync::{AtomicBool, Ordering, RandomState};

/// Whether a row is as it was when it was read.
#[derive(Debug)]
#[cfg_attr(test, derive(Default))]
pub(crate) struct Footing {
    /// The hash of the row's id, in the id's place: that is a third of the bytes. Rows whose hashes are the same fall together, so that
    /// one of them is read once more than it need be.
    row: u64,
    has_fallen: AtomicBool,
}

impl Footing {
    pub(crate) fn stands(&self) -> bool {
        !self.has_fallen.load(Ordering::Acquire)
    }

    pub(crate) fn fall(&self) {
        self.has_fallen.store(true, Ordering::Release);
    }
}

/// The footings that something rests on, by the hash of their row's id.
#[derive(Debug, Default)]
pub(crate) struct Footings {
    known: HashTable<Arc<Footing>>,
    choice: RandomState,
}

impl Footings {
    /// The footing of a row, made when nothing rested on the row before.
    pub(crate) fn of(&mut self, id: &str) -> Arc<Footing> {
        let row = self.choice.hash_one(id);
        let made = || Arc::new(Footing { row, has_fallen: AtomicBool::new(false) });
        let known = self.known.entry(row, |footing| footing.row == row, |footing| footing.row);
        Arc::clone(known.or_insert_with(made).get())
    }

    /// The row changed.
    pub(crate) fn fall(&mut self, id: &str) {
        let row = self.choice.hash_one(id);
        if let Ok(known) = self.known.find_entry(row, |footing| footing.row == row) {
            known.remove().0.fall();
        }
    }

    /// Anything may have changed.
    pub(crate) fn fall_all(&mut self) {
        self.known.drain().for_each(|footing| footing.fall());
    }

    /// Forgets those of these that nothing rests on any more.
    pub(crate) fn release(&mut self, gone: impl IntoIterator<Item = Arc<Footing>>) {
        for footing in gone {
            let is_last = |known: &Arc<Footing>| Arc::ptr_eq(known, &footing) && Arc::strong_count(known) == 2;
            if let Ok(known) = self.known.find_entry(footing.row, is_last) {
                known.remove();
            }
        }
    }

    /// Forgets all that nothing rests on any more, for what rests in a shelf that others fill, too.
    #[cfg(feature = "remote")]
    pub(crate) fn sweep(&mut self) {
        self.known.retain(|footing| Arc::strong_count(footing) > 1);
    }

    #[cfg(any(test, feature = "remote"))]
    pub(crate) fn len(&self) -> usize {
        self.known.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_footing_goes_with_the_last_that_rests_on_it() {
        let mut footings = Footings::default();
        let (first, second) = (footings.of("row"), footings.of("row"));
        footings.release([first]);
        assert_eq!(footings.len(), 1);
        footings.release([second]);
        assert_eq!(footings.len(), 0);
        #[cfg(feature = "remote")]
        {
            let kept = footings.of("kept");
            drop(footings.of("gone"));
            footings.sweep();
            assert_eq!((footings.len(), kept.stands()), (1, true));
        }
        let before = footings.of("row");
        footings.fall("row");
        assert!(!before.stands() && footings.of("row").stands());
    }
}
