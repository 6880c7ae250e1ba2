//! Signatures: Standard Webhooks 1.0.0, verified by a library that is not ours; secrets that are rotated without losing a delivery;
//! and secrets at rest.

use std::time::Duration;

use serde_json::json;
use tenant_auth_conformance::{App, id_of, scenarios};
use tenant_auth_core::{
    MasterKeys,
    ports::Clock,
    webhooks::{SignatureError, SignedHeaders, SigningSecret, verify_webhook},
};

use crate::suite::support::hooks::{Hook, RECEIVER, answer, event_in, header, is_signed_with, signatures};

scenarios![
    a_delivery_is_signed_as_standard_webhooks_says,
    the_signature_covers_every_byte,
    our_own_verification_believes_what_was_signed_and_nothing_else,
    two_webhooks_have_two_secrets,
    both_secrets_sign_until_the_overlap_is_over,
    a_day_is_the_overlap_unless_something_else_is_said,
    without_an_overlap_the_old_secret_signs_no_more,
    a_second_rotation_retires_the_oldest,
    what_waits_is_signed_with_what_signs_then,
    the_overlap_is_a_sensible_number,
    secrets_move_to_a_new_master_key,
];

async fn a_delivery_is_signed_as_standard_webhooks_says(app: &App) {
    let admin = app.admin().logged_in().await;
    let hook = Hook::new(&admin, RECEIVER, &["org.updated"]).await;
    admin.patch("/org", json!({ "name": "Søren & Sons <b> 🚀" })).await.expect(200);
    app.advance(3);
    app.tick().await;
    let sent = hook.sent(app);
    assert_eq!(sent.len(), 1);
    let mut names: Vec<&str> = sent[0].headers.iter().map(|(name, _)| *name).collect();
    names.sort_unstable();
    assert_eq!(names, ["content-type", "webhook-id", "webhook-signature", "webhook-timestamp"]);
    assert_eq!(header(&sent[0], "content-type"), "application/json");
    assert_eq!(header(&sent[0], "webhook-id"), id_of(&event_in(&sent[0])));
    assert_eq!(header(&sent[0], "webhook-timestamp"), (app.clock.now().millis() / 1_000).to_string());
    assert!(header(&sent[0], "webhook-signature").starts_with("v1,"));
    assert_eq!(signatures(&sent[0]), 1);
    assert!(is_signed_with(&sent[0], &hook.secret));
}

async fn the_signature_covers_every_byte(app: &App) {
    let admin = app.admin().logged_in().await;
    let hook = Hook::new(&admin, RECEIVER, &["org.updated"]).await;
    hook.test(&admin).await;
    app.tick().await;
    let sent = hook.sent(app).remove(0);
    let mut altered = sent.clone();
    altered.body.push(' ');
    assert!(!is_signed_with(&altered, &hook.secret));
    for (name, value) in [("webhook-id", "evt_00000000000000000000000000"), ("webhook-timestamp", "1763626860")] {
        let mut altered = sent.clone();
        for (have, text) in altered.headers.iter_mut().filter(|(have, _)| *have == name) {
            assert_ne!(text, value, "{have}");
            value.clone_into(text);
        }
        assert!(!is_signed_with(&altered, &hook.secret), "{name}");
    }
}

async fn our_own_verification_believes_what_was_signed_and_nothing_else(app: &App) {
    let admin = app.admin().logged_in().await;
    let (hook, other) = (Hook::new(&admin, RECEIVER, &["org.updated"]).await, Hook::new(&admin, RECEIVER, &["org.updated"]).await);
    let newer = hook.rotated(&admin, 3_600).await;
    hook.test(&admin).await;
    app.tick().await;
    let sent = hook.sent(app).remove(0);
    let signed = SignedHeaders {
        id: header(&sent, "webhook-id"),
        timestamp: header(&sent, "webhook-timestamp"),
        signature: header(&sent, "webhook-signature"),
    };
    let (body, tolerance) = (sent.body.as_bytes(), Duration::from_secs(300));
    let judged = |secret: &str, headers, body: &[u8]| {
        verify_webhook(&SigningSecret::parse(secret).expect("a secret"), headers, body, app.clock.now(), tolerance)
    };
    for secret in [&hook.secret, &newer] {
        assert_eq!(judged(secret, signed, body), Ok(()));
        assert_eq!(judged(secret, signed, &body[1..]), Err(SignatureError::Mismatch));
        assert_eq!(judged(secret, SignedHeaders { id: "evt_1", ..signed }, body), Err(SignatureError::Mismatch));
        for odd in ["", "v1,", "v1", "v1,rubbish", "v2,AAAA", " "] {
            assert_eq!(judged(secret, SignedHeaders { signature: odd, ..signed }, body), Err(SignatureError::Mismatch), "{odd}");
        }
        for odd in ["", "x", "-1", "99999999999999999999", "1763626860.5"] {
            assert_eq!(judged(secret, SignedHeaders { timestamp: odd, ..signed }, body), Err(SignatureError::Timestamp), "{odd}");
        }
    }
    assert_eq!(judged(&other.secret, signed, body), Err(SignatureError::Mismatch));
    app.advance(300);
    assert_eq!(verify_webhook(&SigningSecret::parse(&newer).expect("a secret"), signed, body, app.clock.now(), tolerance), Ok(()));
    app.advance(1);
    let late = verify_webhook(&SigningSecret::parse(&newer).expect("a secret"), signed, body, app.clock.now(), tolerance);
    assert_eq!(late, Err(SignatureError::Timestamp));
    let odd = ["", "whs_", "whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=", "whs_AAAA", "whs_?", &newer[..newer.len() - 1]];
    for odd in odd {
        assert_eq!(SigningSecret::parse(odd).err(), Some(SignatureError::MalformedSecret), "{odd}");
    }
    assert!(!format!("{:?}", SigningSecret::parse(&newer)).contains(&newer[4..]), "a secret never prints");
}

async fn two_webhooks_have_two_secrets(app: &App) {
    let admin = app.admin().logged_in().await;
    let hooks = [Hook::new(&admin, RECEIVER, &["*"]).await, Hook::new(&admin, "https://hooks.example.com/2", &["*"]).await];
    admin.patch("/org", json!({ "name": "Acme" })).await.expect(200);
    app.tick().await;
    for (hook, other) in [(&hooks[0], &hooks[1]), (&hooks[1], &hooks[0])] {
        assert!(is_signed_with(&hook.sent(app)[0], &hook.secret));
        assert!(!is_signed_with(&hook.sent(app)[0], &other.secret));
    }
}

/// Tells which of the secrets sign a delivery that is made now, and checks that no other secret does.
async fn signing<const N: usize>(app: &App, hook: &Hook, secrets: [&str; N]) -> [bool; N] {
    hook.test(&app.admin().logged_in().await).await;
    app.tick().await;
    let sent = hook.sent(app).pop().expect("a delivery");
    let signing = secrets.map(|secret| is_signed_with(&sent, secret));
    assert_eq!(signatures(&sent), signing.iter().filter(|signs| **signs).count());
    signing
}

async fn both_secrets_sign_until_the_overlap_is_over(app: &App) {
    let admin = app.admin().logged_in().await;
    let hook = Hook::new(&admin, RECEIVER, &["org.updated"]).await;
    let newer = hook.rotated(&admin, 600).await;
    let secrets = [hook.secret.as_str(), newer.as_str()];
    assert_eq!(signing(app, &hook, secrets).await, [true, true]);
    app.clock.advance(Duration::from_millis(599_999));
    assert_eq!(signing(app, &hook, secrets).await, [true, true]);
    app.clock.advance(Duration::from_millis(1));
    assert_eq!(signing(app, &hook, secrets).await, [false, true]);
    app.advance(86_400);
    assert_eq!(signing(app, &hook, secrets).await, [false, true], "swept or not");
}

async fn a_day_is_the_overlap_unless_something_else_is_said(app: &App) {
    let admin = app.admin().logged_in().await;
    let hooks = [Hook::new(&admin, RECEIVER, &["*"]).await, Hook::new(&admin, "https://hooks.example.com/2", &["*"]).await];
    let path = |hook: &Hook| format!("{}/rotate-secret", hook.path());
    let newer = [
        admin.post_nothing(&path(&hooks[0])).await.expect_ok()["secret"].as_str().expect("a secret").to_owned(),
        admin.post(&path(&hooks[1]), json!({})).await.expect_ok()["secret"].as_str().expect("a secret").to_owned(),
    ];
    for (seconds, old_signs) in [(86_399, true), (1, false)] {
        app.advance(seconds);
        for (hook, newer) in hooks.iter().zip(&newer) {
            assert_eq!(signing(app, hook, [&hook.secret, newer]).await, [old_signs, true]);
        }
    }
}

async fn without_an_overlap_the_old_secret_signs_no_more(app: &App) {
    let admin = app.admin().logged_in().await;
    let hook = Hook::new(&admin, RECEIVER, &["org.updated"]).await;
    let newer = hook.rotated(&admin, 0).await;
    assert_eq!(signing(app, &hook, [&hook.secret, &newer]).await, [false, true]);
}

async fn a_second_rotation_retires_the_oldest(app: &App) {
    let admin = app.admin().logged_in().await;
    let hook = Hook::new(&admin, RECEIVER, &["org.updated"]).await;
    let second = hook.rotated(&admin, 86_400).await;
    let third = hook.rotated(&admin, 60).await;
    assert_eq!(signing(app, &hook, [&hook.secret, &second, &third]).await, [false, true, true]);
    app.advance(60);
    assert_eq!(signing(app, &hook, [&hook.secret, &second, &third]).await, [false, false, true]);
}

async fn what_waits_is_signed_with_what_signs_then(app: &App) {
    let admin = app.admin().logged_in().await;
    let hook = Hook::new(&admin, RECEIVER, &["org.updated"]).await;
    app.webhooks.answer(RECEIVER, answer(500));
    hook.test(&admin).await;
    app.tick().await;
    let newer = hook.rotated(&admin, 0).await;
    app.advance(6);
    app.tick().await;
    let sent = hook.sent(app);
    assert_eq!((sent.len(), &sent[0].body), (2, &sent[1].body));
    assert!(is_signed_with(&sent[0], &hook.secret) && !is_signed_with(&sent[0], &newer));
    assert!(is_signed_with(&sent[1], &newer) && !is_signed_with(&sent[1], &hook.secret));
}

async fn the_overlap_is_a_sensible_number(app: &App) {
    let admin = app.admin().logged_in().await;
    let hook = Hook::new(&admin, RECEIVER, &["org.updated"]).await;
    let path = format!("{}/rotate-secret", hook.path());
    for bad in [json!(-1), json!("60"), json!(1.5), json!(1e300), json!([]), json!(2_592_001), json!(u64::MAX)] {
        admin.post(&path, json!({ "overlapSeconds": bad })).await.expect_invalid("overlapSeconds");
    }
    admin.post_nothing(&path).text("rubbish").await.expect_error(400, "invalid_request");
    admin.post_nothing(&path).body("text/plain", "60").await.expect_error(415, "unsupported_media_type");
    assert_eq!(signing(app, &hook, [&hook.secret]).await, [true], "a refused rotation rotates nothing");
    hook.rotated(&admin, 2_592_000).await;
}

async fn secrets_move_to_a_new_master_key(app: &App) {
    let admin = app.admin().logged_in().await;
    let hook = Hook::new(&admin, RECEIVER, &["org.updated"]).await;
    let newer = hook.rotated(&admin, 3_600).await;
    let new_key = MasterKeys::generate_text();
    let list = format!("{new_key},{}", app.master_key());
    let both = app.beside(|setup| setup.master_keys = Some(list)).await;
    assert_eq!(signing(&both, &hook, [&hook.secret, &newer]).await, [true, true]);
    both.auth.operator().rotate_keys(false).await.expect("it seals everything again");
    let new = both.beside(|setup| setup.master_keys = Some(new_key)).await;
    assert_eq!(signing(&new, &hook, [&hook.secret, &newer]).await, [true, true], "the old master key is needed for nothing");
}
