//! Sign-up: POST /auth/sign-up, its preview and its completion.

pub(crate) mod asking;
mod completing;
mod forsaken;
mod known;
mod limits;
mod refusals;
mod trust;
mod unproved;

use serde_json::{Value, json};
use tenant_auth_conformance::{App, Caller, PASSWORD, PUBLIC_URL, Request};
use tenant_auth_core::ports::Message;

/// Asks for a link.
pub(crate) fn ask(caller: &Caller, email: &str) -> Request {
    caller.post("/auth/sign-up", json!({ "email": email }))
}

/// The mails with a link to sign up with that an address was sent.
pub(crate) async fn sign_up_mails(app: &App, email: &str) -> Vec<Message> {
    app.mail_to(email).await.into_iter().filter(|mail| mail.text.contains("/sign-up#token=")).collect()
}

/// The token of the link in a mail.
#[track_caller]
pub(crate) fn token_in(mail: &Message) -> String {
    let beginning = format!("{PUBLIC_URL}/sign-up#token=");
    let (_, rest) = mail.text.split_once(&beginning).unwrap_or_else(|| panic!("no {beginning} in: {}", mail.text));
    rest.chars().take_while(|c| !c.is_whitespace()).collect()
}

/// Asks for a link and finds it in the mail.
pub(crate) async fn sign_up_token(app: &App, email: &str) -> String {
    ask(&nobody(app), email).await.expect(200);
    token_in(sign_up_mails(app, email).await.last().expect("a mail"))
}

/// Somebody of no organization.
pub(crate) fn nobody(app: &App) -> Caller {
    app.anonymous().without_slug()
}

pub(crate) fn preview(caller: &Caller, token: &str) -> Request {
    caller.post("/auth/sign-up/preview", json!({ "token": token }))
}

/// What a person without an account sends.
pub(crate) fn newcomer(token: &str, slug: &str) -> Value {
    json!({ "token": token, "organization": { "name": "Rockets", "slug": slug }, "name": "Rita", "password": PASSWORD })
}

/// What a person with an account sends.
pub(crate) fn holder(token: &str, slug: &str) -> Value {
    json!({ "token": token, "organization": { "name": "Rockets", "slug": slug }, "password": PASSWORD })
}

pub(crate) fn complete(caller: &Caller, body: Value) -> Request {
    caller.post("/auth/sign-up/complete", body)
}

/// Somebody without an account who made an organization, with a session in it.
pub(crate) async fn founded(app: &App, email: &str, slug: &str) -> Caller {
    let (token, founder) = (sign_up_token(app, email).await, nobody(app));
    complete(&founder, newcomer(&token, slug)).await.expect(201);
    founder.at_org(slug)
}
