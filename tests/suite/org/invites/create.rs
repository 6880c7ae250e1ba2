//! Inviting: POST /org/members/invite and the list of what is pending. What becomes of an invite is told by other suites.

use serde_json::json;
use tenant_auth_conformance::{App, scenarios, shape};

use crate::suite::{org::by_key::product, support::hooks::run_sql};

scenarios![
    an_admin_invites_an_address,
    only_an_admin_invites,
    a_member_cannot_be_invited,
    a_pending_invite_cannot_be_doubled,
    an_address_is_required_and_must_be_one,
    the_list_shows_pending_invites,
    only_an_admin_sees_the_list,
    an_expired_invite_leaves_the_list_and_the_address_is_free_again,
    an_address_invited_again_takes_nothing_over_from_the_invite_that_expired,
    an_invite_is_valid_for_seven_days,
    an_operators_invite_is_listed_without_an_inviter,
    pending_invites_are_found_by_a_part_of_the_address,
];

const WEEK: u64 = 7 * 24 * 60 * 60;

async fn an_admin_invites_an_address(app: &App) {
    let admin = app.admin().logged_in().await;
    let data = admin.invite("Nora@Acme.example").await.expect(201).data();
    let invite = &data["invite"];
    assert_eq!(shape(invite), ["email", "expiresAt", "id", "role"]);
    assert!(invite["id"].as_str().is_some_and(|id| id.starts_with("inv_")));
    assert_eq!(
        (&invite["email"], &invite["role"]),
        (&"Nora@Acme.example".into(), &"member".into()),
        "shown as typed; member is the default"
    );
    assert_eq!(invite["expiresAt"], "2026-11-27T08:21:00.000Z");
    let data = admin.invite_as("olga@acme.example", "org_admin").await.expect(201).data();
    assert_eq!(data["invite"]["role"], "org_admin");
}

async fn only_an_admin_invites(app: &App) {
    let member = app.member().logged_in().await;
    member.invite("nora@acme.example").await.expect_error(403, "admin_required");
    app.anonymous().invite("nora@acme.example").await.expect_no_session();
    assert!(app.admin().logged_in().await.pending_invites().await.is_empty());
}

async fn a_member_cannot_be_invited(app: &App) {
    let admin = app.admin().logged_in().await;
    for email in ["max@acme.example", " MAX@acme.EXAMPLE ", "ada@acme.example"] {
        admin.invite(email).await.expect(409);
    }
    admin.set_status(app.member().id(), "suspended").await.expect(200);
    admin.invite("max@acme.example").await.expect(409);
    admin.invite(app.other_org().member().email()).await.expect(201);
}

async fn a_pending_invite_cannot_be_doubled(app: &App) {
    let admin = app.admin().logged_in().await;
    admin.invite("nora@acme.example").await.expect(201);
    admin.invite("nora@acme.example").await.expect(409);
    admin.invite_as("NORA@ACME.example", "org_admin").await.expect(409);
    assert_eq!(admin.pending_invites().await.len(), 1);
    app.other_org().admin().logged_in().await.invite("nora@acme.example").await.expect(201);
}

async fn an_address_is_required_and_must_be_one(app: &App) {
    let admin = app.admin().logged_in().await;
    let invite = |body| admin.post("/org/members/invite", body);
    invite(json!({})).await.expect_invalid("email");
    let long = format!("{}@example.com", "a".repeat(65));
    let longer = format!("a@{}.com", "b.".repeat(130));
    for bad in [
        "",
        "nora",
        "@acme.example",
        "nora@",
        "no ra@acme.example",
        "nora@acme..example",
        "nora\0@acme.example",
        "ñora@acme.example",
        "a@b@c.de",
        &long,
        &longer,
    ] {
        invite(json!({ "email": bad })).await.expect_invalid("email");
    }
    for bad in [json!(null), json!(1), json!(["nora@acme.example"])] {
        invite(json!({ "email": bad })).await.expect_invalid("email");
    }
    for bad in [json!("admin"), json!("Member"), json!("")] {
        invite(json!({ "email": "nora@acme.example", "role": bad })).await.expect_invalid("role");
    }
    assert!(admin.pending_invites().await.is_empty());
    for (typed, stored) in
        [("nora@münchen.example", "nora@xn--mnchen-3ya.example"), ("  ｏｌｇａ@Acme.example ", "olga@Acme.example")]
    {
        let data = invite(json!({ "email": typed })).await.expect(201).data();
        assert_eq!(data["invite"]["email"], stored);
    }
    let of_length = |bytes: usize| format!("{}@{}.example", "a".repeat(60), domain(bytes - 60 - 1 - ".example".len()));
    invite(json!({ "email": of_length(255) })).await.expect_invalid("email");
    invite(json!({ "email": of_length(254) })).await.expect(201);
}

/// Labels of at most 50 characters, `bytes` long in all.
fn domain(bytes: usize) -> String {
    (0..bytes).map(|place| if place % 51 == 50 { '.' } else { 'd' }).collect()
}

async fn the_list_shows_pending_invites(app: &App) {
    let admin = app.admin().logged_in().await;
    assert!(admin.pending_invites().await.is_empty());
    let created = admin.invite("nora@acme.example").await.expect(201).data()["invite"].clone();
    app.advance(1);
    admin.invite_as("olga@acme.example", "org_admin").await.expect(201);
    let invites = admin.pending_invites().await;
    assert_eq!(invites.len(), 2);
    assert_eq!(shape(&invites[0]), ["email", "expiresAt", "id", "invitedBy", "mail", "role"]);
    assert_eq!((&invites[0]["id"], &invites[0]["expiresAt"]), (&created["id"], &created["expiresAt"]));
    assert_eq!((&invites[0]["email"], &invites[0]["invitedBy"]), (&"nora@acme.example".into(), &admin.email().into()));
    assert_eq!((&invites[1]["email"], &invites[1]["role"]), (&"olga@acme.example".into(), &"org_admin".into()));
    let token = app.link_token_of("nora@acme.example").await;
    app.anonymous().accept(&token, "Nora").await.expect(200);
    assert_eq!(admin.pending_invites().await.len(), 1, "an accepted one is not pending");
}

async fn only_an_admin_sees_the_list(app: &App) {
    app.member().logged_in().await.get("/org/invites").await.expect_error(403, "admin_required");
    app.anonymous().get("/org/invites").await.expect_no_session();
}

async fn an_expired_invite_leaves_the_list_and_the_address_is_free_again(app: &App) {
    let admin = app.admin().logged_in().await;
    let old = app.invited(&admin, "nora@acme.example").await;
    app.advance(WEEK);
    let admin = app.admin().logged_in().await;
    assert!(admin.pending_invites().await.is_empty());
    let new = app.invited(&admin, "nora@acme.example").await;
    app.anonymous().accept(&old, "Nora").await.expect(400);
    app.anonymous().accept(&new, "Nora").await.expect(200);
}

/// Neither the metadata that an import gave it, nor the deployment key with which it would end.
async fn an_address_invited_again_takes_nothing_over_from_the_invite_that_expired(app: &App) {
    let (key, product) = product(app).await;
    for email in ["nora@acme.example", "olga@acme.example"] {
        app.invited(&product, email).await;
    }
    run_sql(app, r#"UPDATE tenant_auth_invites SET metadata = '{"team":"rockets"}' WHERE email_key = 'nora@acme.example'"#).await;
    app.advance(WEEK);
    let admin = app.admin().logged_in().await;
    let (noras, olgas) = (app.invited(&admin, "nora@acme.example").await, app.invited(&admin, "olga@acme.example").await);
    let data = app.anonymous().accept(&noras, "Nora").await.expect_ok();
    assert_eq!(data["membership"]["metadata"], json!({}));
    app.auth.operator().revoke_deployment_key(&key).await.expect("it lives");
    app.anonymous().accept(&olgas, "Olga").await.expect(200);
}

async fn an_invite_is_valid_for_seven_days(app: &App) {
    let admin = app.admin().logged_in().await;
    let (early, late) = (app.invited(&admin, "nora@acme.example").await, app.invited(&admin, "olga@acme.example").await);
    app.clock.advance(std::time::Duration::from_millis(WEEK * 1_000 - 1));
    app.anonymous().accept(&early, "Nora").await.expect(200);
    app.clock.advance(std::time::Duration::from_millis(1));
    app.anonymous().preview(&late).await.expect(400);
    app.anonymous().accept(&late, "Olga").await.expect(400);
}

async fn an_operators_invite_is_listed_without_an_inviter(app: &App) {
    let (slug, email) = ("acme".parse().expect("a slug"), "nora@acme.example".parse().expect("an address"));
    let invited = app.auth.operator().invite_admin(&slug, &email).await.expect("the address is new");
    let pending = app.admin().logged_in().await.pending_invites().await;
    assert_eq!(shape(&pending[0]), ["email", "expiresAt", "id", "invitedBy", "mail", "role"]);
    assert_eq!((&pending[0]["invitedBy"], &pending[0]["role"]), (&serde_json::Value::Null, &"org_admin".into()));
    assert_eq!(app.link_token_of("nora@acme.example").await, invited.token.expose(), "mailed as well as shown");
    let data = app.anonymous().accept(invited.token.expose(), "Nora").await.expect_ok();
    assert_eq!(data["membership"]["role"], "org_admin");
}

async fn pending_invites_are_found_by_a_part_of_the_address(app: &App) {
    let admin = app.admin().logged_in().await;
    for name in ["nora@one.example", "otto@two.example", "noah@two.example"] {
        admin.invite(name).await.expect(201);
        app.advance(1);
    }
    let found = async |query: &str| {
        let data = admin.get(&format!("/org/invites?{query}")).await.expect_ok();
        let invites = data["invites"].as_array().expect("a list").iter();
        (invites.map(|one| one["email"].as_str().expect("an address").to_owned()).collect::<Vec<_>>(), data["nextCursor"].clone())
    };
    assert_eq!(found("search=TWO").await.0, ["otto@two.example", "noah@two.example"]);
    assert_eq!(found("search=two&order=desc&limit=1").await.0, ["noah@two.example"]);
    assert_eq!(found("search=no%25").await.0, [""; 0]);
    let (first, next) = found("search=no&limit=1").await;
    assert_eq!(first, ["nora@one.example"]);
    let next = next.as_str().expect("more");
    assert_eq!(found(&format!("search=no&limit=1&cursor={next}")).await.0, ["noah@two.example"]);
}
