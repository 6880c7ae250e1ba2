//! What no request shows, read from the database itself: events as they wait for their subscribers, and who is an operator.

use serde_json::Value;
use sqlx::{Connection, PgConnection, Row, SqliteConnection};
use tenant_auth_conformance::App;
use tenant_auth_core::Timestamp;

use crate::suite::support::hooks::run_sql;

const EVENTS: &str = "
    SELECT '{\"id\":\"' || e.id || '\",\"type\":\"' || e.kind || '\",\"timestamp\":' || e.created_at || ',\"sequence\":' || e.sequence
           || ',\"org\":{\"id\":\"' || o.id || '\",\"slug\":\"' || o.slug || '\"},\"actor\":{\"type\":\"' || e.actor_type || '\",\"id\":'
           || COALESCE('\"' || e.actor_id || '\"', 'null') || '},\"data\":' || e.data || '}'
      FROM tenant_auth_events e
      JOIN tenant_auth_organizations o ON o.id = e.org_id
     WHERE o.slug = $1
     ORDER BY e.sequence";
const GIVE_ADDRESS: &str = "UPDATE tenant_auth_users SET email = $1, email_key = $1 WHERE id = $2";
const END_INVITE: &str = "UPDATE tenant_auth_invites SET expires_at = 0 WHERE email_key = $1";
const FORGET_PROOF: &str = "UPDATE tenant_auth_users SET is_email_verified = FALSE WHERE id = $1";
const WITH_ANOTHER_ROLE: &str = "SELECT email FROM tenant_auth_users WHERE role <> $1 ORDER BY email";

/// Each event of an organization as its payload tells it, in order.
pub(crate) async fn events_of(app: &App, slug: &str) -> Vec<Value> {
    let events = texts(app, EVENTS, slug).await;
    let told = |event: &String| {
        let mut event: Value = serde_json::from_str(event).expect("JSON");
        event["timestamp"] = Timestamp::from_millis(event["timestamp"].as_i64().expect("milliseconds")).to_iso().into();
        event
    };
    events.iter().map(told).collect()
}

/// The address of everybody whose account has any other role than everybody's.
pub(crate) async fn operators(app: &App) -> Vec<String> {
    texts(app, WITH_ANOTHER_ROLE, "user").await
}

/// Gives an account another address, a lower-case one, behind the service's back: what was mailed to the former one stays.
pub(crate) async fn give_address(app: &App, user_id: &str, address: &str) {
    change(app, GIVE_ADDRESS, &[address, user_id]).await;
}

/// Leaves a person's address as `user create` does: proved by nobody.
pub(crate) async fn forget_proof(app: &App, user_id: &str) {
    change(app, FORGET_PROOF, &[user_id]).await;
}

/// Ends an invite as the end of its deployment key does, and leaves untold that it ended.
pub(crate) async fn end_invite(app: &App, address: &str) {
    change(app, END_INVITE, &[address]).await;
}

async fn change(app: &App, sql: &'static str, values: &[&str]) {
    match app.database().url() {
        Some(url) => {
            let mut connection = PgConnection::connect(&url).await.expect("it answers");
            let query = values.iter().fold(sqlx::query(sql), |query, value| query.bind(*value));
            query.execute(&mut connection).await.expect("it can be changed");
        }
        None => {
            let mut connection = SqliteConnection::connect(&file_url(app)).await.expect("it opens");
            let query = values.iter().fold(sqlx::query(sql), |query, value| query.bind(*value));
            query.execute(&mut connection).await.expect("it can be changed");
        }
    }
}

/// The URL of a SQLite database.
pub(crate) fn file_url(app: &App) -> String {
    let file = app.database().files().into_iter().find(|file| file.extension().is_some_and(|extension| extension == "db"));
    format!("sqlite://{}", file.expect("a database").display())
}

/// The first column of each row.
async fn texts(app: &App, sql: &'static str, parameter: &str) -> Vec<String> {
    match app.database().url() {
        Some(url) => {
            let mut connection = PgConnection::connect(&url).await.expect("it answers");
            let rows = sqlx::query(sql).bind(parameter).fetch_all(&mut connection).await.expect("rows");
            rows.iter().map(|row| row.get(0)).collect()
        }
        None => {
            let mut connection = SqliteConnection::connect(&file_url(app)).await.expect("it opens");
            let rows = sqlx::query(sql).bind(parameter).fetch_all(&mut connection).await.expect("rows");
            rows.iter().map(|row| row.get(0)).collect()
        }
    }
}

/// As if an hour had passed for the rates of what is told to others, and for nothing else.
pub(crate) async fn forget_rates(app: &App) {
    let told = "key LIKE 'notices:%' OR key LIKE 'email-changes:%' OR key LIKE 'invites-to-address%'";
    let signed_up = "key LIKE 'sign-up%' OR key LIKE 'mail:sign_up:%'";
    run_sql(app, &format!("DELETE FROM tenant_auth_throttles WHERE {told} OR {signed_up}")).await;
}

/// The one number that a statement reads.
pub(crate) async fn number(app: &App, sql: &'static str) -> i64 {
    match app.database().url() {
        Some(url) => {
            let mut connection = PgConnection::connect(&url).await.expect("it answers");
            sqlx::query_scalar(sql).fetch_one(&mut connection).await.expect("a number")
        }
        None => {
            let mut connection = SqliteConnection::connect(&file_url(app)).await.expect("it opens");
            sqlx::query_scalar(sql).fetch_one(&mut connection).await.expect("a number")
        }
    }
}
