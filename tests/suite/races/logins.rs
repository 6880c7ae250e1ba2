//! Logins during the changes that they have to be judged by: whoever comes once a change is acknowledged is refused. On PostgreSQL a login
//! may wait for a lock meanwhile, and is judged by what it finds when it has it; SQLite has one writer, and who waits for it has read
//! nothing yet.

use std::future::IntoFuture;

use serde_json::{Value, json};
use sqlx::Connection;
use tenant_auth_conformance::{App, Caller, HeldConnection, PASSWORD, Request, Response, hold_sql, rounds, scenarios};
use tokio::task::JoinHandle;

use super::second_server;
use crate::suite::{
    auth::sign_up::{complete, holder, nobody, sign_up_token},
    storage::locks::{HOLD_ACCOUNT, HOLD_CHAIN, HOLD_MEMBERSHIP, holding, so_many_wait, texts},
    support::{
        account::{guard, in_both},
        authenticator::SecondFactor,
        listener::kinds,
        stored::events_of,
    },
};

scenarios![on each database:
    nobody_enters_once_the_organization_is_suspended,
    a_login_that_waits_for_a_suspension_is_refused,
    a_login_that_waits_for_a_removal_is_refused,
    a_login_that_waits_for_a_password_change_is_refused,
    a_login_that_waits_while_its_organization_is_suspended_is_refused,
    a_login_that_waits_for_the_suspension_of_its_organization_is_refused,
    a_login_that_ends_an_older_session_and_waits_for_the_suspension_is_refused,
    a_login_holds_its_membership_before_its_account,
    nobody_is_told_of_a_recovery_code_after_the_person_was_removed,
    nobody_is_told_of_a_founders_recovery_code_after_the_founder_was_removed,
];

/// Whoever changes something waits for this with all of its locks, for a commit takes the heads of the logs last.
const HOLD_LOGS: &str = "BEGIN; SELECT org_id FROM tenant_auth_event_sequences FOR UPDATE";
const FREE_ACCOUNT: &str = "SELECT id FROM tenant_auth_users WHERE id = $1 FOR UPDATE SKIP LOCKED";
const FREE_MEMBERSHIP: &str = "SELECT id FROM tenant_auth_memberships WHERE user_id = $1 FOR UPDATE SKIP LOCKED";

fn sent(request: impl IntoFuture<Output = Response, IntoFuture: Send + 'static>) -> JoinHandle<Response> {
    tokio::spawn(request.into_future())
}

/// The answer to a login that came while a change waited for its commit, once the change is acknowledged.
async fn login_behind(url: &str, logs: HeldConnection, change: JoinHandle<Response>, latecomer: &Caller) -> Response {
    so_many_wait(url, 1).await;
    let login = sent(latecomer.login());
    so_many_wait(url, 2).await;
    drop(logs);
    change.await.expect("it was answered").expect(200);
    login.await.expect("it was answered")
}

async fn nobody_enters_once_the_organization_is_suspended(app: &App) {
    let other = second_server(app).await;
    for _ in 0..rounds() {
        let racing = app.member().via(&other);
        let login = sent(racing.login());
        app.org().suspend().await;
        let login = login.await.expect("it was answered");
        if login.status == 200 {
            racing.get("/org").await.expect_error(403, "suspended");
            racing.refresh().await.expect(401);
        } else {
            login.expect_error(403, "suspended");
        }
        for late in [app.member(), app.member().via(&other)] {
            late.login().await.expect_error(403, "suspended");
        }
        app.org().reactivate().await;
    }
}

async fn a_login_that_waits_for_a_suspension_is_refused(app: &App) {
    let Some(url) = app.database().url() else { return };
    let (other, admin) = (second_server(app).await, app.admin().logged_in().await);
    let logs = hold_sql(&url, HOLD_LOGS).expect("the logs are free");
    let change = sent(admin.set_status(app.member().id(), "suspended"));
    login_behind(&url, logs, change, &app.member().via(&other)).await.expect_error(403, "suspended");
}

async fn a_login_that_waits_for_a_removal_is_refused(app: &App) {
    let Some(url) = app.database().url() else { return };
    let (other, admin) = (second_server(app).await, app.admin().logged_in().await);
    let logs = hold_sql(&url, HOLD_LOGS).expect("the logs are free");
    let change = sent(admin.remove(app.member().id()));
    login_behind(&url, logs, change, &app.member().via(&other)).await.expect_error(403, "not_a_member");
}

async fn a_login_that_waits_for_a_password_change_is_refused(app: &App) {
    let Some(url) = app.database().url() else { return };
    let (other, owner) = (second_server(app).await, app.member().logged_in().await);
    let logs = hold_sql(&url, HOLD_LOGS).expect("the logs are free");
    let change = sent(owner.change_password(PASSWORD, "velvet-anchor-93-comet"));
    login_behind(&url, logs, change, &app.member().via(&other)).await.expect(401);
    owner.get("/org").await.expect(200);
}

async fn a_login_that_waits_while_its_organization_is_suspended_is_refused(app: &App) {
    let Some(url) = app.database().url() else { return };
    let other = second_server(app).await;
    let member = holding(&url, HOLD_MEMBERSHIP, app.member().id()).await;
    let login = sent(app.member().via(&other).login());
    so_many_wait(&url, 1).await;
    app.org().suspend().await;
    member.close().await.expect("the row is free");
    login.await.expect("it was answered").expect_error(403, "suspended");
}

async fn a_login_that_waits_for_the_suspension_of_its_organization_is_refused(app: &App) {
    let Some(url) = app.database().url() else { return };
    let other = second_server(app).await;
    login_behind_suspension(&url, app, &app.member().via(&other)).await.expect_error(403, "suspended");
}

async fn a_login_that_ends_an_older_session_and_waits_for_the_suspension_is_refused(app: &App) {
    let Some(url) = app.database().url() else { return };
    let other = app.beside(|setup| setup.config.sessions.max_per_user = 1).await;
    let older = app.member().via(&other).logged_in().await;
    login_behind_suspension(&url, app, &app.member().via(&other)).await.expect_error(403, "suspended");
    app.org().reactivate().await;
    older.get("/org").await.expect(200);
}

/// The answer to a login that waits for the logs behind the suspension of its organization.
async fn login_behind_suspension(url: &str, app: &App, latecomer: &Caller) -> Response {
    let org = app.org();
    let logs = hold_sql(url, HOLD_LOGS).expect("the logs are free");
    let logging_in = async {
        so_many_wait(url, 1).await;
        let login = sent(latecomer.login());
        so_many_wait(url, 2).await;
        drop(logs);
        login.await.expect("it was answered")
    };
    let ((), login) = tokio::join!(org.suspend(), logging_in);
    login
}

async fn a_login_holds_its_membership_before_its_account(app: &App) {
    let Some(url) = app.database().url() else { return };
    let id = app.member().id().to_owned();
    let account = holding(&url, HOLD_ACCOUNT, &id).await;
    let login = sent(app.member().login());
    so_many_wait(&url, 1).await;
    assert_eq!(texts(&url, FREE_MEMBERSHIP, &id).await, Vec::<String>::new());
    account.close().await.expect("the row is free");
    login.await.expect("it was answered").expect(200);
    let membership = holding(&url, HOLD_MEMBERSHIP, &id).await;
    let login = sent(app.member().login());
    so_many_wait(&url, 1).await;
    assert_eq!(texts(&url, FREE_ACCOUNT, &id).await, [id]);
    membership.close().await.expect("the row is free");
    login.await.expect("it was answered").expect(200);
}

/// The answer to whoever enters a recovery code while the removal from an organization waits for its log.
async fn entered_behind_removal(url: &str, slug: &str, removal: Request, entering: Request) -> Response {
    let log = holding(url, HOLD_CHAIN, slug).await;
    let removal = sent(removal);
    so_many_wait(url, 1).await;
    let entering = sent(entering);
    so_many_wait(url, 2).await;
    log.close().await.expect("the log is free");
    removal.await.expect("it was answered").expect(200);
    entering.await.expect("it was answered")
}

/// The kinds of what an organization was told of whoever was removed, from then on.
fn since_removal(events: &[Value]) -> Vec<&str> {
    kinds(events).into_iter().skip_while(|kind| *kind != "member.removed").collect()
}

async fn nobody_is_told_of_a_recovery_code_after_the_person_was_removed(app: &App) {
    let Some(url) = app.database().url() else { return };
    let (other, greta) = (second_server(app).await, app.other_org().admin().logged_in().await);
    let (max, _) = in_both(app).await;
    let guarded = guard(app, &max).await;
    let device = app.member().via(&other).waiting().await;
    let entering = device.enter(&guarded.recovery_codes[0]);
    entered_behind_removal(&url, "globex", greta.remove(max.id()), entering).await.expect(200);
    let (here, there) = (events_of(app, "acme").await, events_of(app, "globex").await);
    assert!(kinds(&here).contains(&"user.recovery_code_used"), "{here:#?}");
    assert_eq!(since_removal(&there), ["member.removed"]);
}

async fn nobody_is_told_of_a_founders_recovery_code_after_the_founder_was_removed(app: &App) {
    let Some(url) = app.database().url() else { return };
    let (other, admin, max) = (second_server(app).await, app.admin().logged_in().await, app.member().logged_in().await);
    let guarded = guard(app, &max).await;
    let token = sign_up_token(app, max.email()).await;
    let mut body = holder(&token, "rockets");
    body["code"] = json!(guarded.recovery_codes[0]);
    let entering = complete(&nobody(&other), body);
    entered_behind_removal(&url, "acme", admin.remove(max.id()), entering).await.expect(201);
    let (new, old) = (events_of(app, "rockets").await, events_of(app, "acme").await);
    assert_eq!(kinds(&new), ["org.created", "member.joined", "session.created", "user.recovery_code_used"]);
    assert_eq!(since_removal(&old), ["member.removed"]);
    let mails = app.mail_to(max.email()).await;
    assert_eq!(mails.iter().filter(|mail| mail.kind == "recovery_code_used").count(), 1);
}
