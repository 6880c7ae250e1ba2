//! A page of a list while it is read: batch by batch, until it has as many entries as were asked for, or as many bytes as fit.

use super::{AROUND_ENTRY, BATCH, Cursor, List, ListId, MOST_BYTES, Page, Position};
use crate::{
    error::{Error, InvalidValue},
    model::SortOrder,
};

/// An entry with a position in a list.
pub(crate) trait Listed {
    fn position(&self) -> Position;
    /// The bytes of the entry as JSON.
    fn size(&self) -> usize;
}

/// A page while it is read, batch by batch, so that no more than a page is ever in memory:
///
/// ```text
/// while let Some(bounds) = reading.wants() { reading.take(statement(&bounds)) }
/// reading.finish()
/// ```
pub(crate) struct Reading<T> {
    list: ListId,
    order: SortOrder,
    limit: usize,
    /// The position up to which rows were read.
    reached: Option<Position>,
    /// How many rows the last batch may have had.
    asked: usize,
    items: Vec<T>,
    bytes: usize,
    /// Whether the list goes on after the page; `None` while the page is not full and there may be more rows.
    goes_on: Option<bool>,
}

/// The next rows to read, as parameters of a statement: those after (time, id) in this order.
pub(crate) struct Bounds {
    pub(crate) order: SortOrder,
    pub(crate) time: i64,
    pub(crate) id: String,
    pub(crate) rows: i64,
}

impl Page {
    /// Begins to read the page of a list; `list` names the list and everything that chooses its entries.
    ///
    /// # Errors
    /// [`Error::Invalid`] for a cursor of another list, filter or order.
    pub(crate) fn reading<T: Listed>(&self, list: &[&str]) -> Result<Reading<T>, Error> {
        let list = ListId::of(&[list, &[self.order.as_str()]].concat());
        if self.after.as_ref().is_some_and(|cursor| cursor.list != list) {
            return Err(InvalidValue::PageCursor.into());
        }
        Ok(Reading {
            list,
            order: self.order,
            limit: self.limit as usize,
            reached: self.after.as_ref().map(|cursor| cursor.position.clone()),
            asked: 0,
            items: Vec::new(),
            bytes: 0,
            goes_on: None,
        })
    }
}

impl<T: Listed> Reading<T> {
    /// The next rows that the page needs; `None` once it is complete. One row more than is shown tells whether the list goes on.
    pub(crate) fn wants(&mut self) -> Option<Bounds> {
        self.wants_at_most((self.limit + 1 - self.items.len()).min(BATCH))
    }

    /// The same, of a statement whose rows are small.
    pub(crate) fn wants_at_most(&mut self, rows: usize) -> Option<Bounds> {
        if self.goes_on.is_some() {
            return None;
        }
        self.asked = rows;
        let before_all = match self.order {
            SortOrder::Ascending => i64::MIN,
            SortOrder::Descending => i64::MAX,
        };
        let (time, id) =
            self.reached.as_ref().map_or((before_all, String::new()), |reached| (reached.time.millis(), reached.id.clone()));
        Some(Bounds { order: self.order, time, id, rows: i64::try_from(rows).unwrap_or(i64::MAX) })
    }

    /// The same, of a list that the caller may choose from: as many rows as are read at once.
    pub(crate) fn wants_to_choose(&mut self, is_choosy: bool) -> Option<Bounds> {
        if is_choosy { self.wants_at_most(BATCH) } else { self.wants() }
    }

    /// Takes the rows that were read within [`Self::wants`].
    pub(crate) fn take(&mut self, rows: Vec<T>) {
        self.take_those(rows, |_| true);
    }

    /// The same, of a list that the caller chooses from.
    pub(crate) fn take_those(&mut self, mut rows: Vec<T>, is_meant: impl FnMut(&T) -> bool) {
        let (count, end) = (rows.len(), rows.last().map(Listed::position));
        rows.retain(is_meant);
        self.add(rows);
        self.reach(count, end);
    }

    /// Adds entries until the page is full.
    pub(crate) fn add(&mut self, entries: Vec<T>) {
        for entry in entries {
            let bytes = self.bytes + entry.size() + AROUND_ENTRY;
            let is_full = self.items.len() == self.limit || (!self.items.is_empty() && bytes > MOST_BYTES);
            if self.is_full() || is_full {
                self.goes_on = Some(true);
                return;
            }
            self.bytes = bytes;
            self.items.push(entry);
        }
    }

    /// Whether the page takes no more entries.
    pub(crate) fn is_full(&self) -> bool {
        self.goes_on == Some(true)
    }

    /// Goes on after the `count` rows of a batch that ended at `end`; fewer rows than asked for were the last of the list.
    pub(crate) fn reach(&mut self, count: usize, end: Option<Position>) {
        if count < self.asked {
            self.goes_on.get_or_insert(false);
        }
        self.reached = end.or_else(|| self.reached.take());
    }

    /// The page.
    pub(crate) fn finish(self) -> List<T> {
        let last = self.items.last().filter(|_| self.goes_on == Some(true));
        let next = last.map(|last| Cursor { position: last.position(), list: self.list });
        List { items: self.items, next }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::Timestamp;

    #[derive(Debug, Clone, PartialEq)]
    struct Entry(i64, usize);

    impl Listed for Entry {
        fn position(&self) -> Position {
            Position { time: Timestamp::from_millis(self.0), id: "a".to_owned() }
        }
        fn size(&self) -> usize {
            self.1
        }
    }

    /// A page of a list in memory, and the largest batch that was read for it.
    fn read(page: &Page, list: &str, entries: &[Entry]) -> Result<(List<Entry>, usize), Error> {
        let mut reading = page.reading(&[list])?;
        let mut largest = 0;
        while let Some(Bounds { order, time, rows, .. }) = reading.wants() {
            let rows = usize::try_from(rows).expect("a few");
            let batch: Vec<Entry> = match order {
                SortOrder::Ascending => entries.iter().filter(|entry| entry.0 > time).take(rows).cloned().collect(),
                SortOrder::Descending => entries.iter().rev().filter(|entry| entry.0 < time).take(rows).cloned().collect(),
            };
            largest = largest.max(batch.len());
            reading.take(batch);
        }
        Ok((reading.finish(), largest))
    }

    fn times(list: &List<Entry>) -> Vec<i64> {
        list.items.iter().map(|entry| entry.0).collect()
    }

    #[test]
    fn a_cut_list_says_where_it_goes_on() {
        let entries: Vec<Entry> = (0..300).map(|n| Entry(n, 10)).collect();
        for (order, first) in [(SortOrder::Ascending, 0), (SortOrder::Descending, 299)] {
            let mut page = Page::first(70).expect("a limit").ordered(order);
            let mut seen = Vec::new();
            loop {
                let (list, largest) = read(&page, "list", &entries).expect("its own cursor");
                assert!(largest <= BATCH, "{largest}");
                seen.extend(times(&list));
                let Some(cursor) = list.next else { break };
                assert_eq!(list.items.len(), 70);
                page = Page::after(cursor, 70).expect("a limit").ordered(order);
            }
            assert_eq!(seen.first(), Some(&first));
            seen.sort_unstable();
            assert_eq!(seen, Vec::from_iter(0..300), "each entry once");
        }
    }

    #[test]
    fn a_list_that_ends_with_its_page_does_not_go_on() {
        let entries: Vec<Entry> = (0..128).map(|n| Entry(n, 10)).collect();
        for limit in [128, 129, 1_000] {
            let (list, _) = read(&Page::first(limit).expect("a limit"), "list", &entries).expect("no cursor");
            assert_eq!((list.items.len(), list.next), (128, None), "{limit}");
        }
    }

    #[test]
    fn a_page_ends_before_it_has_too_many_bytes() {
        let entries: Vec<Entry> = (0..200).map(|n| Entry(n, MOST_BYTES / 3)).collect();
        let (list, _) = read(&Page::default(), "list", &entries).expect("no cursor");
        assert_eq!(times(&list), [0, 1], "the third is too many with what stands around it");
        let next = Page::after(list.next.expect("it was cut"), 1).expect("another limit");
        assert_eq!(times(&read(&next, "list", &entries).expect("its cursor").0), [2]);
    }

    #[test]
    fn a_page_holds_one_entry_however_large() {
        let entries = [Entry(1, 2 * MOST_BYTES), Entry(2, 1)];
        let (list, _) = read(&Page::default(), "list", &entries).expect("no cursor");
        assert_eq!(times(&list), [1]);
        assert!(list.next.is_some());
    }

    #[test]
    fn a_cursor_belongs_to_its_list_and_order() {
        let entries = [Entry(1, 1), Entry(2, 1)];
        let (list, _) = read(&Page::first(1).expect("a limit"), "list", &entries).expect("no cursor");
        let next = Page::after(list.next.expect("it was cut"), 1).expect("a limit");
        assert!(read(&next, "list", &entries).is_ok());
        assert!(read(&next, "other", &entries).is_err());
        assert!(read(&next.ordered(SortOrder::Descending), "list", &entries).is_err());
    }
}
