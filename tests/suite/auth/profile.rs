//! GET and PUT /auth/profile: what somebody says of themselves.

use serde_json::{Value, json};
use tenant_auth_conformance::{App, Caller, scenarios, shape};

scenarios![
    a_profile_is_shown_to_its_owner,
    a_profile_tells_the_membership_one_acts_by,
    an_update_replaces_the_whole_profile,
    a_name_has_one_to_a_hundred_code_points,
    a_name_cannot_hide_its_direction_or_hold_control_characters,
    bio_and_phone_have_limits,
    the_update_is_seen_everywhere,
    nothing_else_can_be_changed_through_a_profile,
    a_session_is_needed,
];

async fn profile(caller: &Caller) -> Value {
    caller.get("/auth/profile").await.expect_ok()["user"].clone()
}

async fn a_profile_is_shown_to_its_owner(app: &App) {
    let member = app.member().logged_in().await;
    let user = profile(&member).await;
    assert_eq!(shape(&user), ["email", "id", "isEmailVerified", "name", "profile", "role"]);
    assert_eq!(user["id"], member.id());
    assert_eq!((&user["email"], &user["name"], &user["role"]), (&member.email().into(), &"Max Member".into(), &"user".into()));
    assert_eq!(user["profile"], json!({}), "bio and phone are left out when absent");
}

async fn a_profile_tells_the_membership_one_acts_by(app: &App) {
    let (admin, member) = (app.admin().logged_in().await, app.member().logged_in().await);
    let membership = async |caller: &Caller| caller.get("/auth/profile").await.expect_ok()["membership"].clone();
    let expected = json!({ "role": "member", "status": "active", "joinedAt": "2026-11-20T08:21:00.000Z", "metadata": {} });
    assert_eq!(membership(&member).await, expected);
    assert_eq!(membership(&admin).await["role"], "org_admin");
    admin.patch(&format!("/org/members/{}", member.id()), json!({ "metadata": { "team": "rockets" } })).await.expect(200);
    admin.set_role(member.id(), "org_admin").await.expect(200);
    let changed = membership(&member).await;
    assert_eq!((&changed["role"], &changed["metadata"]), (&"org_admin".into(), &json!({ "team": "rockets" })), "as it is now");
}

async fn an_update_replaces_the_whole_profile(app: &App) {
    let member = app.member().logged_in().await;
    let full = json!({ "name": "Max M.", "bio": "I fly.\nMostly.", "phone": "+49 30 1234" });
    let user = member.put("/auth/profile", full).await.expect_ok()["user"].clone();
    assert_eq!(shape(&user), ["email", "id", "name", "profile"]);
    assert_eq!(user["name"], "Max M.");
    assert_eq!(user["profile"], json!({ "bio": "I fly.\nMostly.", "phone": "+49 30 1234" }));
    assert_eq!(profile(&member).await["profile"], user["profile"]);
    let user = member.put("/auth/profile", json!({ "name": "Max", "phone": "0" })).await.expect_ok()["user"].clone();
    assert_eq!(user["profile"], json!({ "phone": "0" }), "the absent bio is removed");
    member.put("/auth/profile", json!({ "name": "Max", "bio": null, "phone": null })).await.expect(200);
    assert_eq!(profile(&member).await["profile"], json!({}));
}

async fn a_name_has_one_to_a_hundred_code_points(app: &App) {
    let member = app.member().logged_in().await;
    for name in ["é".repeat(100), "x".to_owned()] {
        member.put("/auth/profile", json!({ "name": name })).await.expect(200);
        assert_eq!(profile(&member).await["name"], name);
    }
    for name in [json!(""), json!("   "), json!("é".repeat(101)), json!(null), json!(1)] {
        member.put("/auth/profile", json!({ "name": name })).await.expect_invalid("name");
    }
    member.put("/auth/profile", json!({ "bio": "no name" })).await.expect_invalid("name");
    assert_eq!(profile(&member).await["name"], "x", "refusals changed nothing");
}

async fn a_name_cannot_hide_its_direction_or_hold_control_characters(app: &App) {
    let member = app.member().logged_in().await;
    for name in [
        "Max\u{202E}xaM",
        "Max\nMember",
        "Max\u{7}",
        "Max\0",
        "\u{2066}Max",
        "Max\u{9f}",
        "Ma\u{200B}x",
        "\u{FEFF}Max",
        "Ma\u{AD}x",
        "\u{3164}",
        "\u{200D}",
    ] {
        member.put("/auth/profile", json!({ "name": name })).await.expect_invalid("name");
    }
    member.put("/auth/profile", json!({ "name": "<b>Ünïcødé 🦀 & \"quotes\"</b>" })).await.expect(200);
    assert_eq!(profile(&member).await["name"], "<b>Ünïcødé 🦀 & \"quotes\"</b>", "shown as typed");
}

async fn bio_and_phone_have_limits(app: &App) {
    let member = app.member().logged_in().await;
    let put = |field: &str, text: String| member.put("/auth/profile", json!({ "name": "Max", field: text }));
    put("bio", "ß".repeat(1_000)).await.expect(200);
    put("bio", "ß".repeat(1_001)).await.expect_invalid("bio");
    put("phone", "1".repeat(32)).await.expect(200);
    put("phone", "1".repeat(33)).await.expect_invalid("phone");
    put("bio", "a\0b".to_owned()).await.expect_invalid("bio");
    put("phone", "\0".to_owned()).await.expect_invalid("phone");
    member.put("/auth/profile", json!({ "name": "Max", "bio": 5 })).await.expect_invalid("bio");
    member.put("/auth/profile", json!({ "name": "Max", "phone": {} })).await.expect_invalid("phone");
}

async fn the_update_is_seen_everywhere(app: &App) {
    let (admin, member) = (app.admin().logged_in().await, app.member().logged_in().await);
    member.put("/auth/profile", json!({ "name": "Maxime" })).await.expect(200);
    assert_eq!(admin.member_entry(member.id()).await.expect("a member")["name"], "Maxime");
    assert_eq!(app.member().login().await.expect_ok()["user"]["name"], "Maxime");
}

async fn nothing_else_can_be_changed_through_a_profile(app: &App) {
    let member = app.member().logged_in().await;
    let greedy = json!({
        "name": "Max", "email": "root@acme.example", "role": "admin", "isEmailVerified": true, "id": "usr_00000000000000000000000000",
        "profile": { "bio": "nested" },
    });
    member.put("/auth/profile", greedy).await.expect(200);
    let user = profile(&member).await;
    let expected = json!({ "id": member.id(), "name": "Max", "email": member.email(), "role": "user", "isEmailVerified": true, "profile": {} });
    assert_eq!(user, expected);
}

async fn a_session_is_needed(app: &App) {
    app.anonymous().get("/auth/profile").await.expect_no_session();
    app.anonymous().put("/auth/profile", json!({ "name": "Max" })).await.expect_no_session();
}
