//! Lists as long as they get: without parameters up to a thousand entries. Told once per database, for it takes a while.

use tenant_auth_conformance::{App, scenarios};

scenarios![on each database:
    without_parameters_a_list_returns_up_to_a_thousand,
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
