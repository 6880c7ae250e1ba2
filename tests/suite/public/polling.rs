//! GET /public/changes as a question that waits: how long, how many at once, whom it delays, and how long its cursor is good.

use std::{
    collections::BTreeSet,
    future::IntoFuture,
    time::{Duration, Instant},
};

use serde_json::json;
use tenant_auth_conformance::{App, scenarios};
use tokio::task::JoinSet;

use super::changes::{ask, changes, cursor_of_now, session_of, told};

scenarios![
    a_waiting_question_is_answered_at_once,
    a_cursor_of_nobody_is_everything,
    the_cursor_is_given_once_and_the_wait_is_a_second_at_most,
    a_key_that_ended_meanwhile_is_refused,
    of_one_key_sixteen_may_wait,
    those_who_wait_delay_nobody,
];
scenarios![on each database:
    a_cursor_is_good_at_another_process_and_for_ten_minutes,
    whatever_was_committed_before_the_question_is_named,
];

/// How often a scenario begins anew where the machine was too slow for it.
const ROUNDS: usize = 8;

async fn a_waiting_question_is_answered_at_once(app: &App) {
    let backend = app.backend();
    let mut was_early = false;
    for _ in 0..ROUNDS {
        let member = app.member().logged_in().await;
        let session = session_of(&member);
        let cursor = cursor_of_now(&backend).await;
        let began = Instant::now();
        let waiting = tokio::spawn(ask(&backend, &cursor, 1_000).into_future());
        tokio::time::sleep(Duration::from_millis(150)).await;
        member.logout().await.expect(200);
        let data = waiting.await.expect("it is answered").expect_ok();
        was_early = began.elapsed() < Duration::from_secs(1);
        if was_early {
            assert!(began.elapsed() > Duration::from_millis(150), "there was nothing to tell before");
            assert_eq!(told(&data), (false, &json!([session]), &json!([])));
            break;
        }
    }
    assert!(was_early, "each was answered after its whole wait");
    let cursor = cursor_of_now(&backend).await;
    let began = Instant::now();
    assert_eq!(told(&ask(&backend, &cursor, 300).await.expect_ok()), (false, &json!([]), &json!([])));
    assert!(began.elapsed() >= Duration::from_millis(300), "{:?}", began.elapsed());
}

async fn a_cursor_of_nobody_is_everything(app: &App) {
    let backend = app.backend();
    let cursor = cursor_of_now(&backend).await;
    let text = cursor.as_str().expect("a text");
    let (cut, changed) = (&text[..text.len() - 2], format!("{}AAAA", &text[..text.len() - 4]));
    for after in ["", "x", "%F0%9F%A6%80", "AAAA", cut, &changed, &format!("{text}AA"), &"x".repeat(2_000)] {
        let data = backend.get(&format!("/public/changes?after={after}")).await.expect_ok();
        assert_eq!(told(&data), (true, &json!([]), &json!([])), "{after}");
        assert_eq!(told(&changes(&backend, &data["cursor"]).await), (false, &json!([]), &json!([])));
    }
}

async fn the_cursor_is_given_once_and_the_wait_is_a_second_at_most(app: &App) {
    let get = |query: &str| app.backend().get(&format!("/public/changes?{query}"));
    get("after=a&after=b").await.expect_invalid("after");
    get("after=a%00b").await.expect_invalid("after");
    for wait in ["-1", "1001", "x", "", "1.5", "%2B5", "99999999999999999999"] {
        get(&format!("wait={wait}")).await.expect_invalid("wait");
    }
    get("wait=1&wait=1").await.expect_invalid("wait");
    get("wait=0").await.expect(200);
}

async fn a_key_that_ended_meanwhile_is_refused(app: &App) {
    let admin = app.admin().logged_in().await;
    for _ in 0..ROUNDS {
        let (key, text) = admin.created_key(json!({ "name": "own", "scopes": ["verify"] })).await;
        let own = app.anonymous().backend_with(&text);
        let cursor = cursor_of_now(&own).await;
        let waiting = tokio::spawn(ask(&own, &cursor, 1_000).into_future());
        tokio::time::sleep(Duration::from_millis(100)).await;
        let ended = Instant::now();
        admin.delete(&format!("/org/api-keys/{}", key["id"].as_str().expect("an id"))).await.expect(200);
        let is_meanwhile = ended.elapsed() < Duration::from_millis(800);
        let answer = waiting.await.expect("it is answered");
        if is_meanwhile {
            return drop(answer.expect_error(401, "invalid_api_key"));
        }
    }
    panic!("no key could be ended within a wait");
}

async fn of_one_key_sixteen_may_wait(app: &App) {
    let backend = app.backend();
    let (_, text) = app.admin().logged_in().await.created_key(json!({ "name": "another", "scopes": ["verify"] })).await;
    let another = app.anonymous().backend_with(&text);
    let (cursor, theirs) = (cursor_of_now(&backend).await, cursor_of_now(&another).await);
    let mut refused = None;
    for _ in 0..ROUNDS {
        let mut waiting = JoinSet::new();
        for _ in 0..16 {
            waiting.spawn(ask(&backend, &cursor, 1_000).into_future());
        }
        while waiting.len() == 16 && refused.is_none() {
            tokio::time::sleep(Duration::from_millis(50)).await;
            let answer = ask(&backend, &cursor, 0).await;
            if answer.status != 200 {
                refused = Some(answer.expect_error(429, "rate_limited"));
                ask(&another, &theirs, 0).await.expect(200);
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
    ask(&backend, &cursor, 0).await.expect(200);
}

async fn those_who_wait_delay_nobody(app: &App) {
    // More than there are connections to the database, and always as many.
    let admin = app.admin().logged_in().await;
    let mut waiting = JoinSet::new();
    for number in 0..6 {
        let (_, text) = admin.created_key(json!({ "name": format!("{number}"), "scopes": ["verify"] })).await;
        let backend = app.anonymous().backend_with(&text);
        let cursor = cursor_of_now(&backend).await;
        for _ in 0..16 {
            let (backend, mut cursor) = (backend.copied(), cursor.clone());
            waiting.spawn(async move {
                loop {
                    let data = ask(&backend, &cursor, 1_000).await.expect_ok();
                    if data["users"] != json!([]) {
                        return data["users"].clone();
                    }
                    cursor = data["cursor"].clone();
                }
            });
        }
    }
    tokio::time::sleep(Duration::from_millis(300)).await;
    let token = admin.access_token();
    let began = Instant::now();
    for _ in 0..10 {
        assert!(app.backend().finds_valid(&token).await);
    }
    let took = began.elapsed();
    assert!(took < Duration::from_secs(5), "{took:?}: each of ten waited for one of those who wait");
    admin.set_metadata(admin.id(), json!({ "while": "they wait" })).await.expect(200);
    for users in waiting.join_all().await {
        assert_eq!(users, json!([admin.id()]), "all of them are told");
    }
}

async fn a_cursor_is_good_at_another_process_and_for_ten_minutes(app: &App) {
    let (backend, member) = (app.backend(), app.member().logged_in().await);
    let cursor = cursor_of_now(&backend).await;
    let named = json!([session_of(&member)]);
    member.logout().await.expect(200);
    assert_eq!(changes(&backend, &cursor).await["sessions"], named);
    // A mark of the sweep stands for a minute.
    for _ in 0..11 {
        app.advance(60);
        app.tick().await;
    }
    let restarted = app.beside(|_| {}).await;
    for backend in [&restarted.backend(), &backend] {
        let data = changes(backend, &cursor).await;
        assert_eq!(told(&data), (false, &named, &json!([])));
        assert_eq!(told(&changes(backend, &data["cursor"]).await), (false, &json!([]), &json!([])));
    }
    for _ in 0..4 {
        app.advance(60);
        app.tick().await;
    }
    for backend in [&restarted.backend(), &backend] {
        let data = changes(backend, &cursor).await;
        assert_eq!(told(&data), (true, &json!([]), &json!([])), "too old");
    }
}

async fn whatever_was_committed_before_the_question_is_named(app: &App) {
    let servers = [app.beside(|_| {}).await, app.beside(|setup| setup.config.memory.mebibytes = 8).await];
    let mut ending = JoinSet::new();
    let mut cursor = cursor_of_now(&servers[0].backend()).await;
    let mut members = Vec::new();
    for _ in 0..12 {
        members.push(app.member().logged_in().await);
    }
    let expected: BTreeSet<String> = members.iter().map(|member| session_of(member).to_string()).collect();
    for (number, member) in members.into_iter().enumerate() {
        let member = member.via(&servers[number % 2]);
        ending.spawn(async move {
            tokio::time::sleep(Duration::from_millis(number as u64 * 13)).await;
            let session = session_of(&member).to_string();
            member.logout().await.expect(200);
            session
        });
    }
    let mut named = BTreeSet::new();
    let mut turn = 0;
    let mut ended = Vec::new();
    loop {
        while let Some(session) = ending.try_join_next() {
            ended.push(session.expect("it ends"));
        }
        let is_over = ending.is_empty();
        turn += 1;
        let data = ask(&servers[turn % 2].backend(), &cursor, 30).await.expect_ok();
        assert_eq!(data["everything"], false, "a cursor of one process is good at the other");
        named.extend(data["sessions"].as_array().expect("a list").iter().map(ToString::to_string));
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
