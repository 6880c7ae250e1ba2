//! What an organization that sign-up made may do before an operator trusts it (behaviour.md, B201).

use serde_json::{Value, json};
use tenant_auth_conformance::{App, Caller, PASSWORD, id_of, scenarios};
use tenant_auth_core::{audit::AuditRange, model::DeploymentScope};

use super::founded;
use crate::suite::{
    admin::operators::operator,
    public::deployment_keys::{made, new_key},
};

scenarios![
    a_newcomer_sends_ten_invitation_mails_a_day,
    a_newcomer_mails_five_new_addresses_a_day,
    a_newcomers_invitations_hold_no_link_of_its_own,
    an_operators_word_ends_the_limit,
    a_deployment_keys_word_ends_the_limit,
    an_operator_may_take_trust_back,
    what_others_made_is_trusted,
    trust_is_told_in_the_deployments_log,
];

const ROCKETS: &str = "/admin/organizations/rockets";

async fn ten_invites(rita: &Caller) {
    for n in 0..10 {
        rita.invite(&format!("pat{n}@rockets.example")).await.expect(201);
    }
    rita.invite("one-too-many@rockets.example").await.expect_error(429, "rate_limited");
}

fn trusted(answer: &Value) -> &Value {
    &answer["org"]["trusted"]
}

async fn a_newcomer_sends_ten_invitation_mails_a_day(app: &App) {
    let rita = founded(app, "rita@rockets.example", "rockets").await;
    for n in 0..9 {
        rita.invite(&format!("pat{n}@rockets.example")).await.expect(201);
    }
    let resend = format!("/org/invites/{}/resend", id_of(&rita.pending_invites().await[0]));
    rita.post_nothing(&resend).await.expect(200);
    let refused = rita.invite("one-too-many@rockets.example").await.expect_error(429, "rate_limited");
    assert_eq!(refused.header("retry-after"), Some("86400"));
    rita.post_nothing(&resend).await.expect_error(429, "rate_limited");
    let many = json!({ "invites": [{ "email": "one-too-many@rockets.example" }] });
    let told = rita.post("/org/members/invite/bulk", many).await.expect_ok();
    assert_eq!(told["results"][0]["code"], "rate_limited", "{told}");
    let product = app.anonymous().at_org("rockets").backend_with(&made(app, new_key(&[DeploymentScope::Admin])).await.1);
    product.invite("one-too-many@rockets.example").await.expect_error(429, "rate_limited");
    assert_eq!(rita.pending_invites().await.len(), 9, "what was refused came to nothing");
    let (slug, chief) = ("rockets".parse().expect("a slug"), "chief@rockets.example".parse().expect("an address"));
    app.auth.operator().invite_admin(&slug, &chief).await.expect("the operator is not limited");
    // Another has a count of its own.
    founded(app, "rolf@boats.example", "boats").await.invite("pat@boats.example").await.expect(201);
    app.advance(24 * 3_600);
    rita.refresh().await.expect(200);
    rita.invite("one-too-many@rockets.example").await.expect(201);
}

async fn a_newcomer_mails_five_new_addresses_a_day(app: &App) {
    let rita = founded(app, "rita@rockets.example", "rockets").await;
    let wish = |caller: &Caller, n: usize| {
        let body = json!({ "newEmail": format!("stranger{n}@elsewhere.example"), "password": PASSWORD });
        caller.post("/auth/change-email", body)
    };
    for n in 0..5 {
        wish(&rita, n).await.expect(200);
    }
    app.advance(3_600);
    rita.refresh().await.expect(200);
    wish(&rita, 5).await.expect_error(429, "rate_limited");
    assert!(app.mail_to("stranger5@elsewhere.example").await.is_empty());
    app.advance(23 * 3_600);
    rita.refresh().await.expect(200);
    wish(&rita, 5).await.expect(200);
    let member = app.member().logged_in().await;
    for hour in 0..2 {
        for n in 0..5 {
            wish(&member, 10 * (hour + 1) + n).await.expect(200);
        }
        app.advance(3_600);
        member.refresh().await.expect(200);
    }
}

/// Whoever signs up has the deployment mail strangers, and must not choose what that mail links to (behaviour.md, B200).
async fn a_newcomers_invitations_hold_no_link_of_its_own(app: &App) {
    let rita = founded(app, "rita@rockets.example", "rockets").await;
    rita.patch("/org", json!({ "appUrl": "https://prize.example/now" })).await.expect(200);
    let (_, key) = made(app, new_key(&[DeploymentScope::Organizations])).await;
    let product = app.anonymous().without_slug().with("X-API-Key", &key);
    for (invited, is_trusted) in [("pat@elsewhere.example", false), ("paul@elsewhere.example", true)] {
        product.patch(ROCKETS, json!({ "trusted": is_trusted })).await.expect(200);
        rita.invite(invited).await.expect(201);
        let mails = app.mail_to(invited).await;
        for part in [&mails[0].text, &mails[0].html] {
            assert_eq!(part.replace("&#x2f;", "/").contains("https://prize.example/now"), is_trusted, "{part}");
        }
        let shown = mails[0].values.contains_key("app_url");
        assert_eq!(shown, is_trusted, "a host's own mailer is told no more");
    }
}

async fn an_operators_word_ends_the_limit(app: &App) {
    let (app, ada, _) = operator(app).await;
    let rita = founded(&app, "rita@rockets.example", "rockets").await;
    ten_invites(&rita).await;
    let shown = ada.get(ROCKETS).await.expect_ok();
    assert_eq!(trusted(&shown), &json!(false));
    assert_eq!(
        (&shown["createdBy"]["type"], &shown["createdBy"]["id"]),
        (&json!("user"), &rita.get("/auth/profile").await.expect_ok()["user"]["id"])
    );
    ada.patch(ROCKETS, json!({ "trusted": "yes" })).await.expect_invalid("trusted");
    rita.patch(ROCKETS, json!({ "trusted": true })).await.expect(403);
    assert_eq!(trusted(&ada.patch(ROCKETS, json!({ "trusted": true })).await.expect_ok()), &json!(true));
    rita.invite("one-too-many@rockets.example").await.expect(201);
}

async fn a_deployment_keys_word_ends_the_limit(app: &App) {
    let rita = founded(app, "rita@rockets.example", "rockets").await;
    ten_invites(&rita).await;
    let (_, key) = made(app, new_key(&[DeploymentScope::Organizations])).await;
    let product = app.anonymous().without_slug().with("X-API-Key", &key);
    assert_eq!(trusted(&product.patch(ROCKETS, json!({ "trusted": true })).await.expect_ok()), &json!(true));
    rita.invite("one-too-many@rockets.example").await.expect(201);
    // Other changes leave it as it is.
    assert_eq!(trusted(&product.patch(ROCKETS, json!({ "plan": "pro" })).await.expect_ok()), &json!(true));
    rita.patch("/org", json!({ "name": "Rockets and more" })).await.expect(200);
    assert_eq!(trusted(&product.get(ROCKETS).await.expect_ok()), &json!(true));
}

async fn an_operator_may_take_trust_back(app: &App) {
    let (app, ada, _) = operator(app).await;
    let admin = app.other_org().admin().logged_in().await;
    assert_eq!(trusted(&ada.patch("/admin/organizations/globex", json!({ "trusted": false })).await.expect_ok()), &json!(false));
    for n in 0..10 {
        admin.invite(&format!("pat{n}@globex.example")).await.expect(201);
    }
    admin.invite("one-too-many@globex.example").await.expect_error(429, "rate_limited");
}

async fn what_others_made_is_trusted(app: &App) {
    let (_app, ada, _) = operator(app).await;
    let new = json!({ "name": "Newcomers", "slug": "newcomers", "adminEmail": "nora@new.example" });
    assert_eq!(trusted(&ada.post("/admin/organizations", new).await.expect(201).data()), &json!(true));
    assert_eq!(trusted(&ada.get("/admin/organizations/acme").await.expect_ok()), &json!(true));
}

async fn trust_is_told_in_the_deployments_log(app: &App) {
    let (app, ada, _) = operator(app).await;
    founded(&app, "rita@rockets.example", "rockets").await;
    for _ in 0..2 {
        ada.patch(ROCKETS, json!({ "trusted": true })).await.expect(200);
    }
    let mut file = Vec::new();
    let export = app.auth.operator().export_deployment_audit(AuditRange::default()).await.expect("it begins");
    export.write(&mut file).await.expect("written");
    let file = String::from_utf8(file).expect("text");
    let told = file.lines().map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
    let told: Vec<Value> = told.filter(|line| line["facts"]["type"] == "org.trust_changed").collect();
    assert_eq!(told.len(), 1, "what changes nothing is not told: {told:#?}");
    assert_eq!((&told[0]["facts"]["actor"]["id"], &told[0]["data"]["part"]["trusted"]), (&json!(ada.id()), &json!(true)));
}
