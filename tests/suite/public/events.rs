//! GET /public/events: an organization's events in their order, none left out, for whoever keeps a copy of what they tell.

use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};
use tenant_auth_conformance::{App, Caller, scenarios, shape};
use tenant_auth_core::model::Scope;

use crate::suite::support::{
    hooks::run_sql,
    listener::{Listener, kinds},
};

scenarios![
    a_page_holds_the_payloads_that_webhooks_get,
    every_number_appears_also_of_what_no_webhook_selected,
    a_page_begins_after_a_number_or_an_event,
    pages_follow_each_other_without_a_gap,
    a_page_holds_a_mebibyte_of_events_at_most,
    events_that_are_gone_are_told,
    malformed_questions_are_400,
    the_scope_is_given_by_an_admin_and_to_no_key_by_default,
    a_suspended_organization_tells_nothing,
    nothing_is_told_of_another_organization,
    the_member_list_tells_from_where_to_read_on,
];

/// A backend of `acme` that may read events and members.
pub(super) async fn reader(app: &App) -> Caller {
    let key = app.org().operators_key(&[Scope::EventsRead, Scope::MembersRead]).await;
    app.anonymous().backend_with(&key)
}

pub(super) async fn page(backend: &Caller, query: &str) -> Value {
    let data = backend.get(&format!("/public/events?{query}")).await.expect_ok();
    assert_eq!(shape(&data), ["events", "lastSequence", "newest"]);
    data
}

pub(super) fn events(page: &Value) -> &[Value] {
    page["events"].as_array().expect("a list")
}

pub(super) fn numbers(page: &Value) -> Vec<i64> {
    events(page).iter().map(|event| event["sequence"].as_i64().expect("a number")).collect()
}

/// The number of the organization's last event.
pub(super) async fn newest(backend: &Caller) -> i64 {
    page(backend, "limit=1").await["newest"].as_i64().expect("a number")
}

/// Causes as many events: what changes nothing is none.
async fn cause(app: &App, admin: &Caller, count: usize) {
    static LAST: AtomicUsize = AtomicUsize::new(0);
    for _ in 0..count {
        let n = LAST.fetch_add(1, Ordering::Relaxed);
        admin.set_metadata(app.member().id(), json!({ "n": n })).await.expect(200);
    }
}

async fn a_page_holds_the_payloads_that_webhooks_get(app: &App) {
    let (admin, backend) = (app.admin().logged_in().await, reader(app).await);
    let mut listener = Listener::new(app, &admin).await;
    let before = newest(&backend).await;
    let member = app.member().logged_in().await;
    admin.set_metadata(member.id(), json!({ "team": "rockets", "ü": [1.5, null] })).await.expect(200);
    app.advance(60);
    admin.set_role(member.id(), "org_admin").await.expect(200);
    member.logout().await.expect(200);
    let heard = listener.heard().await;
    let data = page(&backend, &format!("after={before}")).await;
    assert_eq!(events(&data), heard);
    assert_eq!(kinds(&heard), ["session.created", "member.updated", "member.role_changed", "session.revoked"]);
    assert_eq!((&data["lastSequence"], &data["newest"]), (&json!(before + 4), &json!(before + 4)));
    let text = data.to_string();
    assert!(!text.contains("userAgent") && !text.contains("127.0.0.1"), "no address and no User-Agent");
}

async fn every_number_appears_also_of_what_no_webhook_selected(app: &App) {
    let (admin, backend) = (app.admin().logged_in().await, reader(app).await);
    let mut listener = Listener::new(app, &admin).await;
    let before = newest(&backend).await;
    listener.hook.test(&admin).await;
    listener.heard().await;
    cause(app, &admin, 2).await;
    let data = page(&backend, &format!("after={before}")).await;
    assert_eq!(numbers(&data), (before + 1..=before + 3).collect::<Vec<_>>());
    assert_eq!(events(&data)[0]["type"], "webhook.test");
}

async fn a_page_begins_after_a_number_or_an_event(app: &App) {
    let (admin, backend) = (app.admin().logged_in().await, reader(app).await);
    cause(app, &admin, 5).await;
    let all = page(&backend, "limit=1000").await;
    assert_eq!(numbers(&all), (1..=all["newest"].as_i64().expect("a number")).collect::<Vec<_>>(), "from the oldest");
    assert_eq!(page(&backend, "after=0&limit=1000").await, all);
    for event in events(&all) {
        let sequence = event["sequence"].as_i64().expect("a number");
        let by_number = page(&backend, &format!("after={sequence}&limit=2")).await;
        let by_id = page(&backend, &format!("after={}&limit=2", event["id"].as_str().expect("an id"))).await;
        assert_eq!(by_number, by_id);
        assert_eq!(events(&by_number), &events(&all)[sequence as usize..][..events(&by_number).len()]);
    }
    let end = page(&backend, &format!("after={}", all["newest"])).await;
    assert_eq!((events(&end).len(), &end["lastSequence"], &end["newest"]), (0, &all["newest"], &all["newest"]));
}

async fn pages_follow_each_other_without_a_gap(app: &App) {
    let (admin, backend) = (app.admin().logged_in().await, reader(app).await);
    cause(app, &admin, 130).await;
    let newest = newest(&backend).await;
    assert_eq!(events(&page(&backend, "").await).len(), 100, "unless stated otherwise");
    for limit in [1, 63, 64, 65, 128, 1_000] {
        let (mut place, mut seen) = (0, Vec::new());
        while place < newest {
            let data = page(&backend, &format!("after={place}&limit={limit}")).await;
            assert!((1..=limit).contains(&events(&data).len()));
            place = data["lastSequence"].as_i64().expect("a number");
            seen.extend(numbers(&data));
        }
        assert_eq!(seen, (1..=newest).collect::<Vec<_>>());
    }
}

/// The last of the events fills a mebibyte of them to the byte, so that there is no room for what stands around them.
async fn a_page_holds_a_mebibyte_of_events_at_most(app: &App) {
    let (admin, backend) = (app.admin().logged_in().await, reader(app).await);
    let before = newest(&backend).await;
    let (mut last, mut room, mut filling) = (before, 1 << 20, 7_000);
    while room > 0 {
        let metadata = json!({ "n": 100 + last, "filling": "x".repeat(filling) });
        admin.set_metadata(app.member().id(), metadata).await.expect(200);
        let length = events(&page(&backend, &format!("after={last}")).await)[0].to_string().len();
        (last, room) = (last + 1, room - length);
        if room < 22_000 {
            filling = (filling + room).saturating_sub(length);
        }
    }
    let answer = backend.get(&format!("/public/events?after={before}&limit=1000")).await.expect(200);
    assert!(answer.body.len() <= 1 << 20, "{} bytes, with the envelope", answer.body.len());
    assert_eq!(answer.json()["data"]["lastSequence"], last - 1);
    assert_eq!(numbers(&page(&backend, &format!("after={}", last - 1)).await), [last]);
}

async fn events_that_are_gone_are_told(app: &App) {
    let (admin, backend) = (app.admin().logged_in().await, reader(app).await);
    cause(app, &admin, 5).await;
    let all = page(&backend, "limit=1000").await;
    let newest = all["newest"].as_i64().expect("a number");
    let gone = async |after: &str| {
        backend.get(&format!("/public/events?after={after}")).await.expect_error(410, "events_expired");
    };
    gone(&(newest + 1).to_string()).await;
    gone(&i64::MAX.to_string()).await;
    gone("evt_00000000000000000000000000").await;
    run_sql(
        app,
        "DELETE FROM tenant_auth_events WHERE sequence <= 3 AND org_id = (SELECT id FROM tenant_auth_organizations WHERE slug = 'acme')",
    )
    .await;
    gone("0").await;
    gone("2").await;
    gone(events(&all)[2]["id"].as_str().expect("an id")).await;
    assert_eq!(page(&backend, "after=3&limit=1000").await["events"], json!(&events(&all)[3..]));
    assert_eq!(page(&backend, "limit=1000").await["events"], json!(&events(&all)[3..]), "from the oldest that is kept");
    run_sql(app, "DELETE FROM tenant_auth_events").await;
    gone("3").await;
    let nothing = page(&backend, "").await;
    assert_eq!((events(&nothing).len(), &nothing["lastSequence"], &nothing["newest"]), (0, &json!(newest), &json!(newest)));
    cause(app, &admin, 1).await;
    assert_eq!(numbers(&page(&backend, "").await), [newest + 1]);
}

async fn malformed_questions_are_400(app: &App) {
    let backend = reader(app).await;
    let ask = |query: &str| backend.get(&format!("/public/events?{query}"));
    for after in [
        "",
        "x",
        "-1",
        "1.5",
        "9223372036854775808",
        "99999999999999999999",
        "evt_",
        "evt_x",
        "usr_00000000000000000000000000",
        "%00",
    ] {
        ask(&format!("after={after}")).await.expect_invalid("after");
    }
    ask("after=0&after=0").await.expect_invalid("after");
    for limit in ["0", "1001", "-1", "%2B5", "x", ""] {
        ask(&format!("limit={limit}")).await.expect_invalid("limit");
    }
    for wait in ["-1", "1001", "%2B5", "x", ""] {
        ask(&format!("wait={wait}")).await.expect_invalid("wait");
    }
}

async fn the_scope_is_given_by_an_admin_and_to_no_key_by_default(app: &App) {
    let admin = app.admin().logged_in().await;
    let (_, default) = admin.created_key(json!({ "name": "Default" })).await;
    app.anonymous().backend_with(&default).get("/public/events").await.expect_error(403, "missing_scope");
    let (api_key, own) = admin.created_key(json!({ "name": "Feed", "scopes": ["events:read"] })).await;
    assert_eq!(api_key["scopes"], json!(["events:read"]));
    app.anonymous().backend_with(&own).get("/public/events").await.expect(200);
    app.anonymous().backend_with(&own).get("/public/members").await.expect_error(403, "missing_scope");
    app.anonymous().get("/public/events").await.expect_error(401, "invalid_api_key");
    app.admin().logged_in().await.get("/public/events").await.expect_error(401, "invalid_api_key");
}

async fn a_suspended_organization_tells_nothing(app: &App) {
    let backend = reader(app).await;
    app.org().suspend().await;
    backend.get("/public/events").await.expect_error(403, "suspended");
    app.org().reactivate().await;
    let data = page(&backend, "limit=1000").await;
    let told = kinds(events(&data));
    assert!(told.ends_with(&["org.suspended", "org.reactivated"]), "{told:?}");
}

async fn nothing_is_told_of_another_organization(app: &App) {
    let backend = reader(app).await;
    app.other_org().admin().logged_in().await;
    let key = app.other_org().operators_key(&[Scope::EventsRead]).await;
    let other = app.other_org().anonymous().backend_with(&key);
    let (here, there) = (page(&backend, "limit=1000").await, page(&other, "limit=1000").await);
    assert!(events(&here).iter().all(|event| event["org"]["slug"] == "acme"));
    assert!(events(&there).iter().all(|event| event["org"]["slug"] == "globex"));
    let foreign = events(&there)[0]["id"].as_str().expect("an id");
    backend.get(&format!("/public/events?after={foreign}")).await.expect_error(410, "events_expired");
    app.anonymous().backend_with(&key).get("/public/events").await.expect_error(401, "invalid_api_key");
}

async fn the_member_list_tells_from_where_to_read_on(app: &App) {
    let (admin, backend) = (app.admin().logged_in().await, reader(app).await);
    cause(app, &admin, 1).await;
    let newest = newest(&backend).await;
    let first = backend.get("/public/members?limit=1").await.expect_ok();
    assert_eq!((shape(&first), &first["sequence"]), (vec!["members", "nextCursor", "sequence"], &json!(newest)));
    let cursor = first["nextCursor"].as_str().expect("a cursor");
    let second = backend.get(&format!("/public/members?limit=1&cursor={cursor}")).await.expect_ok();
    assert!(second.get("sequence").is_none(), "the first page's is the place");
    for query in ["", "q=max", "role=org_admin", "status=suspended", "order=desc"] {
        assert_eq!(backend.get(&format!("/public/members?{query}")).await.expect_ok()["sequence"], json!(newest), "{query}");
    }
    assert!(admin.get("/org/members").await.expect_ok().get("sequence").is_none());
    cause(app, &admin, 2).await;
    assert_eq!(numbers(&page(&backend, &format!("after={}", first["sequence"])).await), [newest + 1, newest + 2]);
}
