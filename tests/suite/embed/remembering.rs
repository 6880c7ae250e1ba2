//! A host that remembers what a deployed service told it: it answers without a question, and whatever ends a right is in force there
//! once the largest age has passed since the commit, whatever happens on the way.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use serde_json::json;
use tenant_auth_conformance::{App, Caller, ScriptedServer, logs, scenarios};
use tenant_auth_core::{
    Principal,
    http::{RemoteVerifier, Verifier},
    model::DeploymentScope,
    secret::SignedToken,
    value::Slug,
};

use super::remote::http;
use crate::suite::public::deployment_keys::{made, new_key};

scenarios![
    questions_are_answered_without_the_service,
    what_changes_is_in_force_within_the_largest_age,
    ends_are_judged_by_the_clock,
    a_clock_behind_the_services_prolongs_nothing,
    a_revoked_key_opens_nothing_any_more,
    a_service_that_hangs_is_believed_no_longer_than_that,
    a_lost_question_stops_nobody_while_the_background_one_is_answered,
    an_answer_that_was_named_while_it_was_asked_is_not_kept,
    any_other_status_forgets_everything,
    at_most_two_questions_a_second,
    a_dropped_verifier_asks_nothing_more,
    a_deployment_keys_answers_are_remembered_by_organization,
    one_question_keeps_a_deployment_keys_answers_true,
];

const MAX_AGE: Duration = Duration::from_millis(600);
/// How often a scenario begins anew where the machine was too slow for it.
const ROUNDS: usize = 8;

fn remembering_at(app: &App, url: &str, max_age: Duration) -> RemoteVerifier {
    let remote = RemoteVerifier::new(url).expect("loopback").patience(Duration::from_secs(2)).remembering(max_age);
    remote.clock(app.clock.clone()).key("acme", app.org().api_key()).expect("a well-formed key")
}

fn remembering(app: &App) -> RemoteVerifier {
    remembering_at(app, &format!("http://{}", app.address()), MAX_AGE)
}

async fn who(remote: &RemoteVerifier, token: &str) -> Option<Principal> {
    let acme = "acme".parse().expect("a slug");
    remote.verify(&acme, &SignedToken::new(token)).await.expect("the service answers, or memory does")
}

/// How many questions about tokens the service has answered.
async fn asked(app: &App) -> u64 {
    let text = app.auth.metrics_text().await.expect("is written");
    let lines = text.lines().filter(|line| line.starts_with("tenant_auth_verifications_total{"));
    lines.filter_map(|line| line.rsplit_once(' ')?.1.parse::<u64>().ok()).sum()
}

/// Until answers come from memory.
async fn warm(app: &App, remote: &RemoteVerifier, token: &str) {
    for _ in 0..100 {
        let before = asked(app).await;
        assert!(who(remote, token).await.is_some());
        if asked(app).await == before {
            return;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    panic!("nothing is remembered");
}

/// One key for all: the answers about each organization are remembered, and end by what is named of it.
async fn a_deployment_keys_answers_are_remembered_by_organization(app: &App) {
    let (id, key) = made(app, new_key(&[DeploymentScope::Verify])).await;
    let remote = RemoteVerifier::new(&format!("http://{}", app.address())).expect("loopback").patience(Duration::from_secs(2));
    let remote = remote.remembering(MAX_AGE).clock(app.clock.clone()).deployment_key(key).expect("a well-formed key");
    let (acme, globex): (Slug, Slug) = ("acme".parse().expect("a slug"), "globex".parse().expect("a slug"));
    let (ada, greta) = (app.member().logged_in().await, app.other_org().member().logged_in().await);
    let of = [(&acme, ada.access_token()), (&globex, greta.access_token())];
    let verify = async |org: &Slug, token: &str| remote.verify(org, &SignedToken::new(token)).await;
    for (org, token) in &of {
        let mut is_remembered = false;
        for _ in 0..100 {
            let before = asked(app).await;
            assert!(verify(org, token).await.expect("the service answers").is_some());
            is_remembered = asked(app).await == before;
            if is_remembered {
                break;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        assert!(is_remembered, "{org}");
    }
    assert!(verify(&globex, &of[0].1).await.expect("the service answers").is_none(), "a token counts in its own organization");
    verify(&"nowhere".parse().expect("a slug"), &of[0].1).await.expect_err("there is no such organization");
    greta.logout().await.expect(200);
    tokio::time::sleep(MAX_AGE).await;
    assert!(verify(&globex, &of[1].1).await.expect("the service answers").is_none());
    assert!(verify(&acme, &of[0].1).await.expect("the service answers").is_some());
    app.auth.operator().revoke_deployment_key(&id).await.expect("it lives");
    tokio::time::sleep(MAX_AGE).await;
    verify(&acme, &of[0].1).await.expect_err("the key is dead, and what it opened is forgotten");
}

/// Whatever the number of organizations, the service is asked what changed by one question about all.
async fn one_question_keeps_a_deployment_keys_answers_true(app: &App) {
    let (_, key) = made(app, new_key(&[DeploymentScope::Verify])).await;
    let people = [app.member().logged_in().await, app.other_org().member().logged_in().await];
    let mut answers = Vec::new();
    for (person, backend) in people.iter().zip([app.backend(), app.other_org().backend()]) {
        let token = person.access_token();
        let data = backend.verify(&token).await.expect_ok();
        answers.push((token, data));
    }
    let globex = answers[1].1["org"]["id"].clone();
    let changed = Arc::new(AtomicBool::new(false));
    let (has_changed, said) = (Arc::clone(&changed), answers.clone());
    let server = ScriptedServer::start(move |asked| {
        if is_poll(asked) {
            let everything = json!([{ "id": globex, "everything": true, "sessions": [], "users": [] }]);
            let orgs = if has_changed.swap(false, Ordering::SeqCst) { everything } else { json!([]) };
            let data = json!({ "cursor": "c", "everything": false, "orgs": orgs, "keyExpiresAt": null });
            return ok(&json!({ "status": "success", "data": data }).to_string());
        }
        let (_, data) = said.iter().find(|(token, _)| asked.contains(token.as_str())).expect("a token of either");
        ok(&json!({ "status": "success", "data": data }).to_string())
    })
    .await;
    let max_age = Duration::from_secs(4);
    let remote = RemoteVerifier::new(&server.url()).expect("loopback").remembering(max_age).clock(app.clock.clone());
    let remote = remote.deployment_key(key).expect("a well-formed key");
    let slugs: [Slug; 2] = ["acme", "globex"].map(|slug| slug.parse().expect("a slug"));
    let questions = |number: usize| server.asked().iter().filter(|asked| asked.contains(answers[number].0.as_str())).count();
    let verify_both = async || {
        for (slug, (token, _)) in slugs.iter().zip(&answers) {
            assert!(remote.verify(slug, &SignedToken::new(token)).await.expect("an answer").is_some());
        }
    };
    for _ in 0..20 {
        verify_both().await;
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    let before = [questions(0), questions(1)];
    changed.store(true, Ordering::SeqCst);
    let began = Instant::now();
    while questions(1) == before[1] {
        assert!(began.elapsed() < 2 * max_age, "what changed of an organization falls");
        verify_both().await;
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    assert_eq!(questions(0), before[0], "and what did not stays");
    let polls: Vec<String> = server.asked().into_iter().filter(|asked| is_poll(asked)).collect();
    assert!(!polls.is_empty() && !polls.iter().any(|asked| asked.to_lowercase().contains("x-org-slug")), "{polls:?}");
}

async fn questions_are_answered_without_the_service(app: &App) {
    let remote = remembering(app);
    let token = app.member().logged_in().await.access_token();
    let mut seen = Vec::new();
    for _ in 0..ROUNDS {
        warm(app, &remote, &token).await;
        let before = asked(app).await;
        let began = Instant::now();
        let mut times = 0;
        while began.elapsed() < 3 * MAX_AGE {
            assert!(who(&remote, &token).await.is_some());
            times += 1;
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        let questions = asked(app).await - before;
        if questions * 20 < times {
            return;
        }
        seen.push((questions, times));
    }
    panic!("so many questions of so many times, and nothing changed: {seen:?}");
}

async fn what_changes_is_in_force_within_the_largest_age(app: &App) {
    let remote = remembering(app);
    let admin = app.admin().logged_in().await;
    for change in 0..7 {
        let member = app.org().new_member(&format!("Member{change} Kim")).await.logged_in().await;
        let token = member.access_token();
        warm(app, &remote, &token).await;
        let is_old = make(change, &admin, &member).await;
        let told = Instant::now();
        while told.elapsed() < 2 * MAX_AGE {
            let is_late = told.elapsed() >= MAX_AGE;
            let answer = who(&remote, &token).await;
            assert!(!(is_late && is_old(answer.as_ref())), "change {change} after {:?}", told.elapsed());
            tokio::time::sleep(Duration::from_millis(3)).await;
        }
    }
}

/// Makes a change; whether an answer is of before.
async fn make(change: usize, admin: &Caller, member: &Caller) -> fn(Option<&Principal>) -> bool {
    match change {
        0 => drop(member.logout().await.expect(200)),
        1 => drop(admin.remove(member.id()).await.expect(200)),
        2 => drop(admin.set_status(member.id(), "suspended").await.expect(200)),
        3 => drop(admin.set_role(member.id(), "org_admin").await.expect(200)),
        4 => drop(admin.delete(&format!("/org/members/{}/sessions", member.id())).await.expect(200)),
        5 => drop(member.refresh().await.expect(200)),
        _ => drop(member.put("/auth/profile", json!({ "name": "Another Name" })).await.expect(200)),
    }
    match change {
        2 => |who| who.is_some_and(Principal::is_active),
        3 => |who| who.is_some_and(|who| !who.is_admin()),
        0 | 1 | 4 | 5 => |who| who.is_some(),
        _ => |who| who.is_some_and(|who| who.user.name.as_str() != "Another Name"),
    }
}

async fn ends_are_judged_by_the_clock(app: &App) {
    let remote = remembering(app);
    let token = app.member().logged_in().await.access_token();
    warm(app, &remote, &token).await;
    app.clock.advance(app.config.sessions.access_token_ttl);
    assert!(who(&remote, &token).await.is_none());
}

async fn a_clock_behind_the_services_prolongs_nothing(app: &App) {
    let (token, answer) = token_and_answer(app).await;
    let server = ScriptedServer::start(move |asked| match is_poll(asked) {
        true => Some(http("200 OK", "Date: Fri, 01 Jan 2100 00:00:00 GMT\r\n", NOTHING_NEW)),
        false => ok(&answer),
    })
    .await;
    let remote = remembering_at(app, &server.url(), MAX_AGE);
    for _ in 0..6 {
        assert!(who(&remote, &token).await.is_some());
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    let asked = server.asked();
    assert_eq!(asked.iter().filter(|asked| !is_poll(asked)).count(), 6, "each was asked for");
    assert!(
        asked.iter().any(|asked| !is_poll(asked) && asked.contains(r#""after":"c""#)),
        "with the cursor held: it could be kept"
    );
    assert!(logs::mention("the service's clock is ahead of this machine's"));
}

async fn a_revoked_key_opens_nothing_any_more(app: &App) {
    let admin = app.admin().logged_in().await;
    let (key, text) = admin.created_key(json!({ "name": "host", "scopes": ["verify"] })).await;
    let remote = RemoteVerifier::new(&format!("http://{}", app.address())).expect("loopback").remembering(MAX_AGE);
    let remote = remote.clock(app.clock.clone()).key("acme", text).expect("a key");
    let token = admin.access_token();
    warm(app, &remote, &token).await;
    admin.delete(&format!("/org/api-keys/{}", key["id"].as_str().expect("an id"))).await.expect(200);
    tokio::time::sleep(MAX_AGE).await;
    let acme = "acme".parse().expect("a slug");
    remote.verify(&acme, &SignedToken::new(token)).await.expect_err("nothing is remembered of what the key opened");
}

const NOTHING_NEW: &str =
    r#"{"status":"success","data":{"cursor":"c","everything":false,"sessions":[],"users":[],"keyExpiresAt":null}}"#;
const INVALID: &str = r#"{"status":"success","data":{"valid":false}}"#;

fn ok(body: &str) -> Option<Vec<u8>> {
    Some(http("200 OK", "", body))
}

fn is_poll(asked: &str) -> bool {
    asked.starts_with("GET /api/v1/public/changes?")
}

/// A live token, and what the service says of it.
async fn token_and_answer(app: &App) -> (String, String) {
    let token = app.member().logged_in().await.access_token();
    let data = app.backend().verify(&token).await.expect_ok();
    (token, json!({ "status": "success", "data": data }).to_string())
}

async fn a_service_that_hangs_is_believed_no_longer_than_that(app: &App) {
    let (token, answer) = token_and_answer(app).await;
    let hangs = Arc::new(AtomicBool::new(false));
    let is_hanging = Arc::clone(&hangs);
    // Its polls hang, and what it says of tokens has changed.
    let server = ScriptedServer::start(move |asked| match (is_poll(asked), is_hanging.load(Ordering::SeqCst)) {
        (true, true) => None,
        (true, false) => ok(NOTHING_NEW),
        (false, true) => ok(INVALID),
        (false, false) => ok(&answer),
    })
    .await;
    let remote = remembering_at(app, &server.url(), MAX_AGE);
    let until_remembered = async || {
        let questions = || server.asked().iter().filter(|asked| !is_poll(asked)).count();
        loop {
            let before = questions();
            assert!(who(&remote, &token).await.is_some());
            if questions() == before {
                return;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    let mut hung = None;
    for _ in 0..ROUNDS {
        until_remembered().await;
        hangs.store(true, Ordering::SeqCst);
        let since = Instant::now();
        // The last poll may have been too long ago.
        if who(&remote, &token).await.is_some() {
            hung = Some(since);
            break;
        }
        hangs.store(false, Ordering::SeqCst);
    }
    let hung = hung.expect("remembered");
    while hung.elapsed() < 2 * MAX_AGE {
        let is_late = hung.elapsed() >= MAX_AGE;
        let answer = who(&remote, &token).await;
        assert!(!is_late || answer.is_none(), "after {:?}", hung.elapsed());
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    hangs.store(false, Ordering::SeqCst);
    until_remembered().await;
}

async fn an_answer_that_was_named_while_it_was_asked_is_not_kept(app: &App) {
    let (token, answer) = token_and_answer(app).await;
    let session = serde_json::from_str::<serde_json::Value>(&answer).expect("JSON")["data"]["session"]["id"].clone();
    // Each poll names the session, as if it changed all the time.
    let named = json!({ "status": "success", "data": { "cursor": "c", "everything": false, "sessions": [session], "users": [], "keyExpiresAt": null } });
    let named = named.to_string();
    let polls = AtomicUsize::new(0);
    let server = ScriptedServer::start(move |asked| {
        if is_poll(asked) {
            polls.fetch_add(1, Ordering::SeqCst);
            return ok(&named);
        }
        // The second poll from now on comes once the first one's answer was taken in.
        let (before, began) = (polls.load(Ordering::SeqCst), Instant::now());
        while polls.load(Ordering::SeqCst) < before + 2 && began.elapsed() < Duration::from_millis(1_500) {
            std::thread::sleep(Duration::from_millis(5));
        }
        ok(&answer)
    })
    .await;
    let remote = remembering_at(app, &server.url(), Duration::from_millis(400));
    for _ in 0..6 {
        assert!(who(&remote, &token).await.is_some());
    }
    let verified = server.asked().iter().filter(|asked| !is_poll(asked)).count();
    assert_eq!(verified, 6, "each was asked for");
    let with_cursor = server.asked().iter().filter(|asked| !is_poll(asked) && asked.contains(r#""after":"c""#)).count();
    assert!(with_cursor >= 4, "with the cursor held");
}

async fn a_lost_question_stops_nobody_while_the_background_one_is_answered(app: &App) {
    let is_lost = AtomicBool::new(false);
    let server = ScriptedServer::start(move |asked| match is_poll(asked) {
        true => ok(NOTHING_NEW),
        false if is_lost.swap(true, Ordering::SeqCst) => ok(INVALID),
        false => None,
    })
    .await;
    let remote = remembering_at(app, &server.url(), MAX_AGE);
    let (acme, token) = ("acme".parse().expect("a slug"), SignedToken::new("nobody's"));
    remote.verify(&acme, &token).await.expect_err("it is lost");
    assert!(remote.verify(&acme, &token).await.expect("the service is asked").is_none());
}

async fn any_other_status_forgets_everything(app: &App) {
    let (token, answer) = token_and_answer(app).await;
    for status in
        ["500 Internal Server Error", "503 Service Unavailable", "429 Too Many Requests", "401 Unauthorized", "204 No Content"]
    {
        let refuses = Arc::new(AtomicBool::new(false));
        let (is_refusing, answer) = (Arc::clone(&refuses), answer.clone());
        let server = ScriptedServer::start(move |asked| match (is_poll(asked), is_refusing.load(Ordering::SeqCst)) {
            (true, true) => Some(http(status, "", "")),
            (true, false) => ok(NOTHING_NEW),
            (false, true) => ok(INVALID),
            (false, false) => ok(&answer),
        })
        .await;
        // Much older than the test lasts: only forgetting helps.
        let remote = remembering_at(app, &server.url(), Duration::from_secs(4));
        for _ in 0..10 {
            assert!(who(&remote, &token).await.is_some());
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        refuses.store(true, Ordering::SeqCst);
        let began = Instant::now();
        while who(&remote, &token).await.is_some() {
            assert!(began.elapsed() < Duration::from_secs(3), "{status}");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }
}

async fn at_most_two_questions_a_second(app: &App) {
    let (token, answer) = token_and_answer(app).await;
    // It never waits, as if something changed all the time.
    let server = ScriptedServer::start(move |asked| if is_poll(asked) { ok(NOTHING_NEW) } else { ok(&answer) }).await;
    let remote = RemoteVerifier::new(&server.url()).expect("loopback").remembering(None).clock(app.clock.clone());
    let remote = remote.key("acme", app.org().api_key()).expect("a key");
    let polls = || server.asked().iter().filter(|asked| is_poll(asked)).count();
    let began = Instant::now();
    while began.elapsed() < Duration::from_secs(3) || polls() < 4 {
        assert!(who(&remote, &token).await.is_some());
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    // Counted before the time is taken.
    let (polls, took) = (polls(), began.elapsed());
    let most = took.as_millis() / 500 + 2;
    assert!((4..=most).contains(&(polls as u128)), "{polls} in {took:?}");
    assert!(server.asked()[1..].iter().filter(|asked| is_poll(asked)).skip(1).all(|asked| asked.contains("wait=800&after=c")));
}

async fn a_dropped_verifier_asks_nothing_more(app: &App) {
    let (token, answer) = token_and_answer(app).await;
    let server = ScriptedServer::start(move |asked| if is_poll(asked) { ok(NOTHING_NEW) } else { ok(&answer) }).await;
    let remote = remembering_at(app, &server.url(), Duration::from_millis(200));
    for _ in 0..20 {
        assert!(who(&remote, &token).await.is_some());
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    drop(remote);
    tokio::time::sleep(Duration::from_millis(100)).await;
    let before = server.asked().len();
    assert!(before >= 3, "it polled");
    tokio::time::sleep(Duration::from_millis(400)).await;
    assert_eq!(server.asked().len(), before);
}
