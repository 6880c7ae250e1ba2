use std::{net::Ipv4Addr, time::Duration};

use crate::{
    event::OrgData,
    mail::{self, Letter},
    model::{EventKind, EventSelection},
    store::{Actor, Event, Work},
    testing::TestAuth,
    value::Description,
    webhooks::NewWebhook,
};

const WRITTEN: &str = "\ntenant_auth_events_written_total{kind=\"org.updated\"}";

#[tokio::test]
async fn a_commit_wakes_whom_it_leaves_work_and_counts_its_events() {
    let test = TestAuth::new().await;
    let org = test.org.organization();
    let [mails, events] = [Work::Mails, Work::Events].map(|work| test.auth.work_left(work));
    let others = [Work::Deliveries, Work::ResetRequests, Work::SignUps].map(|work| test.auth.work_left(work));

    let mut tx = test.auth.begin().await.expect("a transaction");
    tx.push(Event::new(EventKind::OrgUpdated, org, Actor::System, &OrgData::changed(org, org)).expect("is written"));
    mail::enqueue(&mut tx, &org.id, &test.admin.email, &Letter::PasswordChanged).await.expect("is sealed");
    assert!(!mails.has_changed().expect("the service is there"), "nothing is announced before the commit");
    tx.commit().await.expect("commits");

    assert!(mails.has_changed().expect("the service is there") && events.has_changed().expect("the service is there"));
    for other in others {
        assert!(!other.has_changed().expect("the service is there"), "there is no webhook and no request");
    }
    let text = test.auth.metrics_text().await.expect("is written");
    assert!(text.contains(&format!("{WRITTEN} 1\n")), "{text}");
}

#[tokio::test]
async fn an_event_wakes_those_who_deliver_it_where_a_webhook_is() {
    let test = TestAuth::new().await;
    let org = test.org.organization();
    test.resolver.answer("hooks.acme.example", [Ipv4Addr::new(93, 184, 216, 34).into()]);
    let url = "https://hooks.acme.example/inbox".to_owned();
    let events = EventSelection::parse(&["*"]).expect("kinds there are");
    let new = NewWebhook { url, events, description: Description::default() };
    test.org_admin().await.create_webhook(new).await.expect("a public target");
    let deliveries = test.auth.work_left(Work::Deliveries);
    let others = [Work::Mails, Work::ResetRequests, Work::SignUps].map(|work| test.auth.work_left(work));

    let mut tx = test.auth.begin().await.expect("a transaction");
    tx.push(Event::new(EventKind::OrgUpdated, org, Actor::System, &OrgData::changed(org, org)).expect("is written"));
    tx.commit().await.expect("commits");

    assert!(deliveries.has_changed().expect("the service is there"));
    for other in others {
        assert!(!other.has_changed().expect("the service is there"), "there is no mail and no request");
    }
}

#[tokio::test]
async fn what_is_rolled_back_wakes_nobody_and_is_not_counted() {
    let test = TestAuth::new().await;
    let org = test.org.organization();
    let mails = test.auth.work_left(Work::Mails);

    let mut tx = test.auth.begin().await.expect("a transaction");
    tx.push(Event::new(EventKind::OrgUpdated, org, Actor::System, &OrgData::changed(org, org)).expect("is written"));
    mail::enqueue(&mut tx, &org.id, &test.admin.email, &Letter::PasswordChanged).await.expect("is sealed");
    drop(tx);

    assert!(!mails.has_changed().expect("the service is there"));
    let text = test.auth.metrics_text().await.expect("is written");
    assert!(text.contains(&format!("{WRITTEN} 0\n")), "{text}");
}

#[tokio::test]
async fn a_transaction_has_one_moment_and_its_ids_are_of_it() {
    let test = TestAuth::new().await;
    let tx = test.auth.begin().await.expect("a transaction");
    test.clock.advance(Duration::from_secs(1));
    let moment = tx.now();
    assert_eq!(moment, test.auth.now(), "the moment is that of the first question");
    test.clock.advance(Duration::from_secs(1));
    assert_eq!(tx.now(), moment);
    let id = tx.new_id::<crate::id::SessionKind>();
    let later = crate::id::SessionId::generate(test.auth.now(), tx.entropy());
    assert!(id < later);
}
