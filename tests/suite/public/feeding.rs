//! GET /public/events as a question that waits, while others write: nothing is late and nothing is left out, also while a transaction
//! is slow.

use std::{
    future::IntoFuture,
    time::{Duration, Instant},
};

use serde_json::json;
use tenant_auth_conformance::{App, hold_sql, scenarios};
use tenant_auth_core::{
    Error,
    feed::{Event, Events},
    id::OrgId,
};
use tokio::task::JoinSet;

use super::events::{events, newest, numbers, page, reader};
use crate::suite::{
    deliveries::workers::rename,
    support::{hooks::run_sql, stored::file_url},
};

scenarios![a_waiting_question_is_answered_at_once, a_key_that_ended_meanwhile_is_refused, of_one_key_sixteen_may_wait,];
scenarios![on each database:
    no_number_is_left_out_however_many_write_at_once,
    while_a_transaction_is_slow_nothing_is_told_before_what_comes_first,
    another_process_wakes_who_waits,
    what_tells_of_an_ending_waits_for_those_who_remember_and_delays_no_other_organization,
    an_event_that_cannot_be_read_is_named_and_can_be_passed_over,
    who_follows_is_told_that_others_took_the_numbers_of_what_was_read,
    who_follows_all_is_told_of_that_also_where_nothing_comes_after_it,
    who_follows_is_told_nothing_of_what_retention_removed_after_it_was_read,
];

/// How often a scenario begins anew where the machine was too slow for it.
const ROUNDS: usize = 8;

async fn a_waiting_question_is_answered_at_once(app: &App) {
    let backend = reader(app).await;
    let mut was_early = false;
    for _ in 0..ROUNDS {
        let before = newest(&backend).await;
        let began = Instant::now();
        let waiting = tokio::spawn(backend.get(&format!("/public/events?after={before}&wait=1000")).into_future());
        tokio::time::sleep(Duration::from_millis(150)).await;
        app.member().logged_in().await;
        let data = waiting.await.expect("it is answered").expect_ok();
        was_early = began.elapsed() < Duration::from_secs(1);
        if was_early {
            assert!(began.elapsed() > Duration::from_millis(150), "there was nothing to tell before");
            assert_eq!(numbers(&data), [before + 1]);
            break;
        }
    }
    assert!(was_early, "each was answered after its whole wait");
    let (before, began) = (newest(&backend).await, Instant::now());
    assert!(events(&page(&backend, &format!("after={before}&wait=300")).await).is_empty());
    assert!(began.elapsed() >= Duration::from_millis(300), "{:?}", began.elapsed());
}

async fn a_key_that_ended_meanwhile_is_refused(app: &App) {
    let admin = app.admin().logged_in().await;
    for _ in 0..ROUNDS {
        let (key, text) = admin.created_key(json!({ "name": "own", "scopes": ["events:read"] })).await;
        let own = app.anonymous().backend_with(&text);
        let before = newest(&own).await;
        let waiting = tokio::spawn(own.get(&format!("/public/events?after={before}&wait=1000")).into_future());
        tokio::time::sleep(Duration::from_millis(100)).await;
        let ended = Instant::now();
        admin.delete(&format!("/org/api-keys/{}", key["id"].as_str().expect("an id"))).await.expect(200);
        let is_meanwhile = ended.elapsed() < Duration::from_millis(800);
        let answer = waiting.await.expect("it is answered");
        // The revocation is an event itself: whoever was answered in time was answered before it was acknowledged.
        if is_meanwhile && answer.status != 200 {
            return drop(answer.expect_error(401, "invalid_api_key"));
        }
    }
    panic!("no key could be ended within a wait");
}

async fn of_one_key_sixteen_may_wait(app: &App) {
    let backend = reader(app).await;
    let another = reader(app).await;
    let mut refused = None;
    for _ in 0..ROUNDS {
        let before = newest(&another).await;
        let mut waiting = JoinSet::new();
        for _ in 0..16 {
            waiting.spawn(backend.get(&format!("/public/events?after={before}&wait=1000")).into_future());
        }
        while waiting.len() == 16 && refused.is_none() {
            tokio::time::sleep(Duration::from_millis(50)).await;
            let answer = backend.get("/public/events?limit=1").await;
            if answer.status != 200 {
                refused = Some(answer.expect_error(429, "rate_limited"));
                another.get("/public/events?limit=1").await.expect(200);
            }
            while let Some(answer) = waiting.try_join_next() {
                // Those above took a place now and then, too.
                assert!([200, 429].contains(&answer.expect("it is answered").status));
            }
        }
        while waiting.join_next().await.is_some() {}
        if refused.is_some() {
            break;
        }
    }
    let refused = refused.expect("sixteen never waited at once");
    assert_eq!(refused.header("Retry-After"), Some("1"));
    page(&backend, "limit=1").await;
}

async fn no_number_is_left_out_however_many_write_at_once(app: &App) {
    let backend = reader(app).await;
    let before = newest(&backend).await;
    let mut writing = JoinSet::new();
    for _ in 0..12 {
        let member = app.member();
        writing.spawn(async move {
            for _ in 0..5 {
                member.login().await.expect(200);
            }
        });
    }
    let mut place = before;
    while !writing.is_empty() || place < newest(&backend).await {
        let data = page(&backend, &format!("after={place}&wait=50&limit=7")).await;
        let expected: Vec<i64> = (place + 1..).take(events(&data).len()).collect();
        assert_eq!(numbers(&data), expected);
        place = data["lastSequence"].as_i64().expect("a number");
        while let Some(done) = writing.try_join_next() {
            done.expect("each login succeeds");
        }
    }
    assert!(place >= before + 60);
}

async fn while_a_transaction_is_slow_nothing_is_told_before_what_comes_first(app: &App) {
    let backend = reader(app).await;
    let before = newest(&backend).await;
    // A writer that has taken the next number and does not commit.
    let (url, begin) = match app.database().url() {
        Some(url) => (url, "BEGIN"),
        None => (file_url(app), "BEGIN IMMEDIATE"),
    };
    let slow = "UPDATE tenant_auth_event_sequences SET sequence = sequence + 1
         WHERE org_id = (SELECT id FROM tenant_auth_organizations WHERE slug = 'acme')";
    let held = hold_sql(&url, &format!("{begin}; {slow}")).expect("it is locked");
    let writing = tokio::spawn(app.member().login().into_future());
    for _ in 0..5 {
        let data = page(&backend, &format!("after={before}&wait=100")).await;
        assert_eq!((events(&data).len(), &data["newest"]), (0, &json!(before)), "nothing is told that may come second");
    }
    // It is rolled back, and its number goes to the next.
    tokio::task::spawn_blocking(move || drop(held)).await.expect("it ends");
    writing.await.expect("it is answered").expect(200);
    assert_eq!(numbers(&page(&backend, &format!("after={before}&wait=1000")).await), [before + 1]);
}

async fn another_process_wakes_who_waits(app: &App) {
    let other = app.beside(|_| ()).await;
    let backend = reader(app).await;
    for _ in 0..ROUNDS {
        let before = newest(&backend).await;
        let began = Instant::now();
        let waiting = tokio::spawn(backend.get(&format!("/public/events?after={before}&wait=1000")).into_future());
        tokio::time::sleep(Duration::from_millis(100)).await;
        other.member().logged_in().await;
        let data = waiting.await.expect("it is answered").expect_ok();
        if began.elapsed() < Duration::from_millis(950) {
            return assert_eq!(numbers(&data), [before + 1]);
        }
    }
    panic!("each was answered after its whole wait");
}

/// The longest that a process may remember, and a quarter.
const UNTIL_FORGOTTEN: Duration = Duration::from_millis(1_250);

async fn what_tells_of_an_ending_waits_for_those_who_remember_and_delays_no_other_organization(app: &App) {
    let _remembering = remembering_for_a_second(app).await;
    let (admin, other) = (app.admin().logged_in().await, app.other_org().admin().logged_in().await);
    let backend = reader(app).await;
    let slug = app.org().slug().parse().expect("a slug");
    let org = app.auth.tenant(&slug).await.expect("it is there").organization().id.clone();
    let before = newest(&backend).await;
    let began = Instant::now();
    let renaming = tokio::spawn(async move { rename(&admin, 1).await });
    while newest(&backend).await == before {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    other.set_metadata(other.id(), json!({ "told": "before it" })).await.expect(200);
    let asked = async {
        let data = page(&backend, &format!("after={before}")).await;
        (numbers(&data), began.elapsed())
    };
    let (feed, library) = tokio::join!(asked, async {
        let (mut all, mut seen) = (app.auth.events().after(&org, before), Vec::new());
        loop {
            let event = all.next().await.expect("is read");
            if event.org_id == org {
                return (event, seen, began.elapsed());
            }
            seen.push(event);
        }
    });
    assert!(feed.0 == [before + 1] && feed.1 >= UNTIL_FORGOTTEN, "{feed:?}");
    let (told, others, after) = library;
    assert!(told.kind == "org.updated" && after >= UNTIL_FORGOTTEN, "{told:?} after {after:?}");
    assert!(others.iter().any(|event| event.kind == "member.updated"), "{others:?}");
    renaming.await.expect("it is answered");
    let again = Instant::now();
    assert_eq!(numbers(&page(&backend, &format!("after={before}")).await), [before + 1]);
    assert!(again.elapsed() < UNTIL_FORGOTTEN, "it was waited for once");
}

async fn an_event_that_cannot_be_read_is_named_and_can_be_passed_over(app: &App) {
    let admin = app.admin().logged_in().await;
    let backend = reader(app).await;
    let tenant = app.auth.tenant(&app.org().slug().parse().expect("a slug")).await.expect("it is there");
    let (org, before) = (tenant.organization().id.clone(), newest(&backend).await);
    for n in 1..=3 {
        admin.set_metadata(admin.id(), json!({ "told": n })).await.expect(200);
    }
    for part in ["data", "payload"] {
        let place = format!("org_id = '{org}' AND sequence = {}", before + 2);
        run_sql(app, &format!("UPDATE tenant_auth_events SET {part} = 'rubbish' WHERE {place}")).await;
        for events in [tenant.events(), app.auth.events()] {
            let mut events = events.after(&org, before);
            assert_eq!(
                next_of(&mut events, &org).await.expect("is read").sequence,
                before + 1,
                "what comes before it is told first"
            );
            for _ in 0..2 {
                let error = next_of(&mut events, &org).await.expect_err("it cannot be read").causes().to_string();
                assert!(error.contains(&format!("event {} of {org}", before + 2)), "{error}");
            }
            let mut events = events.after(&org, before + 2);
            assert_eq!(next_of(&mut events, &org).await.expect("is read").sequence, before + 3);
        }
    }
}

/// As after a fail-over that lost the last events, when as many came in their place before anybody looked.
async fn who_follows_is_told_that_others_took_the_numbers_of_what_was_read(app: &App) {
    let (admin, backend) = (app.admin().logged_in().await, reader(app).await);
    let tenant = app.auth.tenant(&app.org().slug().parse().expect("a slug")).await.expect("it is there");
    let org = tenant.organization().id.clone();
    for (n, events) in [tenant.events(), app.auth.events()].into_iter().enumerate() {
        let last = newest(&backend).await;
        let mut events = events.after(&org, last - 1);
        assert_eq!(next_of(&mut events, &org).await.expect("is read").sequence, last);
        let other = format!("UPDATE tenant_auth_events SET id = 'evt_{n:026}' WHERE org_id = '{org}' AND sequence = {last}");
        run_sql(app, &other).await;
        admin.set_metadata(admin.id(), json!({ "told": n })).await.expect(200);
        assert!(matches!(next_of(&mut events, &org).await, Err(Error::EventsExpired)));
        assert_eq!(events.expired(), Some(&org));
    }
}

async fn who_follows_all_is_told_of_that_also_where_nothing_comes_after_it(app: &App) {
    let last = newest(&reader(app).await).await;
    let tenant = app.auth.tenant(&app.org().slug().parse().expect("a slug")).await.expect("it is there");
    let org = tenant.organization().id.clone();
    let mut events = app.auth.events().after(&org, last - 1);
    assert_eq!(next_of(&mut events, &org).await.expect("is read").sequence, last);
    let place = format!("org_id = '{org}' AND sequence = {last}");
    run_sql(app, &format!("UPDATE tenant_auth_events SET id = 'evt_00000000000000000000000002' WHERE {place}")).await;
    let told = tokio::time::timeout(Duration::from_secs(20), next_of(&mut events, &org)).await;
    assert!(matches!(told, Ok(Err(Error::EventsExpired))));
    assert_eq!(events.expired(), Some(&org));
}

async fn who_follows_is_told_nothing_of_what_retention_removed_after_it_was_read(app: &App) {
    let (admin, backend) = (app.admin().logged_in().await, reader(app).await);
    let tenant = app.auth.tenant(&app.org().slug().parse().expect("a slug")).await.expect("it is there");
    let org = tenant.organization().id.clone();
    for (n, events) in [tenant.events(), app.auth.events()].into_iter().enumerate() {
        let last = newest(&backend).await;
        let mut events = events.after(&org, last - 1);
        assert_eq!(next_of(&mut events, &org).await.expect("is read").sequence, last);
        run_sql(app, &format!("DELETE FROM tenant_auth_events WHERE org_id = '{org}' AND sequence <= {last}")).await;
        admin.set_metadata(admin.id(), json!({ "told": n })).await.expect(200);
        assert_eq!(next_of(&mut events, &org).await.expect("none was missed").sequence, last + 1);
    }
}

/// The next event of an organization, or why there is none.
async fn next_of(events: &mut Events, org: &OrgId) -> Result<Event, Error> {
    loop {
        match events.next().await {
            Ok(event) if event.org_id != *org => {}
            next => return next,
        }
    }
}

/// Another process that remembers for a second, which on SQLite one process may: it is asked before the others.
async fn remembering_for_a_second(app: &App) -> App {
    let freshness = Duration::from_secs(1);
    let other = app.beside(|setup| (setup.config.memory.mebibytes, setup.config.memory.freshness) = (8, freshness)).await;
    let slug = app.org().slug().parse().expect("a slug");
    while !other.auth.metrics_text().await.expect("is written").contains("tenant_auth_memory_hits_total 1") {
        other.auth.tenant(&slug).await.expect("it is there");
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    other
}
