//! Accounts: whatever changes how their owner is known ends the sessions of whoever else was in.

use serde_json::json;
use tenant_auth_conformance::{App, Caller, PASSWORD, Response};
use tenant_auth_core::value::Email;

use super::rows;
use crate::suite::{
    auth::sign_up::{complete, newcomer, nobody, sign_up_token},
    memory::deployment::{Question, at_each, at_each_and_by_command, is_valid, status, status_of},
    support::{
        account::{NEW, guard, mailed_token},
        authenticator::{Authenticator, SecondFactor},
    },
};

rows! {
    a_new_password_ends_the_other_sessions_everywhere: CredentialsChanged SessionEnded;
    a_password_set_by_a_link_ends_every_session_everywhere: CredentialsChanged SessionEnded;
    a_second_factor_ends_the_other_sessions_everywhere: CredentialsChanged SessionEnded;
    a_second_factor_removed_ends_the_other_sessions_everywhere: CredentialsChanged SessionEnded;
    a_second_factor_reset_ends_every_session_everywhere: CredentialsChanged SessionEnded;
    a_new_address_holds_everywhere: EmailChanged CredentialsChanged SessionEnded;
    a_given_address_ends_every_session_everywhere: EmailChanged CredentialsChanged SessionEnded;
    a_first_proof_by_an_invite_ends_every_session_everywhere: CredentialsChanged SessionEnded;
    a_first_proof_by_a_sign_up_ends_every_session_everywhere: CredentialsChanged SessionEnded;
    a_deleted_user_is_gone_everywhere: UserDeleted;
}

fn address(person: &Caller) -> Email {
    person.email().parse().expect("an address")
}

async fn a_new_password_ends_the_other_sessions_everywhere(app: &App) {
    at_each(app, async |site| {
        let other = site.person.elsewhere().logged_in().await;
        site.ends(async || status_of(other.via(site.server).change_password(PASSWORD, NEW)).await).await;
    })
    .await;
}

async fn a_password_set_by_a_link_ends_every_session_everywhere(app: &App) {
    at_each(app, async |site| {
        let anybody = site.server.anonymous();
        anybody.post("/auth/forgot-password", json!({ "email": site.person.email() })).await.expect(200);
        let token = mailed_token(app, site.person.email(), "reset").await;
        let body = json!({ "token": token, "newPassword": NEW });
        site.ends(async || status_of(anybody.post("/auth/reset-password", body.clone())).await).await;
    })
    .await;
}

async fn a_second_factor_ends_the_other_sessions_everywhere(app: &App) {
    at_each(app, async |site| {
        let other = site.person.elsewhere().logged_in().await.via(site.server);
        let setup = other.set_up(PASSWORD).await.expect_ok();
        let code = Authenticator::new(&setup["secret"]).code(app);
        site.ends(async || status_of(other.enable(&code)).await).await;
    })
    .await;
}

async fn a_second_factor_removed_ends_the_other_sessions_everywhere(app: &App) {
    at_each(app, async |mut site| {
        let authenticator = site.person.guard(app).await;
        let other = site.person.elsewhere().through(app, &authenticator).await.via(site.server);
        site.person = site.person.elsewhere().through(app, &authenticator).await;
        let code = authenticator.code_in(app, 1);
        site.ends(async || status_of(other.disable(PASSWORD, &code)).await).await;
    })
    .await;
}

async fn a_second_factor_reset_ends_every_session_everywhere(app: &App) {
    at_each_and_by_command(app, async |site| {
        guard(app, &site.person).await;
        let address = address(&site.person);
        site.ends(async || status(site.server.auth.operator().reset_second_factor(&address).await)).await;
    })
    .await;
}

async fn a_new_address_holds_everywhere(app: &App) {
    at_each(app, async |site| {
        let other = site.person.elsewhere().logged_in().await.via(site.server);
        let new = format!("new-{}", site.person.email());
        other.post("/auth/change-email", json!({ "newEmail": new, "password": PASSWORD })).await.expect(200);
        let token = mailed_token(app, &new, "change-email").await;
        let is_old = |answer: &Response| {
            let address = &answer.data()["user"]["email"];
            is_valid(answer) && !address.as_str().expect("an address").starts_with("new-")
        };
        let ask = [site.verifying(), site.verifying_of(&other)].concat();
        let confirming = async || status_of(other.post("/auth/change-email/confirm", json!({ "token": token }))).await;
        site.holds(Question { ask, is_old }, 200, confirming).await;
        assert!(!site.server.backend().finds_valid(&site.person.access_token()).await);
        assert!(site.server.backend().finds_valid(&other.access_token()).await, "whoever changed it stays in");
    })
    .await;
}

async fn a_given_address_ends_every_session_everywhere(app: &App) {
    at_each_and_by_command(app, async |site| {
        let from = address(&site.person);
        let to: Email = format!("owner-{from}").parse().expect("an address");
        site.ends(async || status(site.server.auth.operator().set_email(&from, &to).await)).await;
    })
    .await;
}

/// Somebody else made the account at the neighbour; then a mail reaches its owner.
async fn a_first_proof_by_an_invite_ends_every_session_everywhere(app: &App) {
    at_each(app, async |site| {
        let admin = app.other_org().admin().logged_in().await;
        let invite = app.invited(&admin, site.person.email()).await;
        let owner = app.other_org().device_of(site.person.person()).via(site.server);
        site.ends(async || status_of(owner.elsewhere().accept_with_account(&invite)).await).await;
    })
    .await;
}

/// Somebody else made the account; then its owner signs up.
async fn a_first_proof_by_a_sign_up_ends_every_session_everywhere(app: &App) {
    at_each(app, async |site| {
        let token = sign_up_token(app, site.person.email()).await;
        let slug = format!("rockets-{}", site.person.email().split('@').next().expect("a local part"));
        let question = Question { ask: site.verifying(), is_old: is_valid };
        let owner = nobody(site.server);
        site.holds(question, 201, async || status_of(complete(&owner, newcomer(&token, &slug))).await).await;
    })
    .await;
}

async fn a_deleted_user_is_gone_everywhere(app: &App) {
    at_each_and_by_command(app, async |site| {
        let address = address(&site.person);
        site.ends(async || status(site.server.auth.operator().delete_user(&address).await)).await;
    })
    .await;
}
