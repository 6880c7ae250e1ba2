//! The rule by which something read is kept, and what a look makes fall.

use std::sync::Arc;

use prometheus_client::registry::Registry;

use super::{ledger::Fill, remembered::Remembered, view::View};
use crate::{
    id::Id,
    metrics::MemoryMeter,
    model::{Organization, Status},
    store::{Named, Place, Sight, Subject},
    time::Timestamp,
    value::{DisplayName, Plan, Slug},
};

fn remembered() -> Remembered {
    let remembered = Remembered::new(16 * 1024 * 1024, MemoryMeter::registered(&mut Registry::default()));
    remembered.apply(&sight(true, &[]));
    remembered
}

fn sight(everything: bool, ids: &[&str]) -> Sight {
    let named = |id: &&str| Named { subject: Subject::Organization, id: (*id).to_owned(), org_id: None, number: 0 };
    let (named, place) = (ids.iter().map(named).collect(), Place { next: 1, unfinished: Vec::new() });
    Sight { everything, named, incarnation: "one.1".to_owned(), freshness: 100, usable: 100, mark: 0, place }
}

fn org(number: usize) -> Arc<Organization> {
    Arc::new(Organization {
        id: Id::from_stored(format!("org_{number}")),
        name: DisplayName::from_stored("Acme".to_owned()),
        slug: Slug::from_stored(format!("acme-{number}")),
        plan: Plan::default(),
        status: Status::Active,
        app_url: None,
        allowed_origins: Vec::new(),
        deletes_at: None,
        is_trusted: true,
        unproven_until: None,
        created_at: Timestamp::from_millis(0),
    })
}

fn keep(view: View<'_>, fill: Fill) {
    view.keep_organization(fill, &org(1), Some("one"));
}

fn is_known(view: View<'_>) -> bool {
    view.organization(&org(1).slug).is_some()
}

#[test]
fn what_was_read_is_known_until_a_look_names_it() {
    let remembered = remembered();
    let view = View::of(&remembered);
    keep(view, view.fill());
    remembered.apply(&sight(false, &["org_2"]));
    assert!(is_known(view));
    remembered.apply(&sight(false, &["org_2", "org_1"]));
    assert!(!is_known(view));
    keep(view, view.fill());
    assert!(is_known(view), "read again");
}

#[test]
fn what_a_look_named_while_it_was_read_is_not_kept() {
    let remembered = remembered();
    let view = View::of(&remembered);
    for named in [sight(false, &["org_1"]), sight(true, &[]), sight(false, &[""])] {
        let fill = view.fill();
        remembered.apply(&named);
        keep(view, fill);
        assert!(!is_known(view), "{named:?}");
    }
    let fill = view.fill();
    remembered.forget();
    keep(view, fill);
    assert!(!is_known(view), "a look failed meanwhile");
    let fill = view.fill();
    remembered.apply(&sight(false, &["org_2"]));
    keep(view, fill);
    assert!(is_known(view), "another row was named");
}

#[test]
fn a_reading_that_lasted_longer_than_the_names_are_kept_is_not_kept() {
    let remembered = remembered();
    let view = View::of(&remembered);
    let fill = view.fill();
    remembered.apply(&sight(false, &["org_1"]));
    for number in 10..5_000 {
        remembered.apply(&sight(false, &[&format!("org_{number}")]));
    }
    keep(view, fill);
    assert!(!is_known(view));
}

#[test]
fn another_incarnation_makes_everything_fall_and_its_answers_are_not_kept() {
    let remembered = remembered();
    let view = View::of(&remembered);
    keep(view, view.fill());
    let fill = view.fill();
    remembered.apply(&Sight { incarnation: "two.1".to_owned(), ..sight(false, &[]) });
    assert!(!is_known(view));
    keep(view, fill);
    keep(view, view.fill());
    view.keep_organization(view.fill(), &org(1), None);
    assert!(!is_known(view), "answered by another database, or by one without a name");
    view.keep_organization(view.fill(), &org(1), Some("two"));
    assert!(is_known(view));
}
