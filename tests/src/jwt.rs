//! Session tokens (JWTs) as an outsider reads them: the parts decoded, the signature checked with the published keys by an
//! independent implementation of Ed25519, and forgeries made by hand.

use aws_lc_rs::{
    hmac,
    signature::{ED25519, Ed25519KeyPair, KeyPair, UnparsedPublicKey},
};
use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use serde_json::{Value, json};

/// The header of a token.
#[track_caller]
pub fn header(token: &str) -> Value {
    part(token, 0)
}

/// The claims of a token.
#[track_caller]
pub fn claims(token: &str) -> Value {
    part(token, 1)
}

/// Whether a key of a JWKS with the token's `kid` signed it.
#[track_caller]
pub fn is_signed_by(token: &str, jwks: &Value) -> bool {
    let kid = header(token)["kid"].clone();
    let keys = jwks["keys"].as_array().expect("a list of keys");
    keys.iter().filter(|key| key["kid"] == kid).any(|key| is_signed_by_key(token, key))
}

/// Whether this public key signed the token; its `kid` is not compared.
#[track_caller]
pub fn is_signed_by_key(token: &str, jwk: &Value) -> bool {
    let (signed, signature) = token.rsplit_once('.').expect("three parts");
    let public = decode(jwk["x"].as_str().expect("an x coordinate"));
    UnparsedPublicKey::new(&ED25519, public).verify(signed.as_bytes(), &decode(signature)).is_ok()
}

/// The same signature over other claims.
#[track_caller]
pub fn with_claims(token: &str, change: impl FnOnce(&mut Value)) -> String {
    let mut changed = claims(token);
    change(&mut changed);
    replace_part(token, 1, &changed)
}

/// The same signature under another header.
#[track_caller]
pub fn with_header(token: &str, change: impl FnOnce(&mut Value)) -> String {
    let mut changed = header(token);
    change(&mut changed);
    replace_part(token, 0, &changed)
}

/// The token signed anew by a key of the forger's own: under the `kid` of the real one, and with the forger's key enclosed.
#[track_caller]
pub fn signed_by_a_stranger(token: &str) -> [String; 2] {
    let key = Ed25519KeyPair::from_seed_unchecked(&[7; 32]).expect("a key");
    let public = URL_SAFE_NO_PAD.encode(key.public_key());
    let enclosed = with_header(token, |header| header["jwk"] = json!({ "kty": "OKP", "crv": "Ed25519", "x": public }));
    [token.to_owned(), enclosed].map(|token| with_signature(&token, key.sign(signed_part(&token).as_bytes()).as_ref()))
}

/// The token as HS256, with the public key for a shared secret: the classic confusion of algorithms.
#[track_caller]
pub fn signed_by_the_public_key(token: &str, jwk: &Value) -> String {
    let confused = with_header(token, |header| header["alg"] = "HS256".into());
    let secret = hmac::Key::new(hmac::HMAC_SHA256, &decode(jwk["x"].as_str().expect("an x coordinate")));
    with_signature(&confused, hmac::sign(&secret, signed_part(&confused).as_bytes()).as_ref())
}

fn signed_part(token: &str) -> &str {
    token.rsplit_once('.').map_or(token, |(signed, _)| signed)
}

/// The same header and claims under another signature.
pub fn with_signature(token: &str, signature: &[u8]) -> String {
    let (signed, _) = token.rsplit_once('.').expect("three parts");
    format!("{signed}.{}", URL_SAFE_NO_PAD.encode(signature))
}

fn replace_part(token: &str, index: usize, value: &Value) -> String {
    let mut parts: Vec<String> = token.split('.').map(str::to_owned).collect();
    parts[index] = URL_SAFE_NO_PAD.encode(value.to_string());
    parts.join(".")
}

#[track_caller]
fn part(token: &str, index: usize) -> Value {
    let parts: Vec<&str> = token.split('.').collect();
    assert_eq!(parts.len(), 3, "a JWT has three parts: {token}");
    serde_json::from_slice(&decode(parts[index])).expect("JSON")
}

#[track_caller]
fn decode(text: &str) -> Vec<u8> {
    URL_SAFE_NO_PAD.decode(text).expect("base64url without padding")
}
