//! GET /public/changes about all organizations as a question that waits: how long, how many at once, and how long its cursor is good.

use std::{
    collections::BTreeSet,
    future::IntoFuture,
    time::{Duration, Instant},
};

use serde_json::json;
use tenant_auth_conformance::{App, scenarios};
use tokio::task::JoinSet;

use super::{
    changes::{ask, changes, cursor_of_now, session_of},
    changes_of_all::{id_of, is_everything, orgs, product, told},
};

scenarios![a_waiting_question_is_answered_at_once, a_key_that_ended_meanwhile_is_refused, of_one_key_sixteen_may_wait,];
scenarios![on each database:
    a_cursor_is_good_at_another_process_and_for_ten_minutes,
    whatever_was_committed_before_the_question_is_named,
];

/// How often a scenario begins anew where the machine was too slow for it.
const ROUNDS: usize = 8;

async fn a_waiting_question_is_answered_at_once(app: &App) {
    let (_, product) = product(app).await;
    let mut was_early = false;
    for org in [app.org(), app.other_org()].into_iter().cycle().take(ROUNDS) {
        let member = org.member().logged_in().await;
        let (cursor, session) = (cursor_of_now(&product).await, session_of(&member));
        let began = Instant::now();
        let waiting = tokio::spawn(ask(&product, &cursor, 1_000).into_future());
        tokio::time::sleep(Duration::from_millis(150)).await;
        member.logout().await.expect(200);
        let data = waiting.await.expect("it is answered").expect_ok();
        was_early = began.elapsed() < Duration::from_secs(1);
        if was_early {
            assert!(began.elapsed() > Duration::from_millis(150), "there was nothing to tell before");
            assert_eq!(orgs(&data)[0]["sessions"], json!([session]));
            break;
        }
    }
    assert!(was_early, "each was answered after its whole wait");
    let began = Instant::now();
    let cursor = cursor_of_now(&product).await;
    assert_eq!(orgs(&ask(&product, &cursor, 300).await.expect_ok()), &json!([]));
    assert!(began.elapsed() >= Duration::from_millis(300), "{:?}", began.elapsed());
}

async fn a_key_that_ended_meanwhile_is_refused(app: &App) {
    for _ in 0..ROUNDS {
        let (id, product) = product(app).await;
        let cursor = cursor_of_now(&product).await;
        let waiting = tokio::spawn(ask(&product, &cursor, 1_000).into_future());
        tokio::time::sleep(Duration::from_millis(100)).await;
        let ended = Instant::now();
        app.auth.operator().revoke_deployment_key(&id).await.expect("it lives");
        let is_meanwhile = ended.elapsed() < Duration::from_millis(800);
        let answer = waiting.await.expect("it is answered");
        if is_meanwhile {
            return drop(answer.expect_error(401, "invalid_api_key"));
        }
    }
    panic!("no key could be ended within a wait");
}

async fn of_one_key_sixteen_may_wait(app: &App) {
    let ((_, product), (_, another)) = (product(app).await, super::changes_of_all::product(app).await);
    let (cursor, at_acme) = (cursor_of_now(&product).await, product.clone().at_org("acme"));
    let of_one = cursor_of_now(&at_acme).await;
    let mut refused = None;
    for _ in 0..ROUNDS {
        let mut waiting = JoinSet::new();
        for _ in 0..16 {
            waiting.spawn(ask(&product, &cursor, 1_000).into_future());
        }
        while waiting.len() == 16 && refused.is_none() {
            tokio::time::sleep(Duration::from_millis(50)).await;
            let answer = ask(&product, &cursor, 0).await;
            if answer.status != 200 {
                refused = Some(answer.expect_error(429, "rate_limited"));
                ask(&another, &cursor, 0).await.expect(200);
                ask(&at_acme, &of_one, 0).await.expect(200);
            }
            while let Some(answer) = waiting.try_join_next() {
                // Those above took a place now and then, too.
                assert!([200, 429].contains(&answer.expect("it is answered").status));
            }
        }
        waiting.join_all().await;
        if refused.is_some() {
            break;
        }
    }
    assert_eq!(refused.expect("sixteen waited").header("Retry-After"), Some("1"));
    ask(&product, &cursor, 0).await.expect(200);
}

async fn a_cursor_is_good_at_another_process_and_for_ten_minutes(app: &App) {
    let (_, product) = product(app).await;
    let (acme, member) = (id_of(app.org(), &product).await, app.member().logged_in().await);
    let cursor = cursor_of_now(&product).await;
    let named = json!([told(&acme, &[&session_of(&member)], &[])]);
    member.logout().await.expect(200);
    // A mark of the sweep stands for a minute.
    for _ in 0..11 {
        app.advance(60);
        app.tick().await;
    }
    let restarted = app.beside(|_| {}).await;
    for product in [&product.via(&restarted), &product] {
        let data = changes(product, &cursor).await;
        assert_eq!(orgs(&data), &named);
        assert_eq!(orgs(&changes(product, &data["cursor"]).await), &json!([]));
    }
    for _ in 0..4 {
        app.advance(60);
        app.tick().await;
    }
    for product in [&product.via(&restarted), &product] {
        assert!(is_everything(&changes(product, &cursor).await), "too old");
    }
}

async fn whatever_was_committed_before_the_question_is_named(app: &App) {
    let servers = [app.beside(|_| {}).await, app.beside(|setup| setup.config.memory.mebibytes = 8).await];
    let (_, product) = product(app).await;
    let backends = [product.via(&servers[0]), product.via(&servers[1])];
    let mut cursor = cursor_of_now(&backends[0]).await;
    let mut ending = JoinSet::new();
    let mut expected = BTreeSet::new();
    for number in 0..12 {
        let org = if number % 3 == 0 { app.other_org() } else { app.org() };
        let member = org.member().logged_in().await.via(&servers[number % 2]);
        let session = session_of(&member).to_string();
        expected.insert(session.clone());
        ending.spawn(async move {
            tokio::time::sleep(Duration::from_millis(number as u64 * 13)).await;
            member.logout().await.expect(200);
            session
        });
    }
    let (mut named, mut ended) = (BTreeSet::new(), Vec::new());
    for turn in 1.. {
        while let Some(session) = ending.try_join_next() {
            ended.push(session.expect("it ends"));
        }
        let is_over = ending.is_empty();
        let data = ask(&backends[turn % 2], &cursor, 30).await.expect_ok();
        let sessions = orgs(&data).as_array().into_iter().flatten().filter_map(|org| org["sessions"].as_array()).flatten();
        named.extend(sessions.map(ToString::to_string));
        cursor = data["cursor"].clone();
        for session in &ended {
            assert!(named.contains(session), "{session} had ended before the question was asked");
        }
        if is_over {
            break;
        }
    }
    assert_eq!(named, expected);
}
