//! The queries of lists: order, search, filters, and what a cursor belongs to.

use serde_json::{Value, json};
use tenant_auth_conformance::{App, Caller, scenarios};

use crate::suite::{
    admin::operators::operator,
    support::hooks::{Hook, RECEIVER, run_sql},
};

scenarios![
    every_list_can_begin_with_the_latest,
    members_are_searched_by_a_part_of_name_or_address,
    a_search_knows_no_wildcards,
    what_belongs_to_an_organization_is_searched,
    members_are_filtered_by_role_and_status,
    deliveries_are_filtered_by_status,
    what_is_found_is_walked_page_by_page,
    a_cursor_belongs_to_its_list_filter_and_order,
    a_bad_parameter_is_400_and_named,
    a_parameter_given_twice_is_400,
    other_lists_ignore_what_they_do_not_know,
    a_page_ends_before_its_body_passes_a_mebibyte,
];

fn names(data: &Value) -> Vec<String> {
    data["members"].as_array().expect("a list").iter().map(|entry| entry["name"].as_str().expect("a name").to_owned()).collect()
}

/// The whole list, page by page.
async fn walked(caller: &Caller, path: &str, key: &str) -> Vec<Value> {
    let mut items = Vec::new();
    let mut next = path.to_owned();
    loop {
        let data = caller.get(&next).await.expect_ok();
        items.extend(data[key].as_array().expect("a list").iter().cloned());
        let Some(cursor) = data["nextCursor"].as_str() else { return items };
        next = format!("{path}{}cursor={cursor}", if path.contains('?') { '&' } else { '?' });
    }
}

async fn every_list_can_begin_with_the_latest(app: &App) {
    let admin = app.admin().logged_in().await;
    let hook = Hook::new(&admin, RECEIVER, &["*"]).await;
    Hook::new(&admin, RECEIVER, &["*"]).await;
    for n in 0..3 {
        app.advance(u64::from(n % 2 == 0));
        app.org().new_member(&format!("Pat{n}")).await;
        admin.invite(&format!("nora{n}@acme.example")).await.expect(201);
        admin.create_key(&format!("Key {n}")).await.expect(201);
        hook.test(&admin).await;
        app.admin().logged_in().await;
    }
    let deliveries = format!("{}/deliveries", hook.path());
    let lists = [
        ("/org/members", "members"),
        ("/org/invites", "invites"),
        ("/org/api-keys", "apiKeys"),
        ("/org/webhooks", "webhooks"),
        ("/auth/sessions", "sessions"),
        (&deliveries, "deliveries"),
    ];
    for (path, key) in lists {
        let mut oldest_first = walked(&admin, path, key).await;
        assert!(oldest_first.len() > 1, "{path}");
        assert_eq!(walked(&admin, &format!("{path}?order=asc"), key).await, oldest_first, "{path}");
        oldest_first.reverse();
        for query in ["order=desc", "order=desc&limit=1", "limit=2&order=desc"] {
            assert_eq!(walked(&admin, &format!("{path}?{query}"), key).await, oldest_first, "{path}?{query}");
        }
    }
    let latest = app.backend().get("/public/members?order=desc&limit=1").await.expect_ok();
    assert_eq!(latest["members"][0], walked(&admin, "/org/members", "members").await.pop().expect("a member"));
}

async fn members_are_searched_by_a_part_of_name_or_address(app: &App) {
    for name in ["Oz Özge", "So Σοφία", "Zh Жанна", "Zoe"] {
        app.org().new_member(name).await;
    }
    let admin = app.admin().logged_in().await;
    for (wanted, found) in [
        ("%C3%B6zge", vec!["Oz Özge"]),
        ("%C3%96ZGE", vec!["Oz Özge"]),
        ("%CE%A3%CE%9F%CE%A6", vec!["So Σοφία"]),
        ("%D0%B6%D0%90%D0%9D", vec!["Zh Жанна"]),
        ("zOe", vec!["Zoe"]),
        ("nobody%20at%20all", vec![]),
    ] {
        let data = admin.get(&format!("/org/members?q={wanted}")).await.expect_ok();
        assert_eq!(names(&data), found, "{wanted}");
        assert_eq!(names(&app.backend().get(&format!("/public/members?q={wanted}")).await.expect_ok()), found, "{wanted}");
    }
    let own = app.member().email().to_uppercase();
    assert_eq!(names(&admin.get(&format!("/org/members?q={own}")).await.expect_ok()).len(), 1, "by address, in any case");
    let everybody = names(&admin.get("/org/members").await.expect_ok());
    assert_eq!(names(&admin.get("/org/members?q=").await.expect_ok()), everybody, "empty is absent");
}

async fn a_search_knows_no_wildcards(app: &App) {
    app.org().new_member("Ann_100%").await;
    let member = app.member().logged_in().await;
    for (wanted, found) in [("%25", 1), ("_100", 1), ("*", 0), ("a%25n", 0), ("%5C", 0), ("'%20OR%20'1'='1", 0)] {
        let data = member.get(&format!("/org/members?q={wanted}")).await.expect_ok();
        assert_eq!(names(&data).len(), found, "{wanted}");
    }
}

async fn what_belongs_to_an_organization_is_searched(app: &App) {
    let admin = app.admin().logged_in().await;
    for name in ["Billing", "Reports ÄÖ", "billing, the old one"] {
        admin.create_key(name).await.expect(201);
    }
    let hook = Hook::new(&admin, RECEIVER, &["*"]).await;
    admin.patch(&hook.path(), json!({ "description": "Fills the Warehouse" })).await.expect(200);
    Hook::new(&admin, &format!("{RECEIVER}/Other"), &["*"]).await;
    app.member().logged_in().await;
    let sessions_of_member = format!("/org/members/{}/sessions", app.member().id());
    admin.invite("nora@acme.example").await.expect(201);
    admin.invite("omar@globex.example").await.expect(201);
    for (path, key, wanted, found) in [
        ("/org/invites", "invites", "@ACME", 1),
        ("/org/api-keys", "apiKeys", "BILLING", 2),
        ("/org/api-keys", "apiKeys", "%C3%A4%C3%B6", 1),
        ("/org/api-keys", "apiKeys", "%25", 0),
        ("/org/webhooks", "webhooks", "warehouse", 1),
        ("/org/webhooks", "webhooks", "/oTHER", 1),
        ("/org/webhooks", "webhooks", "https://", 2),
        ("/org/webhooks", "webhooks", "nowhere", 0),
        ("/auth/sessions", "sessions", "127.0.0", 1),
        ("/auth/sessions", "sessions", "no-such-browser", 0),
        (&sessions_of_member, "sessions", "127.0.0", 1),
        (&sessions_of_member, "sessions", "no-such-browser", 0),
    ] {
        for limit in [1, 100] {
            let one = walked(&admin, &format!("{path}?search={wanted}&limit={limit}"), key).await;
            assert_eq!(one.len(), found, "{path} {wanted}: {one:#?}");
        }
        admin.get(&format!("{path}?search=a%00")).await.expect_invalid("search");
        admin.get(&format!("{path}?search={}", "a".repeat(101))).await.expect_invalid("search");
        admin.get(&format!("{path}?search=a&search=b")).await.expect_invalid("search");
    }
    let first = admin.get("/org/api-keys?search=billing&limit=1").await.expect_ok();
    let cursor = first["nextCursor"].as_str().expect("there are two");
    admin.get(&format!("/org/api-keys?search=reports&cursor={cursor}")).await.expect_invalid("cursor");
    admin.get(&format!("/org/api-keys?cursor={cursor}")).await.expect_invalid("cursor");
}

async fn members_are_filtered_by_role_and_status(app: &App) {
    let suspended = app.org().new_member("Sue").await;
    app.org().new_admin("Al").await;
    let admin = app.admin().logged_in().await;
    admin.put(&format!("/org/members/{}/status", suspended.id()), json!({ "status": "suspended" })).await.expect(200);
    let all = walked(&admin, "/org/members", "members").await;
    for (query, keep) in [
        ("role=org_admin", Box::new(|entry: &Value| entry["role"] == "org_admin") as Box<dyn Fn(&Value) -> bool>),
        ("role=member", Box::new(|entry| entry["role"] == "member")),
        ("status=suspended", Box::new(|entry| entry["status"] == "suspended")),
        ("status=active&role=member", Box::new(|entry| entry["status"] == "active" && entry["role"] == "member")),
        ("status=suspended&role=org_admin", Box::new(|_| false)),
        ("q=su&status=active", Box::new(|_| false)),
        ("q=Su&status=suspended&role=member", Box::new(|entry| entry["name"] == "Sue")),
    ] {
        let expected: Vec<Value> = all.iter().filter(|entry| keep(entry)).cloned().collect();
        assert_eq!(walked(&admin, &format!("/org/members?{query}&limit=1"), "members").await, expected, "{query}");
        assert_eq!(walked(&app.backend(), &format!("/public/members?{query}"), "members").await, expected, "{query}");
    }
}

async fn deliveries_are_filtered_by_status(app: &App) {
    let admin = app.admin().logged_in().await;
    let hook = Hook::new(&admin, RECEIVER, &["webhook.*"]).await;
    hook.test(&admin).await;
    app.tick().await;
    app.advance(1);
    hook.test(&admin).await;
    let path = format!("{}/deliveries", hook.path());
    let all = walked(&admin, &path, "deliveries").await;
    assert_eq!(all.len(), 2);
    for status in ["pending", "succeeded", "failed", "cancelled"] {
        let expected: Vec<Value> = all.iter().filter(|one| one["status"] == status).cloned().collect();
        assert_eq!(walked(&admin, &format!("{path}?status={status}"), "deliveries").await, expected, "{status}");
    }
    admin.get(&format!("{path}?status=active")).await.expect_invalid("status");
}

async fn what_is_found_is_walked_page_by_page(app: &App) {
    for n in 0..40 {
        app.org().new_member(&format!("Pat{n} {}", if n % 2 == 0 { "Even" } else { "Odd" })).await;
    }
    let member = app.member().logged_in().await;
    let whole = walked(&member, "/org/members?q=even", "members").await;
    assert_eq!(whole.len(), 20);
    for query in ["limit=1", "limit=7", "limit=20", "limit=21"] {
        assert_eq!(walked(&member, &format!("/org/members?q=even&{query}"), "members").await, whole, "{query}");
    }
    let exact = member.get("/org/members?q=even&limit=20").await.expect_ok();
    assert_eq!(exact["nextCursor"], Value::Null, "nothing is left to find");
}

async fn a_cursor_belongs_to_its_list_filter_and_order(app: &App) {
    let admin = app.admin().logged_in().await;
    for n in 0..3 {
        app.org().new_member(&format!("Pat{n}")).await;
        admin.invite(&format!("nora{n}@acme.example")).await.expect(201);
    }
    let data = admin.get("/org/members?q=pat&role=member&order=desc&limit=1").await.expect_ok();
    let cursor = data["nextCursor"].as_str().expect("it was cut");
    let own = format!("/org/members?q=pat&role=member&order=desc&cursor={cursor}");
    admin.get(&own).await.expect(200);
    admin.get(&format!("{own}&limit=2")).await.expect(200);
    for other in [
        "/org/members?q=pat&role=member",
        "/org/members?q=pat&order=desc",
        "/org/members?role=member&order=desc",
        "/org/members?q=pa&role=member&order=desc",
        "/org/members?q=pat&role=member&status=active&order=desc",
        "/org/invites?order=desc",
        "/org/invites?search=pat&order=desc",
        "/org/members?",
    ] {
        admin.get(&format!("{other}&cursor={cursor}")).await.expect_invalid("cursor");
    }
    let (greta, backend) = (app.other_org().admin().logged_in().await, app.backend());
    greta.get(&own).await.expect_invalid("cursor");
    backend.get(&own.replace("/org/", "/public/")).await.expect_invalid("cursor");
}

async fn a_bad_parameter_is_400_and_named(app: &App) {
    let (admin, backend) = (app.admin().logged_in().await, app.backend());
    let long = "a".repeat(101);
    for (name, bad) in [
        ("order", ""),
        ("order", "ASC"),
        ("order", "random"),
        ("role", ""),
        ("role", "admin"),
        ("status", "gone"),
        ("status", "Active"),
        ("q", &long),
        ("q", "a%00"),
    ] {
        admin.get(&format!("/org/members?{name}={bad}")).await.expect_invalid(name);
        backend.get(&format!("/public/members?{name}={bad}")).await.expect_invalid(name);
    }
    for path in ["/org/invites", "/org/api-keys", "/org/webhooks", "/auth/sessions"] {
        admin.get(&format!("{path}?order=up")).await.expect_invalid("order");
    }
    admin.get(&format!("/org/members?q={}", "%C3%B6".repeat(100))).await.expect(200);
}

async fn a_parameter_given_twice_is_400(app: &App) {
    let (admin, backend) = (app.admin().logged_in().await, app.backend());
    for (name, value) in [("order", "asc"), ("q", "a"), ("q", ""), ("role", "member"), ("status", "active")] {
        admin.get(&format!("/org/members?{name}={value}&{name}={value}")).await.expect_invalid(name);
        backend.get(&format!("/public/members?{name}={value}&limit=1&{name}={value}")).await.expect_invalid(name);
    }
    admin.get("/org/invites?order=asc&order=desc").await.expect_invalid("order");
}

async fn other_lists_ignore_what_they_do_not_know(app: &App) {
    let (_beside, admin, _) = operator(app).await;
    admin.invite("nora@acme.example").await.expect(201);
    admin.create_key("Billing").await.expect(201);
    let hook = Hook::new(&admin, RECEIVER, &["webhook.*"]).await;
    hook.test(&admin).await;
    let sessions_of_member = format!("/org/members/{}/sessions", admin.id());
    let lists = [
        ("/org/invites", "invites"),
        ("/org/api-keys", "apiKeys"),
        ("/org/webhooks", "webhooks"),
        ("/auth/sessions", "sessions"),
        (&sessions_of_member, "sessions"),
        ("/admin/organizations", "organizations"),
    ];
    let foreign = ["q=nobody%00", "q=a&q=b", "role=org_admin", "role=x", "status=suspended", "status=y&status=z", "page=7"];
    for (path, key) in lists {
        let whole = walked(&admin, path, key).await;
        assert!(!whole.is_empty(), "{path}");
        for query in foreign {
            assert_eq!(walked(&admin, &format!("{path}?{query}&limit=1"), key).await, whole, "{path}?{query}");
        }
    }
    let (deliveries, members) = (format!("{}/deliveries", hook.path()), "/org/members".to_owned());
    for (path, key, query) in [
        (&deliveries, "deliveries", "q=nobody&role=x&search=nobody&state=y"),
        (&members, "members", "search=nobody%00&state=suspended"),
    ] {
        let whole = walked(&admin, path, key).await;
        assert!(!whole.is_empty(), "{path}");
        assert_eq!(walked(&admin, &format!("{path}?{query}"), key).await, whole, "{path}?{query}");
    }
}

/// As many members as make more than 1 MiB with the largest metadata there may be.
const HEAVY: usize = 70;
const MEBIBYTE: usize = 1 << 20;

async fn a_page_ends_before_its_body_passes_a_mebibyte(app: &App) {
    for n in 0..HEAVY {
        app.org().new_member(&format!("Pat{n}")).await;
    }
    // The statement spares seventy requests; what it stores is what they would store.
    let heavy = json!({ "note": "x".repeat(16 * 1024 - 11) }).to_string();
    assert_eq!(heavy.len(), 16 * 1024);
    run_sql(app, &format!("UPDATE tenant_auth_memberships SET metadata = '{heavy}'")).await;
    let member = app.member().logged_in().await;
    for (caller, path) in
        [(&member, "/org/members"), (&app.backend(), "/public/members"), (&member, "/org/members?q=pat&order=desc")]
    {
        let first = caller.get(path).await.expect(200);
        assert!((MEBIBYTE - 20_000..=MEBIBYTE).contains(&first.body.len()), "{path}: {} bytes", first.body.len());
        assert!(first.data()["nextCursor"].is_string(), "{path} was cut");
        let whole = walked(caller, path, "members").await;
        let mut ids: Vec<&str> = whole.iter().map(|entry| entry["userId"].as_str().expect("an id")).collect();
        ids.sort_unstable();
        ids.dedup();
        let expected = if path.contains("q=") { HEAVY } else { HEAVY + 2 };
        assert_eq!((ids.len(), whole.len()), (expected, expected), "{path}: each member once");
    }
}
