//! The tokens themselves, and the keys that the world may check them with: GET /.well-known/jwks.json.

use tenant_auth_conformance::{App, jwt, scenarios, shape};

scenarios![
    an_access_token_claims_exactly_this,
    an_access_token_is_signed_by_a_published_key,
    a_refresh_token_is_never_signed_by_a_published_key,
    no_token_tells_who_somebody_is,
    each_generation_has_its_own_token_ids,
    the_jwks_shows_public_keys_only,
    the_jwks_is_plain_json_and_needs_no_slug,
    the_issuer_is_the_public_url,
];

/// 2026-11-20T08:21:00Z, when every scenario begins.
const NOW: i64 = 1_795_162_860;

async fn an_access_token_claims_exactly_this(app: &App) {
    let member = app.member().logged_in().await;
    let token = member.access_token();
    let header = jwt::header(&token);
    assert_eq!((&header["alg"], &header["typ"]), (&"EdDSA".into(), &"at+jwt".into()));
    assert!(header["kid"].is_string());
    let claims = jwt::claims(&token);
    assert_eq!(shape(&claims), ["amr", "aud", "auth_time", "exp", "gen", "iat", "iss", "jti", "nbf", "sid", "sub"]);
    assert_eq!(claims["sub"], member.id());
    assert_eq!(claims["aud"], member.get("/org").await.expect_ok()["org"]["id"], "the audience is the organization");
    assert!(claims["sid"].as_str().is_some_and(|sid| sid.starts_with("ses_")));
    assert!(claims["gen"].is_i64());
    assert_eq!(claims["amr"], serde_json::json!(["pwd"]));
    assert_eq!((&claims["iat"], &claims["nbf"], &claims["auth_time"]), (&NOW.into(), &NOW.into(), &NOW.into()));
    assert_eq!(claims["exp"], NOW + 900);
}

async fn an_access_token_is_signed_by_a_published_key(app: &App) {
    let jwks = app.anonymous().get("/.well-known/jwks.json").await.expect(200).json().clone();
    let token = app.member().logged_in().await.access_token();
    assert!(jwt::is_signed_by(&token, &jwks));
    let forged = jwt::with_claims(&token, |claims| claims["gen"] = 99.into());
    assert!(!jwt::is_signed_by(&forged, &jwks));
}

async fn a_refresh_token_is_never_signed_by_a_published_key(app: &App) {
    let jwks = app.anonymous().get("/.well-known/jwks.json").await.expect(200).json().clone();
    let token = app.member().logged_in().await.refresh_token();
    let (header, claims) = (jwt::header(&token), jwt::claims(&token));
    assert_eq!((&header["alg"], &header["typ"]), (&"EdDSA".into(), &"rt+jwt".into()));
    assert_eq!((&claims["iss"], &claims["aud"]), (&"https://auth.example.com".into(), &"https://auth.example.com".into()));
    assert_eq!(claims["exp"], NOW + 7 * 86_400);
    for key in jwks["keys"].as_array().expect("a list") {
        assert_ne!(key["kid"], header["kid"]);
        assert!(!jwt::is_signed_by_key(&token, key));
    }
}

async fn no_token_tells_who_somebody_is(app: &App) {
    let (admin, member) = (app.admin().logged_in().await, app.member().logged_in().await);
    admin.set_metadata(member.id(), serde_json::json!({ "clearance": "cobalt" })).await.expect(200);
    member.refresh().await.expect(200);
    for token in [member.access_token(), member.refresh_token()] {
        let told = format!("{} {}", jwt::header(&token), jwt::claims(&token)).to_lowercase();
        for secret in ["acme.example", "member", "org_admin", "cobalt", "clearance", "email"] {
            assert!(!told.contains(secret), "{secret} in {told}");
        }
        // Words: an id may by chance have the letters of a short one within.
        let words: Vec<_> = told.split(|letter: char| !letter.is_alphanumeric()).collect();
        for secret in ["max", "role"] {
            assert!(!words.contains(&secret), "{secret} in {told}");
        }
    }
}

async fn each_generation_has_its_own_token_ids(app: &App) {
    let member = app.member().logged_in().await;
    let first = jwt::claims(&member.access_token());
    member.refresh().await.expect(200);
    let second = jwt::claims(&member.access_token());
    assert_ne!(first["jti"], second["jti"]);
    assert_eq!((&first["sid"], &first["auth_time"]), (&second["sid"], &second["auth_time"]), "one session, one login");
}

async fn the_jwks_shows_public_keys_only(app: &App) {
    let jwks = app.anonymous().get("/.well-known/jwks.json").await.expect(200).json().clone();
    let keys = jwks["keys"].as_array().expect("a list");
    assert!(!keys.is_empty());
    for key in keys {
        assert_eq!((&key["kty"], &key["crv"], &key["alg"]), (&"OKP".into(), &"Ed25519".into(), &"EdDSA".into()));
        assert!(key["kid"].is_string() && key["x"].is_string());
        assert!(key.get("d").is_none(), "no private part");
    }
}

async fn the_jwks_is_plain_json_and_needs_no_slug(app: &App) {
    let answer = app.anonymous().without_slug().get("/.well-known/jwks.json").await.expect(200);
    assert_eq!(shape(answer.json()), ["keys"], "no envelope");
    assert!(answer.header("Cache-Control").is_some_and(|value| value.contains("max-age=300")));
    let other = app.anonymous().at_org("no-such-organization").get("/.well-known/jwks.json").await.expect(200);
    assert_eq!(other.body, answer.body);
}

async fn the_issuer_is_the_public_url(app: &App) {
    let token = app.member().logged_in().await.access_token();
    assert_eq!(jwt::claims(&token)["iss"], "https://auth.example.com");
}
