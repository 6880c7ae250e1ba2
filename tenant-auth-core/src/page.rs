//! Pagination with cursors. Every list is ordered by (time, id); a cursor is the position of the last entry shown, so that entries
//! added or removed in the meantime neither repeat nor hide others.

use crate::{
    error::{Error, InvalidValue},
    time::Timestamp,
};

/// The largest page, and the default size.
pub(crate) const MOST: u32 = 1_000;

/// The requested page of a list: where it begins, and how many entries it has at most.
#[derive(Debug, Clone)]
pub struct Page {
    after: Option<Cursor>,
    limit: u32,
}

/// A position in a list: that of the last entry of a page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cursor {
    pub(crate) time: Timestamp,
    pub(crate) id: String,
}

/// One page of a list.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct List<T> {
    /// The entries, by (time, id).
    pub items: Vec<T>,
    /// The position after which the list goes on, when it does: the next page is [`Page::after`] it.
    pub next: Option<Cursor>,
}

/// An entry with a position in a list.
pub(crate) trait Listed {
    fn position(&self) -> Cursor;
}

impl Default for Page {
    /// The first thousand.
    fn default() -> Self {
        Self { after: None, limit: MOST }
    }
}

impl Page {
    /// The first `limit` entries, 1 to 1,000.
    ///
    /// # Errors
    /// [`Error::Invalid`] for another limit.
    pub fn first(limit: u32) -> Result<Self, Error> {
        if (1..=MOST).contains(&limit) { Ok(Self { after: None, limit }) } else { Err(InvalidValue::PageLimit.into()) }
    }

    /// The next `limit` entries, 1 to 1,000, after the page that came with `cursor`. The limit may differ from that page's.
    ///
    /// # Errors
    /// [`Error::Invalid`] for another limit.
    pub fn after(cursor: Cursor, limit: u32) -> Result<Self, Error> {
        Ok(Self { after: Some(cursor), ..Self::first(limit)? })
    }

    /// The page as parameters of a statement: the position to start after (before everything when there is none), and one entry
    /// more than is shown, to see whether the list goes on.
    pub(crate) fn bounds(&self) -> (i64, &str, i64) {
        let limit = i64::from(self.limit) + 1;
        match &self.after {
            Some(Cursor { time, id }) => (time.millis(), id.as_str(), limit),
            None => (i64::MIN, "", limit),
        }
    }

    /// Cuts the rows read within [`Self::bounds`] to a page.
    pub(crate) fn cut<T: Listed>(&self, mut items: Vec<T>) -> List<T> {
        let limit = self.limit as usize;
        let goes_on = items.len() > limit;
        items.truncate(limit);
        let next = items.last().filter(|_| goes_on).map(Listed::position);
        List { items, next }
    }
}

macro_rules! listed {
    ($($type:ty: $($time:ident).+, $($id:ident).+;)*) => { $(
        impl Listed for $type {
            fn position(&self) -> Cursor {
                Cursor { time: self.$($time).+, id: self.$($id).+.as_str().to_owned() }
            }
        }
    )* };
}

listed! {
    crate::model::MemberEntry: membership.joined_at, membership.user_id;
    crate::model::Invite: created_at, id;
    crate::model::ApiKey: created_at, id;
    crate::model::SessionSummary: created_at, id;
    crate::model::Organization: created_at, id;
    crate::model::Webhook: created_at, id;
    crate::model::Delivery: created_at, id;
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Entry(i64, &'static str);
    impl Listed for Entry {
        fn position(&self) -> Cursor {
            Cursor { time: Timestamp::from_millis(self.0), id: self.1.to_owned() }
        }
    }

    #[test]
    fn a_cut_list_says_where_it_goes_on() {
        let page = Page::first(2).expect("a limit");
        let list = page.cut(vec![Entry(1, "a"), Entry(1, "b"), Entry(2, "c")]);
        assert_eq!(list.items.len(), 2);
        let next = Page::after(list.next.expect("it was cut"), 1_000).expect("another limit");
        assert_eq!(next.bounds(), (1, "b", 1_001));
        assert!(page.cut(vec![Entry(1, "a"), Entry(1, "b")]).next.is_none(), "not cut");
    }

    #[test]
    fn bad_limits_are_refused() {
        for limit in [0, 1_001, u32::MAX] {
            assert!(Page::first(limit).is_err(), "{limit}");
        }
    }
}
