//! The latest changes in two pages, of which the older one goes when the younger one is full: in the order in which looks saw them,
//! and by organization. Whoever asks what changed is answered by what came after a place, however much else the pages hold.

use std::{collections::HashMap, time::Duration};

use super::{
    moment::Moment,
    news::{Bookmark, News},
};
use crate::{
    id::OrgId,
    store::{Named, Place},
};

/// The most rows of a page.
const MOST: usize = 25_000;
/// A page that began so long ago is turned.
const TURNED_AFTER: Duration = Duration::from_secs(30);

/// The pages.
#[derive(Debug)]
pub(super) struct Pages {
    /// How far the last look saw.
    pub(super) newest: Bookmark,
    former: Page,
    current: Page,
}

/// What looks named since a place.
#[derive(Debug)]
struct Page {
    since: Place,
    began: Moment,
    /// In the order of the looks.
    rows: Vec<Named>,
    looks: Vec<Look>,
    /// Where the rows stand that concern every organization, and those of each.
    of_all: Vec<usize>,
    by_org: HashMap<OrgId, Vec<usize>>,
}

/// A look that named something.
#[derive(Debug)]
struct Look {
    /// How far the look before had seen.
    since: Place,
    /// Where its rows begin.
    first: usize,
}

impl Pages {
    /// Pages that begin at a look.
    pub(super) fn since(newest: Bookmark, now: Moment) -> Self {
        let page = || Page::since(newest.place.clone(), now);
        Self { former: page(), current: page(), newest }
    }

    /// Takes in what the next look named, and how far it saw.
    pub(super) fn take_in(&mut self, named: &[Named], newest: Bookmark, now: Moment) {
        if self.current.rows.len() + named.len() > MOST || now.since(self.current.began) > TURNED_AFTER {
            self.former = std::mem::replace(&mut self.current, Page::since(self.newest.place.clone(), now));
        }
        self.current.take_in(&self.newest.place, named);
        self.newest = newest;
    }

    /// The rows of an organization, or of all, that a place had not seen; `None` when it goes back further than the pages.
    pub(super) fn after<'a>(&'a self, seen: &Place, org: Option<&OrgId>) -> Option<Vec<&'a Named>> {
        if !self.former.since.is_within(seen) {
            return None;
        }
        let mut rows = Vec::new();
        for page in [&self.former, &self.current] {
            match org {
                Some(org) => rows.extend(page.of(org).filter(|row| seen.precedes(row.number))),
                None => rows.extend(page.later_than(seen).iter().filter(|row| seen.precedes(row.number))),
            }
        }
        Some(rows)
    }
}

impl Page {
    fn since(since: Place, began: Moment) -> Self {
        Self { since, began, rows: Vec::new(), looks: Vec::new(), of_all: Vec::new(), by_org: HashMap::new() }
    }

    fn take_in(&mut self, since: &Place, named: &[Named]) {
        let first = self.rows.len();
        for row in named.iter().filter(|row| !News::concerns_nobody(row)) {
            match &row.org_id {
                Some(org) => self.by_org.entry(org.clone()).or_default().push(self.rows.len()),
                None => self.of_all.push(self.rows.len()),
            }
            self.rows.push(row.clone());
        }
        if self.rows.len() > first {
            self.looks.push(Look { since: since.clone(), first });
        }
    }

    /// What concerns an organization.
    fn of(&self, org: &OrgId) -> impl Iterator<Item = &Named> {
        self.of_all.iter().chain(self.by_org.get(org).into_iter().flatten()).filter_map(|place| self.rows.get(*place))
    }

    /// What the looks named after a place, and perhaps some that it had seen. Each look saw all that the looks before it saw, so what
    /// came before the last one that began within the place is known there.
    fn later_than(&self, seen: &Place) -> &[Named] {
        let known = self.looks.partition_point(|look| look.since.is_within(seen));
        let last = known.checked_sub(1).and_then(|last| self.looks.get(last));
        self.rows.get(last.map_or(0, |look| look.first)..).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::Subject;

    fn bookmark(next: i64, unfinished: &[i64]) -> Bookmark {
        Bookmark { incarnation: 1, mark: 1, place: Place { next, unfinished: unfinished.to_vec() } }
    }

    fn row(org: u8, number: i64) -> Named {
        let org_id = Some(OrgId::from_stored(format!("org_{org}")));
        Named { subject: Subject::Session, id: format!("ses_{number}"), org_id, number }
    }

    fn numbers(pages: &Pages, seen: &Bookmark, org: Option<&str>) -> Option<Vec<i64>> {
        let org = org.map(OrgId::from_stored);
        Some(pages.after(&seen.place, org.as_ref())?.into_iter().map(|row| row.number).collect())
    }

    #[test]
    fn what_came_after_a_place_is_told_of_one_and_of_all() {
        let now = Moment::now();
        let looks = [bookmark(10, &[]), bookmark(14, &[11]), bookmark(14, &[11]), bookmark(16, &[])];
        let mut pages = Pages::since(looks[0].clone(), now);
        let of_account = Named { subject: Subject::User, org_id: None, ..row(1, 13) };
        pages.take_in(&[row(1, 10), row(2, 12), of_account], looks[1].clone(), now);
        pages.take_in(&[], looks[2].clone(), now);
        pages.take_in(&[row(2, 14), row(1, 11)], looks[3].clone(), now);
        assert_eq!(numbers(&pages, &looks[0], None), Some(vec![10, 12, 14, 11]));
        assert_eq!(numbers(&pages, &looks[0], Some("org_1")), Some(vec![10, 11]));
        for seen in &looks[1..3] {
            assert_eq!(numbers(&pages, seen, None), Some(vec![14, 11]));
            assert_eq!(numbers(&pages, seen, Some("org_1")), Some(vec![11]));
        }
        assert_eq!(numbers(&pages, &looks[3], None), Some(vec![]));
        assert_eq!(
            numbers(&pages, &bookmark(13, &[11]), None),
            Some(vec![14, 11]),
            "a place of another process, between two looks"
        );
        assert_eq!(numbers(&pages, &bookmark(9, &[]), None), None);
        assert_eq!(pages.current.later_than(&looks[1].place).len(), 2, "the others are not looked at");
    }

    #[test]
    fn a_page_that_is_full_is_turned_and_the_one_before_it_goes() {
        let now = Moment::now();
        let mut pages = Pages::since(bookmark(1, &[]), now);
        let mut next = 1;
        let mut look = |count: usize| {
            let rows: Vec<Named> = (next..).take(count).map(|number| row(1, number)).collect();
            next += i64::try_from(count).expect("a number");
            (rows, bookmark(next, &[]))
        };
        let (rows, half) = look(MOST);
        pages.take_in(&rows, half.clone(), now);
        let (rows, later) = look(2);
        pages.take_in(&rows, later.clone(), now);
        assert_eq!(numbers(&pages, &bookmark(1, &[]), None).map(|rows| rows.len()), Some(MOST + 2));
        let (rows, _) = look(MOST);
        pages.take_in(&rows, bookmark(100_000, &[]), now);
        assert_eq!(numbers(&pages, &bookmark(1, &[]), None), None);
        assert_eq!(numbers(&pages, &half, None).map(|rows| rows.len()), Some(MOST + 2));
        assert_eq!(numbers(&pages, &later, None).map(|rows| rows.len()), Some(MOST));
    }
}
