//! Lists: in the order of time, cut where asked, and continued without a gap or a repetition.

use serde_json::{Value, json};
use tenant_auth_conformance::{App, Caller, scenarios};

use crate::suite::support::hooks::{Hook, RECEIVER};

scenarios![
    members_are_walked_page_by_page,
    invites_are_walked_page_by_page,
    api_keys_are_walked_page_by_page,
    webhooks_are_walked_page_by_page,
    deliveries_are_walked_page_by_page,
    public_members_are_walked_page_by_page,
    a_list_that_was_not_cut_has_no_next_cursor,
    equal_times_are_ordered_by_id,
    a_page_survives_the_removal_of_its_last_entry,
    a_bad_limit_is_400,
    a_bad_cursor_is_400,
    a_cursor_of_one_organization_shows_nothing_of_another,
];

/// All items of a list, fetched `limit` at a time; each page but the last is full.
async fn walked(caller: &Caller, path: &str, name: &str, limit: usize) -> Vec<Value> {
    let mut items = Vec::new();
    let mut query = format!("?limit={limit}");
    loop {
        let data = caller.get(&format!("{path}{query}")).await.expect_ok();
        let page = data[name].as_array().expect("a list").clone();
        assert!(page.len() <= limit);
        items.extend(page.iter().cloned());
        match data["nextCursor"].as_str() {
            Some(cursor) => {
                assert_eq!(page.len(), limit, "a list that was cut is full");
                query = format!("?limit={limit}&cursor={cursor}");
            }
            None => return items,
        }
    }
}

/// Walks with every limit and finds what one request shows.
pub(crate) async fn expect_walkable(caller: &Caller, path: &str, name: &str, count: usize) {
    let whole = caller.get(path).await.expect_ok()[name].as_array().expect("a list").clone();
    assert_eq!(whole.len(), count);
    for limit in [1, 2, 3, count, count + 1, 1_000] {
        assert_eq!(walked(caller, path, name, limit).await, whole, "limit {limit}");
    }
}

async fn members_are_walked_page_by_page(app: &App) {
    for n in 0..5 {
        app.advance(u64::from(n % 2 == 0));
        app.org().new_member(&format!("Pat{n}")).await;
    }
    let member = app.member().logged_in().await;
    expect_walkable(&member, "/org/members", "members", 7).await;
    let joined: Vec<String> = member.members().await.iter().map(|entry| entry["joinedAt"].to_string()).collect();
    assert!(joined.is_sorted(), "{joined:?}");
}

async fn invites_are_walked_page_by_page(app: &App) {
    let admin = app.admin().logged_in().await;
    for n in 0..7 {
        app.advance(u64::from(n % 3 == 0));
        admin.invite(&format!("pat{n}@acme.example")).await.expect(201);
    }
    expect_walkable(&admin, "/org/invites", "invites", 7).await;
    let expiries: Vec<String> = admin.pending_invites().await.iter().map(|invite| invite["expiresAt"].to_string()).collect();
    assert!(expiries.is_sorted(), "{expiries:?}");
}

async fn api_keys_are_walked_page_by_page(app: &App) {
    let admin = app.admin().logged_in().await;
    for n in 0..6 {
        app.advance(u64::from(n % 3 == 0));
        admin.create_key(&format!("Key {n}")).await.expect(201);
    }
    expect_walkable(&admin, "/org/api-keys", "apiKeys", 7).await;
}

async fn webhooks_are_walked_page_by_page(app: &App) {
    let admin = app.admin().logged_in().await;
    for n in 0..7 {
        app.advance(u64::from(n % 3 == 0));
        Hook::new(&admin, RECEIVER, &["*"]).await;
    }
    expect_walkable(&admin, "/org/webhooks", "webhooks", 7).await;
}

async fn deliveries_are_walked_page_by_page(app: &App) {
    let admin = app.admin().logged_in().await;
    let hooks = [Hook::new(&admin, RECEIVER, &["*"]).await, Hook::new(&admin, RECEIVER, &["*"]).await];
    for n in 0..7 {
        app.advance(u64::from(n % 3 == 0));
        hooks[0].test(&admin).await;
        hooks[1].test(&admin).await;
    }
    expect_walkable(&admin, &format!("{}/deliveries", hooks[0].path()), "deliveries", 7).await;
    admin.get(&format!("{}/deliveries?limit=0", hooks[0].path())).await.expect_invalid("limit");
    admin.get(&format!("{}/deliveries?cursor=x", hooks[0].path())).await.expect_invalid("cursor");
}

async fn public_members_are_walked_page_by_page(app: &App) {
    for n in 0..5 {
        app.org().new_member(&format!("Pat{n}")).await;
    }
    expect_walkable(&app.backend(), "/public/members", "members", 7).await;
}

async fn a_list_that_was_not_cut_has_no_next_cursor(app: &App) {
    let admin = app.admin().logged_in().await;
    for path in ["/org/members", "/org/members?limit=2", "/org/members?limit=1000", "/org/invites", "/org/api-keys?limit=1"] {
        let data = admin.get(path).await.expect_ok();
        assert_eq!(data.get("nextCursor").unwrap_or(&Value::Null), &Value::Null, "{path}");
    }
    assert!(admin.get("/org/members?limit=1").await.expect_ok()["nextCursor"].is_string());
}

async fn equal_times_are_ordered_by_id(app: &App) {
    for n in 0..6 {
        app.org().new_member(&format!("Pat{n}")).await;
    }
    let member = app.member().logged_in().await;
    let once: Vec<Value> = member.members().await;
    let again = walked(&member, "/org/members", "members", 3).await;
    assert_eq!(once, again);
    assert_eq!(once, member.members().await, "the order does not change");
}

async fn a_page_survives_the_removal_of_its_last_entry(app: &App) {
    for n in 0..5 {
        app.advance(1);
        app.org().new_member(&format!("Pat{n}")).await;
    }
    let admin = app.admin().logged_in().await;
    let whole = admin.members().await;
    let first = admin.get("/org/members?limit=4").await.expect_ok();
    let cursor = first["nextCursor"].as_str().expect("a cursor");
    let last = first["members"][3]["userId"].as_str().expect("an id");
    admin.remove(last).await.expect(200);
    let rest = admin.get(&format!("/org/members?limit=4&cursor={cursor}")).await.expect_ok();
    assert_eq!(rest["members"], json!(whole[4..]));
}

const LISTS: [&str; 3] = ["/org/members", "/org/invites", "/org/api-keys"];

async fn a_bad_limit_is_400(app: &App) {
    let admin = app.admin().logged_in().await;
    for path in LISTS {
        for bad in [
            "0",
            "1001",
            "-1",
            "x",
            "",
            "1.5",
            "1e2",
            "99999999999999999999",
            "%31%00",
            "+5",
            "%2B5",
            "-0",
            "%2D5",
            "0x10",
            "%D9%A1",
            "%205",
        ] {
            admin.get(&format!("{path}?limit={bad}")).await.expect_invalid("limit");
        }
        admin.get(&format!("{path}?limit=1&limit=2")).await.expect_invalid("limit");
        admin.get(&format!("{path}?limit=1000")).await.expect(200);
        admin.get(&format!("{path}?limit=%31")).await.expect(200);
    }
    app.backend().get("/public/members?limit=0").await.expect_invalid("limit");
}

async fn a_bad_cursor_is_400(app: &App) {
    let admin = app.admin().logged_in().await;
    for path in LISTS {
        for bad in ["x", "%00", "🦀", "AAAA", "..%2F..", &"A".repeat(5_000), "' OR 1=1 --", "%FF"] {
            let bad = bad.replace(' ', "%20").replace('🦀', "%F0%9F%A6%80").replace('\'', "%27");
            admin.get(&format!("{path}?cursor={bad}")).await.expect_invalid("cursor");
        }
    }
    app.backend().get("/public/members?cursor=x").await.expect_invalid("cursor");
}

async fn a_cursor_of_one_organization_shows_nothing_of_another(app: &App) {
    let (admin, greta) = (app.admin().logged_in().await, app.other_org().admin().logged_in().await);
    let here = admin.get("/org/members?limit=1").await.expect_ok();
    let cursor = here["nextCursor"].as_str().expect("a cursor");
    let there = greta.get(&format!("/org/members?limit=5&cursor={cursor}")).await;
    if there.status == 200 {
        let own = greta.members().await;
        let shown = there.data()["members"].as_array().expect("a list").clone();
        assert!(shown.iter().all(|entry| own.contains(entry)), "{shown:?}");
    } else {
        there.expect_invalid("cursor");
    }
}
