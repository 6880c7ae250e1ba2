//! Lists as long as they get: without parameters up to a thousand entries, and no page of more than a mebibyte. Told once per
//! database, for it takes a while.

use std::time::{Duration, Instant};

use serde_json::Value;
use tenant_auth_conformance::{App, scenarios};

use crate::suite::support::hooks::run_sql;

scenarios![on each database:
    without_parameters_a_list_returns_up_to_a_thousand,
    a_thousand_heavy_members_come_in_pages_of_a_mebibyte,
    ten_thousand_members_are_searched_at_once,
];

async fn without_parameters_a_list_returns_up_to_a_thousand(app: &App) {
    for n in 0..1_000 {
        app.org().new_member(&format!("Pat{n}")).await;
    }
    let member = app.member().logged_in().await;
    let data = member.get("/org/members").await.expect_ok();
    assert_eq!(data["members"].as_array().map(Vec::len), Some(1_000));
    let cursor = data["nextCursor"].as_str().expect("it was cut");
    let rest = member.get(&format!("/org/members?cursor={cursor}")).await.expect_ok();
    assert_eq!(rest["members"].as_array().map(Vec::len), Some(2));
    assert!(rest["nextCursor"].is_null());
}

/// How the bodies of their ids begin.
const ID: &str = "01kaz3vrm0f3k8m2p5q";

/// Adds people to `acme` by a statement, for requests take minutes; `Pat 1`, `Pat 2` …, with this metadata.
async fn add_members(app: &App, count: u32, metadata: &str) {
    let numbers = format!("WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {count})");
    run_sql(
        app,
        &format!(
            "INSERT INTO tenant_auth_users (id, email, email_key, name, role, is_email_verified, password_hash, epoch, created_at)
             {numbers}
             SELECT 'usr_{ID}' || CAST(1000000 + i AS TEXT), 'pat' || CAST(i AS TEXT) || '@acme.example',
                    'pat' || CAST(i AS TEXT) || '@acme.example', 'Pat ' || CAST(i AS TEXT), 'user', FALSE, 'none', 1, i
               FROM n"
        ),
    )
    .await;
    run_sql(
        app,
        &format!(
            "INSERT INTO tenant_auth_memberships (org_id, user_id, id, role, status, metadata, joined_at)
             {numbers}
             SELECT (SELECT id FROM tenant_auth_organizations WHERE slug = 'acme'), 'usr_{ID}' || CAST(1000000 + i AS TEXT),
                    'mem_{ID}' || CAST(1000000 + i AS TEXT), 'member', 'active', '{metadata}', i
               FROM n"
        ),
    )
    .await;
}

async fn a_thousand_heavy_members_come_in_pages_of_a_mebibyte(app: &App) {
    let metadata = serde_json::json!({ "note": "x".repeat(16 * 1024 - 11) }).to_string();
    add_members(app, 1_000, &metadata).await;
    let backend = app.backend();
    let (mut seen, mut next) = (Vec::new(), "/public/members".to_owned());
    loop {
        let page = backend.get(&next).await.expect(200);
        assert!(page.body.len() <= 1 << 20, "{} bytes", page.body.len());
        let data = page.data();
        seen.extend(data["members"].as_array().expect("a list").iter().map(|entry| entry["userId"].to_string()));
        let Some(cursor) = data["nextCursor"].as_str() else { break };
        next = format!("/public/members?cursor={cursor}");
    }
    let count = seen.len();
    seen.sort();
    seen.dedup();
    assert_eq!((seen.len(), count), (1_002, 1_002), "each member once");
}

async fn ten_thousand_members_are_searched_at_once(app: &App) {
    add_members(app, 10_000, "{}").await;
    let backend = app.backend();
    for (query, found) in [("q=nobody", 0), ("q=pat%2010000", 1), ("q=PAT%2099", 111), ("q=acme.example&limit=1000", 1_000)] {
        let began = Instant::now();
        let data = backend.get(&format!("/public/members?{query}")).await.expect_ok();
        let took = began.elapsed();
        println!("{query}: {} ms", took.as_millis());
        assert_eq!(data["members"].as_array().map(Vec::len), Some(found), "{query}");
        assert!(took < Duration::from_secs(15), "{query}: {took:?}");
        assert_eq!(data["nextCursor"] == Value::Null, found < 1_000);
    }
}
