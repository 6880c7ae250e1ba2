use std::time::Duration;

use serde_json::Value;
use tokio::time::timeout;

use super::{After, Event, Events};
use crate::{
    error::Error,
    id::{EventId, OrgId},
    model::{EventKind, Role},
    operator::NewOrganization,
    testing::TestAuth,
};

const SOON: Duration = Duration::from_secs(20);

async fn next(events: &mut Events) -> Event {
    timeout(SOON, events.next()).await.expect("there is one").expect("is read")
}

/// Everything there is so far, also what is told after a wait: the silence is longer than the second between two looks at all
/// organizations, on a slow machine, too.
async fn drained(events: &mut Events) -> Vec<Event> {
    let mut all = Vec::new();
    while let Ok(event) = timeout(Duration::from_secs(3), events.next()).await {
        all.push(event.expect("is read"));
    }
    all
}

fn numbers_of(events: &[Event], org: &OrgId) -> Vec<i64> {
    events.iter().filter(|event| event.org_id == *org).map(|event| event.sequence).collect()
}

#[tokio::test]
async fn events_of_one_organization_come_in_order_and_as_they_happen() {
    let test = TestAuth::new().await;
    let mut events = test.org.events();
    let so_far = drained(&mut events).await;
    let org = &test.org.organization().id;
    assert_eq!(numbers_of(&so_far, org), (1..=so_far.len() as i64).collect::<Vec<_>>());
    let (joined, _) = tokio::join!(next(&mut events), test.person("Grace Hopper", Role::Member));
    assert!(joined.is(EventKind::MemberJoined) && joined.slug.as_str() == "acme" && joined.actor.kind == "system", "{joined:?}");
    assert_eq!(joined.data.expect("is there")["member"]["name"], Value::from("Grace Hopper"));
    assert_eq!(joined.sequence, so_far.len() as i64 + 1);
}

#[tokio::test]
async fn events_of_all_organizations_go_on_where_each_was_left() {
    let test = TestAuth::new().await;
    let email = "first@globex.example".parse().expect("an address");
    let new = NewOrganization::new("Globex".parse().expect("a name"), "globex".parse().expect("a slug"), email);
    let globex = test.auth.operator().create_organization(new).await.expect("it is new").org.id;
    let acme = test.org.organization().id.clone();
    let mut events = test.auth.events();
    let all = drained(&mut events).await;
    for org in [&acme, &globex] {
        let numbers = numbers_of(&all, org);
        assert!(!numbers.is_empty() && numbers == (1..=numbers.len() as i64).collect::<Vec<_>>(), "{numbers:?}");
    }
    let (last, count) = (numbers_of(&all, &acme).len() as i64, numbers_of(&all, &globex).len());
    let before_last = all.iter().find(|event| event.org_id == acme && event.sequence == last - 1).expect("one").id.clone();
    for place in [After::from(last - 1), After::from(before_last)] {
        let mut resumed = test.auth.events().after(&acme, place);
        let again = drained(&mut resumed).await;
        assert_eq!((numbers_of(&again, &acme), numbers_of(&again, &globex).len()), (vec![last], count));
    }
    let mut resumed = test.auth.events().after(&acme, last);
    assert!(numbers_of(&drained(&mut resumed).await, &acme).is_empty());
    let (joined, _) = tokio::join!(next(&mut resumed), test.person("Grace Hopper", Role::Member));
    assert_eq!((joined.org_id, joined.sequence), (acme, last + 1));
}

#[tokio::test]
async fn a_removed_organization_has_no_events() {
    let test = TestAuth::new().await;
    test.auth.operator().delete_organization_now(&test.org.organization().slug).await.expect("it is there");
    assert!(matches!(timeout(SOON, test.org.events().next()).await, Ok(Err(Error::UnknownOrganization))));
    assert!(drained(&mut test.auth.events()).await.is_empty());
}

#[tokio::test]
async fn events_that_are_gone_are_told_once() {
    let test = TestAuth::new().await;
    let org = test.org.organization().id.clone();
    let of_one = |after: After| test.org.events().after(&org, after);
    let of_all = |after: After| test.auth.events().after(&org, after);
    let nowhere: EventId = "evt_00000000000000000000000000".parse().expect("an id");
    let places = || [After::Sequence(999), After::Sequence(-5), After::Event(nowhere.clone())];
    for mut events in places().map(of_one).into_iter().chain(places().map(of_all)) {
        assert!(matches!(timeout(SOON, events.next()).await, Ok(Err(Error::EventsExpired))));
        assert_eq!(events.expired(), Some(&org));
        assert_eq!(next(&mut events).await.sequence, 1, "it goes on with the oldest that is kept");
    }
}
