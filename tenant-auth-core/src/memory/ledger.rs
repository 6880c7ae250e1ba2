//! The rule by which something read may be kept: when no look that was applied since the reading began named a row that it rests on, or
//! everything, and the same incarnation of the database answered. A look that is applied later names the row then.

use std::{collections::VecDeque, sync::Arc};

use super::{
    footing::{Footing, Footings},
    part::Keyed,
    shelf::{Entry, Shelf},
};

/// How many names of former looks are kept, to judge what was being read meanwhile. A reading that lasted longer is not kept.
const NAMES: usize = 4_096;

/// What the looks said.
#[derive(Debug, Default)]
pub(super) struct Ledger {
    /// How many looks were applied.
    applied: u64,
    /// The looks after this one are all in `named`.
    complete_since: u64,
    /// The ids that looks named, by the number of the look.
    named: VecDeque<(u64, String)>,
    incarnation: String,
    footings: Footings,
}

/// The beginning of a reading.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Fill {
    since: u64,
}

/// What was read, and by which incarnation of the database it was answered.
#[derive(Debug)]
pub(super) struct Reading<'a> {
    pub(super) fill: Fill,
    pub(super) incarnation: Option<&'a str>,
    pub(super) rests_on: Vec<&'a str>,
}

impl Ledger {
    /// A reading begins.
    pub(super) fn fill(&self) -> Fill {
        Fill { since: self.applied }
    }

    /// The incarnation that the last look saw.
    pub(super) fn incarnation(&self) -> &str {
        &self.incarnation
    }

    /// A look named these rows.
    pub(super) fn name<'n>(&mut self, ids: impl IntoIterator<Item = &'n str>) {
        self.applied += 1;
        for id in ids {
            self.footings.fall(id);
            self.named.push_back((self.applied, id.to_owned()));
        }
        while self.named.len() > NAMES {
            let oldest = self.named.pop_front();
            self.complete_since = oldest.map_or(self.applied, |(number, _)| number);
        }
    }

    /// Anything may have changed.
    pub(super) fn name_all(&mut self) {
        self.applied += 1;
        self.complete_since = self.applied;
        self.named.clear();
        self.footings.fall_all();
    }

    /// A look saw this incarnation.
    pub(super) fn begin(&mut self, incarnation: &str) {
        incarnation.clone_into(&mut self.incarnation);
    }

    /// Keeps what was read, if it may be kept: on footings, but for the row by whose id it is found, which the look makes fall in the
    /// shelf. The caller holds the ledger meanwhile, so that no look comes between the judgement and the keeping.
    pub(super) fn keep<V: Keyed>(&mut self, shelf: &Shelf<V>, entry: Entry<V>, reading: &Reading<'_>) {
        if !self.admits(reading) {
            return;
        }
        let others = reading.rests_on.iter().filter(|id| id.as_bytes() != entry.value.key());
        let rests_on = others.map(|id| self.footings.of(id)).collect();
        let gone = shelf.put(Entry { rests_on, ..entry });
        self.footings.release(gone);
    }

    /// Forgets those of these footings that nothing rests on any more.
    pub(super) fn release(&mut self, gone: Vec<Arc<Footing>>) {
        self.footings.release(gone);
    }

    fn admits(&self, reading: &Reading<'_>) -> bool {
        let since = reading.fill.since;
        // A look's incarnation says more than a reading's: also whether the table is the same.
        let is_same = reading.incarnation.is_some_and(|token| self.incarnation.split('.').next() == Some(token));
        let later = self.named.iter().rev().take_while(|(number, _)| *number > since);
        is_same && since >= self.complete_since && !later.into_iter().any(|(_, id)| reading.rests_on.contains(&id.as_str()))
    }
}
