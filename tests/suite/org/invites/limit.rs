//! How many invitation mails an organization may cause in a day: 200, resends included, the operator's own not (behaviour.md,
//! B90).

use std::time::Duration;

use tenant_auth_conformance::{App, id_of, scenarios};
use tenant_auth_core::model::{DeploymentScope, Role};

use crate::suite::{
    public::deployment_keys::{made, new_key},
    support::hooks::run_sql,
};

scenarios![on each database:
    two_hundred_invites_and_resends_a_day_are_the_limit,
    what_a_deployment_key_sends_again_is_counted_with_what_it_sends,
];

async fn two_hundred_invites_and_resends_a_day_are_the_limit(app: &App) {
    let admin = app.admin().logged_in().await;
    let product = app.anonymous().backend_with(&made(app, new_key(&[DeploymentScope::Admin])).await.1);
    for n in 0..150 {
        let inviter = if n % 2 == 0 { &admin } else { &product };
        inviter.invite(&format!("pat{n}@acme.example")).await.expect(201);
    }
    let resend = format!("/org/invites/{}/resend", id_of(&admin.pending_invites().await[0]));
    for _ in 0..50 {
        admin.post_nothing(&resend).await.expect(200);
    }
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
