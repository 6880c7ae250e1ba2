//! Pagination with cursors (keyset pagination). Every list is ordered by (time, id); a cursor is the position of the last entry shown,
//! so that entries added or removed in the meantime neither repeat nor hide others. A page is bounded by a number of entries and by
//! the bytes of its JSON, because entries hold what customers put into them.

mod listed;
mod reading;

use sha2::{Digest, Sha256};

use crate::{
    error::{Error, InvalidValue},
    model::SortOrder,
    time::Timestamp,
};

pub(crate) use reading::{Bounds, Listed, Reading};

/// The largest page, and the default size.
pub(crate) const MOST: u32 = 1_000;

/// The most bytes of a page's entries as JSON: 1 MiB with what the answer puts around them. The first entry is always shown.
pub(crate) const MOST_BYTES: usize = (1 << 20) - 1_024;

/// Bytes that an answer adds to an entry: the comma, and whether a session is the caller's.
pub(crate) const AROUND_ENTRY: usize = 32;

/// The most rows that one statement reads: so many of the largest entries take about as much memory as a page.
pub(crate) const BATCH: usize = 64;

/// The requested page of a list: where it begins, in which order, and how many entries it has at most.
#[derive(Debug, Clone)]
pub struct Page {
    after: Option<Cursor>,
    limit: u32,
    order: SortOrder,
}

/// The place in one list where its next page begins. A cursor belongs to its list, filter and order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cursor {
    pub(crate) position: Position,
    /// The list that the cursor belongs to; see [`ListId`].
    pub(crate) list: ListId,
}

/// A position in a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Position {
    pub(crate) time: Timestamp,
    pub(crate) id: String,
}

/// A list with its filter and order, as a short digest. It guards against mistakes and not against attackers: what a caller may see
/// is decided by the statement, whatever the cursor says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ListId(pub(crate) u64);

/// One page of a list.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct List<T> {
    /// The entries, by (time, id).
    pub items: Vec<T>,
    /// Where the list goes on, when it does: the next page is [`Page::after`] it, in the same order.
    pub next: Option<Cursor>,
}

impl Default for Page {
    /// The first thousand.
    fn default() -> Self {
        Self { after: None, limit: MOST, order: SortOrder::Ascending }
    }
}

impl Page {
    /// The first `limit` entries, 1 to 1,000.
    ///
    /// # Errors
    /// [`Error::Invalid`] for another limit.
    pub fn first(limit: u32) -> Result<Self, Error> {
        if (1..=MOST).contains(&limit) { Ok(Self { limit, ..Self::default() }) } else { Err(InvalidValue::PageLimit.into()) }
    }

    /// The next `limit` entries, 1 to 1,000, after the page that came with `cursor`. The limit may differ from that page's.
    ///
    /// # Errors
    /// [`Error::Invalid`] for another limit.
    pub fn after(cursor: Cursor, limit: u32) -> Result<Self, Error> {
        Ok(Self { after: Some(cursor), ..Self::first(limit)? })
    }

    /// The same page in this order; without it, the oldest entries come first.
    #[must_use]
    pub fn ordered(self, order: SortOrder) -> Self {
        Self { order, ..self }
    }

    /// Whether nothing comes before it.
    pub(crate) fn is_first(&self) -> bool {
        self.after.is_none()
    }
}

impl ListId {
    fn of(parts: &[&str]) -> Self {
        let mut hash = Sha256::new();
        for part in parts {
            hash.update(part.len().to_be_bytes());
            hash.update(part);
        }
        let bytes = hash.finalize();
        Self(bytes.iter().take(8).fold(0, |number, byte| number << 8 | u64::from(*byte)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bad_limits_are_refused() {
        for limit in [0, 1_001, u32::MAX] {
            assert!(Page::first(limit).is_err(), "{limit}");
        }
    }
}
