//! GET /public/changes: a backend that remembers is told which of its answers are no longer true, wherever it asks and however late, and
//! nothing of anybody else.

use std::{
    collections::BTreeSet,
    future::IntoFuture,
    time::{Duration, Instant},
};

use serde_json::{Value, json};
use tenant_auth_conformance::{App, Caller, Request, jwt, scenarios, shape};
use tokio::task::JoinSet;

scenarios![
    without_a_cursor_it_is_the_one_of_now,
    sessions_are_named_by_what_ends_or_changes_them,
    users_are_named_by_what_changes_of_them,
    an_account_is_named_in_each_of_its_organizations_and_nowhere_else,
    what_changes_all_answers_is_everything,
    a_suspended_organization_is_told_so,
    a_waiting_question_is_answered_at_once,
    nothing_is_told_of_another_organization,
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

/// What changed since `after`, without waiting.
pub(crate) async fn changes(backend: &Caller, after: &Value) -> Value {
    ask(backend, after, 0).await.expect_ok()
}

fn ask(backend: &Caller, after: &Value, wait: u32) -> Request {
    backend.get(&format!("/public/changes?after={}&wait={wait}", after.as_str().expect("a cursor")))
}

pub(crate) async fn cursor_of_now(backend: &Caller) -> Value {
    backend.get("/public/changes").await.expect_ok()["cursor"].clone()
}

fn session_of(caller: &Caller) -> Value {
    jwt::claims(&caller.access_token())["sid"].clone()
}

fn told(changes: &Value) -> (bool, &Value, &Value) {
    (changes["everything"] == true, &changes["sessions"], &changes["users"])
}

async fn without_a_cursor_it_is_the_one_of_now(app: &App) {
    let backend = app.backend();
    let member = app.member().logged_in().await;
    member.logout().await.expect(200);
    let first = backend.get("/public/changes").await.expect_ok();
    assert_eq!(shape(&first), ["cursor", "everything", "keyExpiresAt", "sessions", "users"]);
    assert_eq!((told(&first), &first["keyExpiresAt"]), ((false, &json!([]), &json!([])), &Value::Null));
    let second = changes(&backend, &first["cursor"]).await;
    assert_eq!(told(&second), (false, &json!([]), &json!([])));
    let (first, second) = (first["cursor"].as_str().expect("a text"), second["cursor"].as_str().expect("a text"));
    assert!(first != second && first.len() == second.len(), "no cursor tells whether anything happened anywhere");
    app.backend().without_slug().get("/public/changes").await.expect_error(400, "invalid_slug");
    app.anonymous().get("/public/changes").await.expect_error(401, "invalid_api_key");
    let (_, key) = app.admin().logged_in().await.created_key(json!({ "name": "x", "scopes": ["users:read"] })).await;
    app.anonymous().backend_with(&key).get("/public/changes").await.expect_error(403, "missing_scope");
}

async fn sessions_are_named_by_what_ends_or_changes_them(app: &App) {
    let backend = app.backend();
    let (desk, phone) = (app.member().logged_in().await, app.member().logged_in().await);
    let (at_desk, at_phone) = (session_of(&desk), session_of(&phone));
    let mut cursor = cursor_of_now(&backend).await;
    desk.refresh().await.expect(200);
    let data = changes(&backend, &cursor).await;
    assert_eq!(told(&data), (false, &json!([at_desk]), &json!([])), "a refresh supersedes the token before");
    cursor = data["cursor"].clone();
    desk.delete("/auth/sessions").await.expect(200);
    let data = changes(&backend, &cursor).await;
    assert_eq!(told(&data), (false, &json!([at_phone]), &json!([])));
    desk.logout().await.expect(200);
    let data = changes(&backend, &cursor).await;
    let mut both = [at_desk, at_phone];
    both.sort_by_key(ToString::to_string);
    assert_eq!(told(&data), (false, &json!(both), &json!([])), "both since that cursor");
}

async fn users_are_named_by_what_changes_of_them(app: &App) {
    let backend = app.backend();
    let (admin, member) = (app.admin().logged_in().await, app.member().logged_in().await);
    let only_them = json!([member.id()]);
    let mut cursor = cursor_of_now(&backend).await;
    for step in 0..7 {
        match step {
            0 => admin.set_metadata(member.id(), json!({ "a": 1 })).await.expect(200),
            1 => admin.set_role(member.id(), "org_admin").await.expect(200),
            2 => admin.set_status(member.id(), "suspended").await.expect(200),
            3 => admin.set_status(member.id(), "active").await.expect(200),
            4 => member.put("/auth/profile", json!({ "name": "Another Name" })).await.expect(200),
            5 => member.change_password("mauve-otter-plinth-42", "velvet-anchor-93-comet").await.expect(200),
            _ => admin.remove(member.id()).await.expect(200),
        };
        let data = changes(&backend, &cursor).await;
        assert_eq!((data["everything"].as_bool(), &data["users"]), (Some(false), &only_them), "step {step}: {data}");
        cursor = data["cursor"].clone();
    }
    assert_eq!(told(&changes(&backend, &cursor).await), (false, &json!([]), &json!([])), "each once");
}

async fn an_account_is_named_in_each_of_its_organizations_and_nowhere_else(app: &App) {
    let other_admin = app.other_org().admin().logged_in().await;
    let member = app.member().logged_in().await;
    other_admin.invite(member.email()).await.expect(201);
    let token = app.link_token_of(member.email()).await;
    app.other_org().anonymous().accept_with_account(&token).await.expect(200);
    let stranger = app.other_org().member().logged_in().await;
    let (here, there) = (app.backend(), app.other_org().backend());
    let (at_here, at_there) = (cursor_of_now(&here).await, cursor_of_now(&there).await);
    member.put("/auth/profile", json!({ "name": "In Both" })).await.expect(200);
    for (backend, cursor) in [(&here, &at_here), (&there, &at_there)] {
        assert_eq!(told(&changes(backend, cursor).await), (false, &json!([]), &json!([member.id()])));
    }
    stranger.put("/auth/profile", json!({ "name": "There Only" })).await.expect(200);
    assert_eq!(changes(&here, &at_here).await["users"], json!([member.id()]));
    member.logout().await.expect(200);
    assert_eq!(changes(&there, &at_there).await["sessions"], json!([]), "a session is named in its own organization only");
}

async fn what_changes_all_answers_is_everything(app: &App) {
    let (admin, everything) = (app.admin().logged_in().await, (true, &json!([]), &json!([])));
    let backend = app.backend();
    let cursor = cursor_of_now(&backend).await;
    admin.patch("/org", json!({ "name": "Acme Liners" })).await.expect(200);
    let data = changes(&backend, &cursor).await;
    assert_eq!(told(&data), everything);
    let (key, text) = admin.created_key(json!({ "name": "own", "scopes": ["verify"] })).await;
    let (other, _) = admin.created_key(json!({ "name": "other", "scopes": ["verify"] })).await;
    let own = app.anonymous().backend_with(&text);
    let cursor = cursor_of_now(&own).await;
    admin.delete(&format!("/org/api-keys/{}", other["id"].as_str().expect("an id"))).await.expect(200);
    assert_eq!(told(&changes(&own, &cursor).await), (false, &json!([]), &json!([])), "another key");
    admin.post_nothing(&format!("/org/api-keys/{}/rotate", key["id"].as_str().expect("an id"))).await.expect(201);
    let data = changes(&own, &cursor).await;
    assert_eq!((told(&data), &data["keyExpiresAt"]), (everything, &"2026-11-21T08:21:00.000Z".into()), "a day of overlap");
    app.advance(86_400);
    own.get("/public/changes").await.expect_error(401, "invalid_api_key");
}

async fn a_suspended_organization_is_told_so(app: &App) {
    let cursor = cursor_of_now(&app.backend()).await;
    app.org().suspend().await;
    let data = changes(&app.backend(), &cursor).await;
    assert_eq!(data["everything"], true);
    app.org().reactivate().await;
    assert_eq!(changes(&app.backend(), &data["cursor"]).await["everything"], true);
}

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

async fn nothing_is_told_of_another_organization(app: &App) {
    let (backend, stranger) = (app.backend(), app.other_org().member().logged_in().await);
    let cursor = cursor_of_now(&backend).await;
    let began = Instant::now();
    let waiting = tokio::spawn(ask(&backend, &cursor, 400).into_future());
    tokio::time::sleep(Duration::from_millis(100)).await;
    stranger.put("/auth/profile", json!({ "name": "Busy" })).await.expect(200);
    app.other_org().admin().logged_in().await.patch("/org", json!({ "name": "Busy" })).await.expect(200);
    stranger.logout().await.expect(200);
    let data = waiting.await.expect("it is answered").expect_ok();
    assert_eq!(told(&data), (false, &json!([]), &json!([])));
    assert!(began.elapsed() >= Duration::from_millis(400), "its end tells nothing either");
    let theirs = cursor_of_now(&app.other_org().backend()).await;
    assert_eq!(told(&changes(&backend, &theirs).await), (true, &json!([]), &json!([])), "their cursor is nobody's here");
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
    for wait in ["-1", "1001", "x", "", "1.5", "99999999999999999999"] {
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
    // A mark of the sweep stands for a minute at least; each round of the worker sets one.
    for _ in 0..11 {
        app.tick().await;
    }
    let restarted = app.beside(|_| {}).await;
    for backend in [&restarted.backend(), &backend] {
        let data = changes(backend, &cursor).await;
        assert_eq!(told(&data), (false, &named, &json!([])));
        assert_eq!(told(&changes(backend, &data["cursor"]).await), (false, &json!([]), &json!([])));
    }
    for _ in 0..4 {
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
