//! `GET /org/audit`: what an org_admin reads of the audit log.

use serde_json::{Value, json};
use tenant_auth_conformance::{App, Caller, scenarios, shape};
use tenant_auth_core::model::DeploymentScope::Verify;

use crate::suite::{
    public::deployment_keys::{made, new_key},
    support::{
        account::in_both,
        chain::{column, verified},
        hooks::run_sql,
        listener::session_of,
    },
};

scenarios![
    the_newest_entries_come_first,
    an_entry_tells_who_did_what_to_whom_and_from_where,
    a_request_made_elsewhere_is_told_without_its_context,
    a_replayed_refresh_token_is_the_systems_news_without_a_context,
    names_are_those_of_today,
    an_imported_entry_tells_no_strangers_name,
    entries_are_chosen_by_who_caused_them,
    entries_are_chosen_by_whom_they_are_about,
    entries_are_chosen_by_kind,
    entries_are_chosen_by_time,
    conditions_can_be_joined,
    a_log_is_walked_page_by_page,
    what_is_no_condition_is_refused,
    only_admins_read_the_log,
];

async fn entries(admin: &Caller, query: &str) -> Vec<Value> {
    let data = admin.get(&format!("/org/audit{query}")).await.expect_ok();
    data["entries"].as_array().expect("a list").clone()
}

fn kinds(entries: &[Value]) -> Vec<&str> {
    entries.iter().map(|entry| entry["type"].as_str().expect("a kind")).collect()
}

async fn the_newest_entries_come_first(app: &App) {
    let admin = app.admin().logged_in().await;
    app.member().logged_in().await.logout().await.expect(200);
    let seen = entries(&admin, "").await;
    assert_eq!(kinds(&seen)[..2], ["session.revoked", "session.created"]);
    let mut sequences = column(app, "acme", "sequence").await;
    sequences.reverse();
    assert_eq!(seen.iter().map(|entry| entry["sequence"].to_string()).collect::<Vec<_>>(), sequences);
    verified(app, "acme").await;
}

async fn an_entry_tells_who_did_what_to_whom_and_from_where(app: &App) {
    let (admin, max) = (app.admin().with("User-Agent", "Firefox on the moon").logged_in().await, app.member().logged_in().await);
    admin.delete(&format!("/org/members/{}", max.id())).await.expect(200);
    let seen = entries(&admin, "?kind=member.removed").await;
    let entry = &seen[0];
    assert_eq!(shape(entry), ["actor", "context", "data", "erased", "hash", "id", "sequence", "timestamp", "type", "user"]);
    assert_eq!(entry["actor"], json!({ "type": "user", "id": admin.id(), "name": "Ada Admin" }));
    assert_eq!((&entry["user"], &entry["erased"]), (&max.id().into(), &false.into()));
    assert_eq!(entry["context"], json!({ "ip": "127.0.0.1", "userAgent": "Firefox on the moon", "sessionId": session_of(&admin) }));
    assert_eq!(entry["data"]["member"]["userId"], max.id());
    assert!(column(app, "acme", "hash").await.contains(&entry["hash"].as_str().expect("a hash").to_owned()));
}

async fn a_request_made_elsewhere_is_told_without_its_context(app: &App) {
    let (max, _) = in_both(app).await;
    max.put("/auth/profile", json!({ "name": "Maximilian" })).await.expect(200);
    let greta = app.other_org().admin().logged_in().await;
    let seen = entries(&greta, "?kind=user.updated").await;
    assert_eq!((seen.len(), &seen[0]["context"]), (1, &Value::Null), "who is somewhere else is told nothing of the request");
}

async fn a_replayed_refresh_token_is_the_systems_news_without_a_context(app: &App) {
    let (admin, max) = (app.admin().logged_in().await, app.member().logged_in().await);
    let old = max.refresh_token();
    max.refresh().await.expect(200);
    app.advance(31);
    app.anonymous().refresh_with(&old).await.expect_no_session();
    for kind in ["session.reuse_detected", "session.revoked"] {
        let seen = entries(&admin, &format!("?kind={kind}")).await;
        assert_eq!((seen.len(), &seen[0]["actor"]["type"], &seen[0]["context"]), (1, &"system".into(), &Value::Null), "{kind}");
    }
}

async fn names_are_those_of_today(app: &App) {
    let (admin, max) = (app.admin().logged_in().await, app.member().logged_in().await);
    max.put("/auth/profile", json!({ "name": "Maximilian" })).await.expect(200);
    for entry in entries(&admin, &format!("?actor={}", max.id())).await {
        assert_eq!(entry["actor"]["name"], "Maximilian");
    }
    app.auth.operator().delete_user(&max.email().parse().expect("an address")).await.expect("deleted");
    for entry in entries(&admin, &format!("?actor={}", max.id())).await {
        assert_eq!(entry["actor"]["name"], Value::Null);
    }
    assert_eq!(entries(&admin, "?kind=member.removed").await[0]["actor"], json!({ "type": "system", "id": null, "name": null }));
}

/// Whose ids imported entries name is the word of a file; what happened here since is the service's own word.
async fn an_imported_entry_tells_no_strangers_name(app: &App) {
    let (admin, greta) = (app.admin().logged_in().await, app.other_org().admin().logged_in().await);
    let (key, _) = made(app, new_key(&[Verify])).await;
    for n in 0..4 {
        admin.patch("/org", json!({ "name": format!("Acme {n}") })).await.expect(200);
    }
    let last: usize = column(app, "acme", "sequence").await.last().expect("one").parse().expect("a number");
    let change = async |sequence: usize, change: String| {
        let org = "(SELECT id FROM tenant_auth_organizations WHERE slug = 'acme')";
        run_sql(app, &format!("UPDATE tenant_auth_events SET {change} WHERE org_id = {org} AND sequence = {sequence}")).await;
    };
    change(last - 3, format!("actor_id = '{}'", greta.id())).await;
    change(last - 2, format!("actor_type = 'deployment_key', actor_id = '{key}'")).await;
    change(last - 1, "kind = 'org.imported'".to_owned()).await;
    change(last, format!("actor_id = '{}'", greta.id())).await;
    let names: Vec<Value> = entries(&admin, "?limit=5").await.iter().rev().map(|entry| entry["actor"]["name"].clone()).collect();
    let greta = greta.get("/auth/profile").await.expect_ok()["user"]["name"].clone();
    assert_eq!(names[1..], [Value::Null, Value::Null, json!("Ada Admin"), greta]);
    for (filter, name) in [(format!("actor={key}"), Value::Null), (format!("actor={}", admin.id()), json!("Ada Admin"))] {
        assert_eq!(entries(&admin, &format!("?limit=1&{filter}")).await[0]["actor"]["name"], name, "{filter}");
    }
}

async fn entries_are_chosen_by_who_caused_them(app: &App) {
    let (admin, max) = (app.admin().logged_in().await, app.member().logged_in().await);
    admin.delete(&format!("/org/members/{}/sessions", max.id())).await.expect(200);
    let all = entries(&admin, "").await;
    for actor in [admin.id(), max.id()] {
        let expected: Vec<Value> = all.iter().filter(|entry| entry["actor"]["id"] == actor).cloned().collect();
        assert!(!expected.is_empty());
        assert_eq!(entries(&admin, &format!("?actor={actor}")).await, expected);
    }
    for nobody in ["usr_0000000000000000000000000x", "nonsense", "", "%27%20OR%20%271%27%3D%271"] {
        assert!(entries(&admin, &format!("?actor={nobody}")).await.is_empty(), "{nobody}");
    }
}

async fn entries_are_chosen_by_whom_they_are_about(app: &App) {
    let (admin, max) = (app.admin().logged_in().await, app.member().logged_in().await);
    admin.delete(&format!("/org/members/{}/sessions", max.id())).await.expect(200);
    let seen = entries(&admin, &format!("?user={}", max.id())).await;
    assert_eq!(kinds(&seen)[..2], ["session.revoked", "session.created"]);
    assert!(seen.iter().all(|entry| entry["user"] == max.id()));
    assert!(entries(&admin, "?user=nobody").await.is_empty());
}

async fn entries_are_chosen_by_kind(app: &App) {
    let (admin, max) = (app.admin().logged_in().await, app.member().logged_in().await);
    admin.invite("new@example.com").await.expect(201);
    admin.delete(&format!("/org/members/{}", max.id())).await.expect(200);
    let all = entries(&admin, "").await;
    assert_eq!(entries(&admin, "?kind=*").await, all);
    for (query, keep) in [
        ("invite.created", &["invite.created"][..]),
        ("invite.created,member.removed", &["invite.created", "member.removed"]),
        ("member.removed,nonsense,invite.created,invite.created", &["invite.created", "member.removed"]),
        ("session.*", &["session.created", "session.revoked"]),
        ("session.*,member.*", &["session.created", "session.revoked", "member.joined", "member.removed"]),
        ("nonsense", &[]),
        ("", &[]),
    ] {
        let expected: Vec<Value> =
            all.iter().filter(|entry| keep.contains(&entry["type"].as_str().expect("a kind"))).cloned().collect();
        assert_eq!(entries(&admin, &format!("?kind={query}")).await, expected, "{query}");
        assert_eq!(expected.is_empty(), keep.is_empty());
    }
}

async fn entries_are_chosen_by_time(app: &App) {
    let admin = app.admin().logged_in().await;
    for n in 0..5 {
        app.advance(60);
        admin.patch("/org", json!({ "name": format!("Acme {n}") })).await.expect(200);
        admin.patch("/org", json!({ "name": format!("Acme again {n}") })).await.expect(200);
    }
    let all = entries(&admin, "").await;
    let times: Vec<String> = all.iter().map(|entry| entry["timestamp"].as_str().expect("a time").to_owned()).collect();
    let bounds = ["2000-01-01T00:00:00Z", &times[0], &times[3], &times[6], times.last().expect("one"), "2100-01-01T00:00:00Z"];
    for from in bounds {
        for to in bounds {
            let is_in = |entry: &&Value| {
                let at = entry["timestamp"].as_str().expect("a time");
                at >= from && at < to
            };
            let expected: Vec<Value> = all.iter().filter(is_in).cloned().collect();
            assert_eq!(entries(&admin, &format!("?from={from}&to={to}")).await, expected, "{from} to {to}");
        }
        let expected: Vec<Value> = all.iter().filter(|entry| entry["timestamp"].as_str() >= Some(from)).cloned().collect();
        assert_eq!(entries(&admin, &format!("?from={from}")).await, expected, "from {from}: inclusive");
        let expected: Vec<Value> = all.iter().filter(|entry| entry["timestamp"].as_str() < Some(from)).cloned().collect();
        assert_eq!(entries(&admin, &format!("?to={from}")).await, expected, "to {from}: exclusive");
    }
}

async fn conditions_can_be_joined(app: &App) {
    let (admin, max) = (app.admin().logged_in().await, app.member().logged_in().await);
    let before = entries(&admin, "").await;
    app.advance(60);
    let other = app.member().logged_in().await;
    admin.delete(&format!("/org/members/{}/sessions", max.id())).await.expect(200);
    let since = entries(&admin, &format!("?kind=session.created&user={}", other.id())).await[0]["timestamp"].clone();
    let since = since.as_str().expect("a time");
    let query = format!("?kind=session.*&user={}&actor={}&from={since}", max.id(), admin.id());
    let seen = entries(&admin, &query).await;
    assert_eq!(kinds(&seen), ["session.revoked", "session.revoked"]);
    assert!(seen.iter().all(|entry| !before.contains(entry)));
    assert!(entries(&admin, &format!("{query}&to={since}")).await.is_empty());
    let by_admin = entries(&admin, &format!("?user={}&actor={}", max.id(), admin.id())).await;
    assert!(by_admin.len() >= 2 && by_admin.iter().all(|entry| entry["actor"]["id"] == admin.id() && entry["user"] == max.id()));
    let own = entries(&admin, &format!("?kind=session.created&user={0}&actor={0}", max.id())).await;
    assert!(own.len() >= 2 && own.iter().all(|entry| entry["actor"]["id"] == max.id() && entry["type"] == "session.created"));
}

async fn a_log_is_walked_page_by_page(app: &App) {
    let admin = app.admin().logged_in().await;
    for n in 0..8 {
        admin.patch("/org", json!({ "name": format!("Acme {n}") })).await.expect(200);
    }
    for query in ["", "&kind=org.*", "&kind=org.updated,session.created", &format!("&actor={}", admin.id())] {
        let all = entries(&admin, &format!("?limit=1000{query}")).await;
        let (mut walked, mut cursor) = (Vec::new(), String::new());
        loop {
            let data = admin.get(&format!("/org/audit?limit=3{query}{cursor}")).await.expect_ok();
            walked.extend(data["entries"].as_array().expect("a list").iter().cloned());
            // What is new does not move the page that comes next.
            app.member().logged_in().await;
            let Some(next) = data["nextCursor"].as_str() else { break };
            cursor = format!("&cursor={next}");
        }
        assert_eq!(walked, all, "{query}");
    }
    let data = admin.get("/org/audit?limit=1").await.expect_ok();
    let cursor = data["nextCursor"].as_str().expect("there is more").to_owned();
    admin.get(&format!("/org/audit?kind=org.updated&cursor={cursor}")).await.expect_invalid("cursor");
    app.other_org().admin().logged_in().await.get(&format!("/org/audit?cursor={cursor}")).await.expect_invalid("cursor");
}

async fn what_is_no_condition_is_refused(app: &App) {
    let admin = app.admin().logged_in().await;
    for (name, value) in [
        ("order", "asc"),
        ("order", "desc"),
        ("from", "yesterday"),
        ("to", "2026-11-20"),
        ("actor", "a%00"),
        ("user", "a%00"),
        ("kind", "a%00"),
        ("limit", "0"),
        ("limit", "1001"),
        ("cursor", "x"),
    ] {
        admin.get(&format!("/org/audit?{name}={value}")).await.expect_invalid(name);
    }
    for name in ["actor", "user", "kind", "from", "to"] {
        let value = if name.len() > 4 || name == "kind" || name == "user" { "x" } else { "2026-11-20T08:21:00Z" };
        admin.get(&format!("/org/audit?{name}={value}&{name}={value}")).await.expect_invalid(name);
    }
}

async fn only_admins_read_the_log(app: &App) {
    app.member().logged_in().await.get("/org/audit").await.expect_error(403, "admin_required");
    app.anonymous().get("/org/audit").await.expect_error(401, "session_required");
}
