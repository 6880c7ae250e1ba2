//! How many invitation mails an organization may cause in a day: 200, resends included, the operator's own not (behaviour.md,
//! B90); and how many to one address by whoever signed up (B301).

use std::{sync::Arc, time::Duration};

use serde_json::{Value, json};
use tenant_auth_conformance::{App, id_of, scenarios};
use tenant_auth_core::{
    model::{DeploymentScope, Role},
    ports::{Clock, MockClock},
};

use crate::suite::{
    auth::sign_up::founded,
    public::deployment_keys::{made, new_key},
    support::hooks::run_sql,
};

scenarios![on each database:
    two_hundred_invites_and_resends_a_day_are_the_limit,
    what_a_deployment_key_sends_again_is_counted_with_what_it_sends,
    organizations_that_sign_up_made_share_the_days_count_of_an_address,
];

async fn two_hundred_invites_and_resends_a_day_are_the_limit(app: &App) {
    let admin = app.admin().logged_in().await;
    let product = app.anonymous().backend_with(&made(app, new_key(&[DeploymentScope::Admin])).await.1);
    for n in 0..150 {
        let inviter = if n % 2 == 0 { &admin } else { &product };
        inviter.invite(&format!("pat{n}@acme.example")).await.expect(201);
    }
    let pending = admin.pending_invites().await;
    let resending = |invite: &Value| format!("/org/invites/{}/resend", id_of(invite));
    for invite in &pending[..50] {
        admin.post_nothing(&resending(invite)).await.expect(200);
    }
    let resend = resending(&pending[0]);
    app.clock.advance(Duration::from_millis(1));
    let refused = admin.invite("one-too-many@acme.example").await.expect_error(429, "rate_limited");
    assert_eq!(refused.header("retry-after"), Some("86400"), "rounded up: whoever waits as told is let in");
    admin.post_nothing(&resend).await.expect_error(429, "rate_limited");
    assert_eq!(admin.pending_invites().await.len(), 150, "what was refused came to nothing");

    let (slug, chief) = ("acme".parse().expect("a slug"), "chief@acme.example".parse().expect("an address"));
    product.invite("one-too-many@acme.example").await.expect_error(429, "rate_limited");
    product.post_nothing(&resend).await.expect_error(429, "rate_limited");
    app.auth.operator().invite_admin(&slug, &chief).await.expect("the operator is not limited");
    let process = app.auth.operator().in_organization(&slug).await.expect("it is there");
    process.invite(&"clerk@acme.example".parse().expect("an address"), Role::Member).await.expect("nor is the process");
    let first = process.invites(&Default::default()).await.expect("a list").items.remove(0);
    process.resend_invite(&first.id).await.expect("nor is the process");
    app.other_org().admin().logged_in().await.invite("pat@globex.example").await.expect(201);

    let clock = Arc::new(MockClock::at(app.clock.now().minus(Duration::from_secs(3_600))));
    let set_back = app.beside(move |setup| setup.clock = clock).await;
    set_back.admin().logged_in().await.invite("earlier@acme.example").await.expect(201); // the others are of the future

    app.advance(86_400);
    app.admin().logged_in().await.invite("one-too-many@acme.example").await.expect(201);
}

async fn what_a_deployment_key_sends_again_is_counted_with_what_it_sends(app: &App) {
    let admin = app.admin().logged_in().await;
    let product = app.anonymous().backend_with(&made(app, new_key(&[DeploymentScope::Admin])).await.1);
    product.invite("pat@acme.example").await.expect(201);
    let resend = format!("/org/invites/{}/resend", id_of(&admin.pending_invites().await[0]));
    run_sql(app, "UPDATE tenant_auth_throttles SET failures = 998 WHERE key LIKE 'deployment-invites:%'").await;
    product.post_nothing(&resend).await.expect(200);
    product.invite("paul@acme.example").await.expect(201);
    product.post_nothing(&resend).await.expect_error(429, "rate_limited");
    product.invite("one-too-many@acme.example").await.expect_error(429, "rate_limited");
    admin.post_nothing(&resend).await.expect(200);
}

async fn organizations_that_sign_up_made_share_the_days_count_of_an_address(app: &App) {
    const STRANGER: &str = "stranger@elsewhere.example";
    let rita = founded(app, "rita@rockets.example", "rockets").await;
    rita.invite(STRANGER).await.expect(201);
    run_sql(app, "UPDATE tenant_auth_throttles SET failures = 10 WHERE key LIKE 'invites-to-address:%'").await;
    let resend = format!("/org/invites/{}/resend", id_of(&rita.pending_invites().await[0]));
    rita.post_nothing(&resend).await.expect_error(429, "rate_limited");
    let rolf = founded(app, "rolf@boats.example", "boats").await;
    rolf.invite(STRANGER).await.expect(201); // the hour is each organization's own
    run_sql(app, "UPDATE tenant_auth_throttles SET failures = 19 WHERE key LIKE 'invites-to-address-day:%'").await;
    let resend = format!("/org/invites/{}/resend", id_of(&rolf.pending_invites().await[0]));
    rolf.post_nothing(&resend).await.expect(200);
    rolf.post_nothing(&resend).await.expect_error(429, "rate_limited");
    let rosa = founded(app, "rosa@trains.example", "trains").await;
    rosa.invite(STRANGER).await.expect_error(429, "rate_limited");
    let many = json!({ "invites": [{ "email": STRANGER }, { "email": "olga@trains.example" }] });
    let told = rosa.post("/org/members/invite/bulk", many).await.expect_ok();
    assert_eq!((&told["results"][0]["code"], &told["results"][1]["invite"]["role"]), (&json!("rate_limited"), &json!("member")));

    let admin = app.admin().logged_in().await;
    admin.invite(STRANGER).await.expect(201);
    let resend = format!("/org/invites/{}/resend", id_of(&admin.pending_invites().await[0]));
    for _ in 0..25 {
        admin.post_nothing(&resend).await.expect(200); // whom an operator knows is bound by its own day alone
    }
}
