//! Pagination with cursors. Every list is ordered by (time, id); a cursor is the position of the last entry shown, so that entries
//! added or removed in the meantime neither repeat nor hide others.

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};

use crate::{
    error::{Error, InvalidValue},
    time::Timestamp,
};

/// The largest page, and the default size.
pub(crate) const MOST: u32 = 1_000;

/// The requested page: a limit and a cursor.
#[derive(Debug, Clone)]
pub struct Page {
    after: Option<(Timestamp, String)>,
    limit: u32,
}

/// One page of a list.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct List<T> {
    /// The entries, by (time, id).
    pub items: Vec<T>,
    /// Where the next page begins, when there is one.
    pub next_cursor: Option<String>,
}

/// An entry with a position in a list.
pub(crate) trait Listed {
    fn position(&self) -> (Timestamp, &str);
}

impl Default for Page {
    /// The first thousand.
    fn default() -> Self {
        Self { after: None, limit: MOST }
    }
}

impl Page {
    /// From the texts of `?limit=` (1–1,000) and `?cursor=`.
    ///
    /// # Errors
    /// [`Error::Invalid`], saying which of them is wrong.
    pub fn parse(limit: Option<&str>, cursor: Option<&str>) -> Result<Self, Error> {
        let limit = match limit {
            None => MOST,
            Some(text) => text.parse().ok().filter(|limit| (1..=MOST).contains(limit)).ok_or(InvalidValue::PageLimit)?,
        };
        let after = match cursor {
            None => None,
            Some(text) => Some(position_from(text).ok_or(InvalidValue::PageCursor)?),
        };
        Ok(Self { after, limit })
    }

    /// The page after an entry, to walk a list without the text of cursors.
    pub(crate) fn after(last: &impl Listed) -> Self {
        let (time, id) = last.position();
        Self { after: Some((time, id.to_owned())), limit: MOST }
    }

    /// The page as parameters of a statement: the position to start after (before everything when there is none), and one entry
    /// more than is shown, to see whether the list goes on.
    pub(crate) fn bounds(&self) -> (i64, &str, i64) {
        let limit = i64::from(self.limit) + 1;
        match &self.after {
            Some((time, id)) => (time.millis(), id.as_str(), limit),
            None => (i64::MIN, "", limit),
        }
    }

    /// Cuts the rows read within [`Self::bounds`] to a page.
    pub(crate) fn cut<T: Listed>(&self, mut items: Vec<T>) -> List<T> {
        let limit = self.limit as usize;
        let next_cursor = (items.len() > limit).then(|| items.get(limit - 1).map(|last| cursor_of(last.position()))).flatten();
        items.truncate(limit);
        List { items, next_cursor }
    }
}

fn cursor_of((time, id): (Timestamp, &str)) -> String {
    URL_SAFE_NO_PAD.encode(format!("{}.{id}", time.millis()))
}

fn position_from(cursor: &str) -> Option<(Timestamp, String)> {
    let text = String::from_utf8(URL_SAFE_NO_PAD.decode(cursor).ok()?).ok()?;
    let (time, id) = text.split_once('.')?;
    let well_formed = id.len() <= 64 && id.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
    well_formed.then_some((Timestamp::from_millis(time.parse().ok()?), id.to_owned()))
}

macro_rules! listed {
    ($($type:ty: $time:ident, $id:ident;)*) => { $(
        impl Listed for $type {
            fn position(&self) -> (Timestamp, &str) {
                (self.$time, self.$id.as_str())
            }
        }
    )* };
}

listed! {
    crate::model::MemberEntry: joined_at, user_id;
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
        fn position(&self) -> (Timestamp, &str) {
            (Timestamp::from_millis(self.0), self.1)
        }
    }

    #[test]
    fn a_cut_list_says_where_it_goes_on() {
        let page = Page::parse(Some("2"), None).expect("valid");
        let list = page.cut(vec![Entry(1, "a"), Entry(1, "b"), Entry(2, "c")]);
        assert_eq!(list.items.len(), 2);
        let next = Page::parse(None, list.next_cursor.as_deref()).expect("its own cursor");
        assert_eq!(next.bounds(), (1, "b", 1001));
        assert!(page.cut(vec![Entry(1, "a"), Entry(1, "b")]).next_cursor.is_none(), "not cut");
    }

    #[test]
    fn bad_limits_and_cursors_are_refused() {
        for limit in ["0", "1001", "-1", "x", ""] {
            assert!(Page::parse(Some(limit), None).is_err(), "{limit}");
        }
        for cursor in ["", "!", "AAAA", "MS4nOyBEUk9Q"] {
            assert!(Page::parse(None, Some(cursor)).is_err(), "{cursor}");
        }
    }
}
