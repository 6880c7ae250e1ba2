//! Keys in use and keys to come. Signing keys rotate without anybody noticing, or without mercy when they are compromised; what is
//! sealed moves to a new master key, after which the old one may be thrown away.

use std::time::Duration;

use serde_json::Value;
use tenant_auth_conformance::{App, Caller, PASSWORD, jwt, scenarios};
use tenant_auth_core::{MasterKeys, ports::Clock};

use crate::suite::support::{
    account::{guard, login_with_code},
    authenticator::SecondFactor,
    hooks::{Hook, RECEIVER, run_sql, texts_in},
};

scenarios![on each database:
    the_next_key_is_published_before_it_signs,
    old_tokens_live_through_a_rotation,
    a_retired_key_is_kept_as_long_as_its_tokens,
    a_server_that_did_not_rotate_learns_of_it,
    servers_of_a_deployment_understand_each_other_during_a_rotation,
    a_new_key_is_known_to_every_server_at_once,
    a_compromised_key_is_dead_at_once,
    a_compromised_key_is_dead_on_every_server_at_once,
    a_compromised_key_is_published_as_such_by_every_server_at_once,
    a_login_that_waited_is_over_when_its_key_was_compromised,
    a_login_that_waited_is_over_on_every_server_at_once,
    a_new_master_key_opens_everything_after_a_rotation,
    a_mail_that_a_server_cannot_read_yet_waits,
    resealing_is_done_once,
    a_value_that_no_master_key_opens_is_named_and_keeps_no_other_under_the_old_key,
    audit_keys_are_replaced_and_stay_published,
    a_compromised_audit_key_is_marked,
];

const DAY: u64 = 24 * 60 * 60;

async fn rotate(app: &App, compromised: bool) -> u64 {
    app.auth.operator().rotate_keys(compromised).await.expect("they can be rotated").resealed
}

async fn jwks(app: &App) -> Value {
    app.anonymous().get("/.well-known/jwks.json").await.expect(200).json().clone()
}

fn kids(jwks: &Value) -> Vec<String> {
    let keys = jwks["keys"].as_array().expect("a list");
    keys.iter().map(|key| key["kid"].as_str().expect("a kid").to_owned()).collect()
}

fn kid(token: &str) -> String {
    jwt::header(token)["kid"].as_str().expect("a kid").to_owned()
}

async fn the_next_key_is_published_before_it_signs(app: &App) {
    for _ in 0..3 {
        let before = jwks(app).await;
        let old = app.member().logged_in().await.access_token();
        let ahead: Vec<String> = kids(&before).into_iter().filter(|kid_| *kid_ != kid(&old)).collect();
        rotate(app, false).await;
        let new = app.member().logged_in().await.access_token();
        assert_ne!(kid(&new), kid(&old));
        assert!(ahead.contains(&kid(&new)), "who fetched the JWKS before the rotation can check what is signed after it");
        assert!(jwt::is_signed_by(&new, &before));
        let after = jwks(app).await;
        assert!(jwt::is_signed_by(&new, &after) && jwt::is_signed_by(&old, &after), "the old key is published still");
        assert!(kids(&after).iter().any(|kid| !kids(&before).contains(kid)), "and the next one already");
    }
}

async fn old_tokens_live_through_a_rotation(app: &App) {
    let member = app.member().logged_in().await;
    let (access, refresh) = (member.access_token(), member.refresh_token());
    rotate(app, false).await;
    rotate(app, false).await;
    member.get("/org").await.expect(200);
    assert!(app.backend().finds_valid(&access).await);
    member.refresh().await.expect(200);
    assert_ne!(kid(&member.access_token()), kid(&access));
    assert_ne!(kid(&member.refresh_token()), kid(&refresh));
    member.get("/org").await.expect(200);
    member.refresh_with(&refresh).await.expect(200);
}

/// Whoever learns the keys only later accepts what the old one signed: a server that starts meanwhile.
async fn a_retired_key_is_kept_as_long_as_its_tokens(app: &App) {
    let member = app.member().logged_in().await;
    let old = kid(&member.access_token());
    rotate(app, false).await;
    app.advance(6 * DAY);
    app.tick().await;
    let later = app.beside(|_| {}).await;
    member.via(&later).refresh().await.expect(200);
    app.advance(2 * DAY);
    app.tick().await;
    let last = app.beside(|_| {}).await;
    assert!(!kids(&jwks(&last).await).contains(&old));
}

/// Within the few seconds in which every server notices (behaviour.md, B41).
async fn a_server_that_did_not_rotate_learns_of_it(app: &App) {
    let other = app.beside(|_| {}).await;
    let old = app.member().logged_in().await.access_token();
    rotate(app, false).await;
    let new = kid(&app.member().logged_in().await.access_token());
    for _ in 0..80 {
        let signed = kid(&other.member().logged_in().await.access_token());
        if signed == new {
            assert_eq!(jwks(&other).await, jwks(app).await);
            return;
        }
        assert_eq!(signed, kid(&old));
        tokio::time::sleep(Duration::from_millis(250)).await;
    }
    panic!("after 20 s the other server still signs with the old key");
}

async fn servers_of_a_deployment_understand_each_other_during_a_rotation(app: &App) {
    let other = app.beside(|_| {}).await;
    rotate(app, false).await;
    let (new, old) = (app.member().logged_in().await, other.member().logged_in().await);
    new.via(&other).get("/org").await.expect(200);
    old.via(app).get("/org").await.expect(200);
    new.via(&other).refresh().await.expect(200);
    old.via(app).refresh().await.expect(200);
}

/// Keys that were never published ahead, round after round: each token of them is believed at the other server at once.
async fn a_new_key_is_known_to_every_server_at_once(app: &App) {
    let other = app.beside(|_| {}).await;
    for _ in 0..3 {
        rotate(app, true).await;
        let (member, admin) = (app.member().logged_in().await, app.admin().logged_in().await);
        assert!(other.backend().finds_valid(&member.access_token()).await);
        rotate(app, true).await;
        let member = app.member().logged_in().await;
        admin.via(&other).get("/org").await.expect_no_session();
        member.via(&other).get("/org").await.expect(200);
        rotate(app, true).await;
        app.member().logged_in().await.via(&other).refresh().await.expect(200);
    }
}

/// Neither lets anybody in, nor says anything about them.
async fn expect_dead(app: &App, session: &Caller) {
    assert!(!app.backend().finds_valid(&session.access_token()).await);
    session.via(app).get("/org").await.expect_no_session();
    session.via(app).copied().refresh().await.expect_no_session();
}

async fn a_compromised_key_is_dead_at_once(app: &App) {
    let (admin, member) = (app.admin().logged_in().await, app.member().logged_in().await);
    let gus = app.other_org().member().logged_in().await;
    let before = jwks(app).await;
    rotate(app, true).await;
    for session in [&admin, &member] {
        expect_dead(app, session).await;
    }
    gus.get("/org").await.expect_no_session();
    gus.refresh().await.expect_no_session();
    let after = jwks(app).await;
    assert!(kids(&after).len() >= 2, "the next key is there too");
    assert!(kids(&after).iter().all(|kid| !kids(&before).contains(kid)), "also the one that was published ahead is gone");
    let again = app.member().logged_in().await;
    assert!(jwt::is_signed_by(&again.access_token(), &after));
    again.get("/org").await.expect(200);
    rotate(app, false).await;
    assert!(kids(&after).contains(&kid(&app.member().logged_in().await.access_token())));
}

async fn a_compromised_key_is_dead_on_every_server_at_once(app: &App) {
    let other = app.beside(|_| {}).await;
    let (here, there) = (app.member().logged_in().await, other.member().logged_in().await);
    rotate(app, true).await;
    for session in [&here, &there] {
        expect_dead(&other, session).await;
        expect_dead(app, session).await;
    }
}

/// Also by one that remembers nothing, and so hears of nothing.
async fn a_compromised_key_is_published_as_such_by_every_server_at_once(app: &App) {
    let others = [app.beside(|_| {}).await, app.beside(|setup| setup.config.memory.mebibytes = 0).await];
    for _ in 0..2 {
        for other in &others {
            jwks(other).await;
        }
        rotate(app, true).await;
        for other in &others {
            assert_eq!(kids(&jwks(other).await), kids(&jwks(app).await));
            assert_eq!(audit_keys(other).await, audit_keys(app).await);
        }
    }
}

async fn a_login_that_waited_is_over_when_its_key_was_compromised(app: &App) {
    let guarded = guard(app, &app.member().logged_in().await).await;
    let waiting = app.member().waiting().await;
    rotate(app, true).await;
    waiting.enter(&guarded.fresh_code(app)).await.expect_error(401, "second_factor_failed");
}

/// The partial token is signed too. Operators rotate from the command line, so the server is always the other process.
async fn a_login_that_waited_is_over_on_every_server_at_once(app: &App) {
    let other = app.beside(|_| {}).await;
    let guarded = guard(app, &app.member().logged_in().await).await;
    let waiting = app.member().waiting().await;
    rotate(app, true).await;
    waiting.via(&other).enter(&guarded.fresh_code(app)).await.expect_error(401, "second_factor_failed");
}

async fn a_new_master_key_opens_everything_after_a_rotation(app: &App) {
    let (member, admin) = (app.member().logged_in().await, app.admin().logged_in().await);
    let guarded = guard(app, &member).await;
    app.tick().await;
    admin.invite("nora@acme.example").await.expect(201);
    let new_key = MasterKeys::generate_text();
    let list = format!("{new_key},{}", app.master_key());
    let both = app.beside(|setup| setup.master_keys = Some(list)).await;
    assert!(rotate(&both, false).await >= 4, "keys, a mail, a secret");
    let new = both.beside(|setup| setup.master_keys = Some(new_key)).await;
    member.via(&new).get("/org").await.expect(200);
    member.via(&new).refresh().await.expect(200);
    assert!(new.backend().finds_valid(&member.access_token()).await);
    let device = app.member().via(&new);
    login_with_code(&device, PASSWORD, &guarded.fresh_code(app)).await;
    let with_recovery_code = app.member().via(&new);
    login_with_code(&with_recovery_code, PASSWORD, &guarded.recovery_codes[0]).await;
    let token = new.link_token_of("nora@acme.example").await;
    new.anonymous().accept(&token, "Nora").await.expect(200);
    new.auth.operator().rotate_keys(true).await.expect("the old master key is needed for nothing");
    new.admin().logged_in().await.get("/org").await.expect(200);
}

/// The servers are given the new key one after the other.
async fn a_mail_that_a_server_cannot_read_yet_waits(app: &App) {
    app.tick().await;
    let list = format!("{},{}", MasterKeys::generate_text(), app.master_key());
    let both = app.beside(|setup| setup.master_keys = Some(list)).await;
    both.admin().logged_in().await.invite("nora@acme.example").await.expect(201);
    app.tick().await;
    assert!(app.mail_to("nora@acme.example").await.is_empty());
    both.advance(5);
    let token = both.link_token_of("nora@acme.example").await;
    both.anonymous().accept(&token, "Nora").await.expect(200);
}

async fn resealing_is_done_once(app: &App) {
    let new_key = MasterKeys::generate_text();
    let list = format!("{new_key},{}", app.master_key());
    let both = app.beside(|setup| setup.master_keys = Some(list)).await;
    assert!(rotate(&both, false).await > 0);
    assert_eq!(rotate(&both, false).await, 0, "everything is sealed under the first key already");
}

async fn a_value_that_no_master_key_opens_is_named_and_keeps_no_other_under_the_old_key(app: &App) {
    let (member, admin) = (app.member().logged_in().await, app.admin().logged_in().await);
    guard(app, &member).await;
    Hook::new(&admin, RECEIVER, &["org.updated"]).await; // its secret is sealed again after the second factors
    let damage = format!("UPDATE tenant_auth_second_factors SET secret = 'v1.gone.AA.AA' WHERE user_id = '{}'", member.id());
    run_sql(app, &damage).await;
    let secrets = async || texts_in(app, "SELECT secret FROM tenant_auth_webhook_secrets").await;
    let before = secrets().await;
    let list = format!("{},{}", MasterKeys::generate_text(), app.master_key());
    let both = app.beside(|setup| setup.master_keys = Some(list)).await;
    let rotated = both.auth.operator().rotate_keys(false).await.expect("the others can be sealed again");
    assert!(rotated.resealed >= 2 && rotated.unopened == 1, "{rotated:?}");
    let [place] = rotated.unopened_at.as_slice() else { panic!("{rotated:?}") };
    assert_eq!((place.table, place.column, place.row.as_str()), ("tenant_auth_second_factors", "secret", member.id()));
    assert_eq!(place.organization, None, "an account belongs to none");
    let after = secrets().await;
    assert!(before.iter().all(|secret| !after.contains(secret)), "{after:?}");
    both.auth.operator().reset_second_factor(&member.email().parse().expect("an address")).await.expect("it is theirs");
    let again = both.auth.operator().rotate_keys(false).await.expect("they can be rotated");
    assert_eq!((again.resealed, again.unopened, again.unopened_at.len()), (0, 0, 0), "{again:?}");
    // Damaged under the first key.
    run_sql(app, "UPDATE tenant_auth_webhook_secrets SET secret = secret || 'AAAA'").await;
    let damaged = both.auth.operator().rotate_keys(false).await.expect("the others can be sealed again");
    assert_eq!((damaged.resealed, usize::try_from(damaged.unopened)), (0, Ok(after.len())), "{damaged:?}");
    assert!(damaged.unopened_at.iter().all(|place| place.table == "tenant_auth_webhook_secrets"), "{damaged:?}");
}

async fn audit_keys(app: &App) -> Value {
    app.anonymous().without_slug().get("/.well-known/audit-keys.json").await.expect(200).json().clone()
}

async fn kids_of_tokens(app: &App) -> Vec<String> {
    let member = app.member().logged_in().await;
    [kids(&jwks(app).await), vec![kid(&member.refresh_token())]].concat()
}

async fn audit_keys_are_replaced_and_stay_published(app: &App) {
    let first = kids(&audit_keys(app).await);
    assert_eq!(first.len(), 1, "made with the service");
    assert_eq!(kids(&audit_keys(&app.beside(|_| {}).await).await), first, "once");
    for _ in 0..2 {
        app.advance(1);
        rotate(app, false).await;
    }
    let keys = audit_keys(app).await;
    let later = kids(&keys);
    assert_eq!((later.len(), &later[0]), (3, &first[0]), "a file of any time can be verified");
    assert!(keys["keys"].as_array().expect("a list").iter().all(|key| key.get("revokedAt").is_none()));
    let of_tokens = kids_of_tokens(app).await;
    assert!(later.iter().all(|kid| !of_tokens.contains(kid)), "no key signs both tokens and audit files");
    let private = texts_in(app, "SELECT kid FROM tenant_auth_audit_keys WHERE private_key IS NOT NULL").await;
    assert_eq!(private, later[2..], "what signs nothing more is not kept");
}

async fn a_compromised_audit_key_is_marked(app: &App) {
    rotate(app, false).await;
    app.advance(60);
    rotate(app, true).await;
    let keys = audit_keys(app).await;
    let revoked: Vec<Option<&str>> = keys["keys"].as_array().expect("a list").iter().map(|key| key["revokedAt"].as_str()).collect();
    let now = app.clock.now().to_iso();
    assert_eq!(revoked, [Some(now.as_str()), Some(now.as_str()), None]);
    app.advance(60);
    rotate(app, true).await;
    let keys = audit_keys(app).await;
    assert_eq!(keys["keys"][0]["revokedAt"], now, "the first time counts");
}
