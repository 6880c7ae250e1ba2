//! Footings: one for each row of the database that something remembered was read of. A look that names a row makes its footing fall;
//! whatever is read of the row afterwards gets a new one.

use std::{collections::HashMap, sync::Arc};

use super::sync::{AtomicBool, Ordering};

/// Whether a row is as it was when it was read.
#[derive(Debug)]
#[cfg_attr(test, derive(Default))]
pub(crate) struct Footing {
    id: Arc<str>,
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

/// The footings that something rests on, by the id of their row.
#[derive(Debug, Default)]
pub(crate) struct Footings(HashMap<Arc<str>, Arc<Footing>>);

impl Footings {
    /// The footing of a row, made when nothing rested on the row before.
    pub(crate) fn of(&mut self, id: &str) -> Arc<Footing> {
        if let Some(footing) = self.0.get(id) {
            return Arc::clone(footing);
        }
        let id: Arc<str> = id.into();
        let footing = Arc::new(Footing { id: Arc::clone(&id), has_fallen: AtomicBool::new(false) });
        self.0.insert(id, Arc::clone(&footing));
        footing
    }

    /// The row changed.
    pub(crate) fn fall(&mut self, id: &str) {
        if let Some(footing) = self.0.remove(id) {
            footing.fall();
        }
    }

    /// Anything may have changed.
    pub(crate) fn fall_all(&mut self) {
        self.0.drain().for_each(|(_, footing)| footing.fall());
    }

    /// Forgets those of these that nothing rests on any more.
    pub(crate) fn release(&mut self, gone: Vec<Arc<Footing>>) {
        for footing in gone {
            let is_last = |known: &Arc<Footing>| Arc::ptr_eq(known, &footing) && Arc::strong_count(known) == 2;
            if self.0.get(&footing.id).is_some_and(is_last) {
                self.0.remove(&footing.id);
            }
        }
    }

    /// Forgets all that nothing rests on any more, for what rests in a shelf that others fill, too.
    #[cfg(feature = "remote")]
    pub(crate) fn sweep(&mut self) {
        self.0.retain(|_, footing| Arc::strong_count(footing) > 1);
    }

    #[cfg(any(test, feature = "remote"))]
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_footing_goes_with_the_last_that_rests_on_it() {
        let mut footings = Footings::default();
        let (first, second) = (footings.of("row"), footings.of("row"));
        footings.release(vec![first]);
        assert_eq!(footings.len(), 1);
        footings.release(vec![second]);
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
