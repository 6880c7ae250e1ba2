//! What the suites about events and webhooks share: webhooks of an organization, and what was sent to them, its signature checked by
//! a library that shares no line with the product's.

use std::time::Duration;

use base64::{Engine, engine::general_purpose::STANDARD};
use serde_json::{Value, json};
use sqlx::{AssertSqlSafe, Connection, Executor, PgConnection, SqliteConnection};
use tenant_auth_conformance::{App, Caller, Request, id_of, shape};
use tenant_auth_core::{
    Error,
    ports::{RetryAfter, SendError, WebhookRequest, WebhookResponse},
};
use tokio::task::JoinHandle;

/// A receiver with a public address.
pub(crate) const RECEIVER: &str = "https://hooks.example.com/in";
/// Another one.
pub(crate) const ANOTHER: &str = "https://hooks.example.com/another";

/// A webhook, and what was shown of it.
#[derive(Debug, Clone)]
pub(crate) struct Hook {
    pub(crate) id: String,
    pub(crate) url: String,
    pub(crate) secret: String,
}

/// Asks for a webhook.
pub(crate) fn hooking(admin: &Caller, url: &str, events: &[&str]) -> Request {
    admin.post("/org/webhooks", json!({ "url": url, "events": events }))
}

impl Hook {
    /// Makes a webhook.
    pub(crate) async fn new(admin: &Caller, url: &str, events: &[&str]) -> Self {
        let data = hooking(admin, url, events).await.expect(201).data();
        assert_eq!(shape(&data), ["secret", "webhook"]);
        let text = |value: &Value| value.as_str().expect("a text").to_owned();
        Self { id: text(&data["webhook"]["id"]), url: text(&data["webhook"]["url"]), secret: text(&data["secret"]) }
    }

    /// Where it lies.
    pub(crate) fn path(&self) -> String {
        format!("/org/webhooks/{}", self.id)
    }

    /// Asks for a test delivery.
    pub(crate) fn testing(&self, admin: &Caller) -> Request {
        admin.post_nothing(&format!("{}/test", self.path()))
    }

    /// A test delivery; its id.
    pub(crate) async fn test(&self, admin: &Caller) -> String {
        id_of(&self.testing(admin).await.expect(202).data()["delivery"]).to_owned()
    }

    /// Asks for another secret.
    pub(crate) fn rotating(&self, admin: &Caller, overlap: u64) -> Request {
        admin.post(&format!("{}/rotate-secret", self.path()), json!({ "overlapSeconds": overlap }))
    }

    /// Another secret, beside which the current one signs for so many seconds.
    pub(crate) async fn rotated(&self, admin: &Caller, overlap: u64) -> String {
        let data = self.rotating(admin, overlap).await.expect_ok();
        assert_eq!(shape(&data), ["secret"]);
        data["secret"].as_str().expect("a secret").to_owned()
    }

    /// Switches it on or off.
    pub(crate) fn switching(&self, admin: &Caller, status: &str) -> Request {
        admin.patch(&self.path(), json!({ "status": status }))
    }

    /// Asks for a delivery to be made again.
    pub(crate) fn redelivering(&self, admin: &Caller, delivery: &str) -> Request {
        admin.post_nothing(&format!("{}/deliveries/{delivery}/redeliver", self.path()))
    }

    /// As an admin sees it now.
    pub(crate) async fn shown(&self, admin: &Caller) -> Value {
        admin.get(&self.path()).await.expect_ok()["webhook"].clone()
    }

    /// Its deliveries, as an admin sees them.
    pub(crate) async fn log(&self, admin: &Caller) -> Vec<Value> {
        let data = admin.get(&format!("{}/deliveries", self.path())).await.expect_ok();
        data["deliveries"].as_array().expect("a list").clone()
    }

    /// Its only delivery.
    pub(crate) async fn delivery(&self, admin: &Caller) -> Value {
        let mut log = self.log(admin).await;
        assert_eq!(log.len(), 1, "{log:#?}");
        log.remove(0)
    }

    /// What was sent to its URL so far.
    pub(crate) fn sent(&self, app: &App) -> Vec<WebhookRequest> {
        sent_to(app, &self.url)
    }

    /// Lets its receiver answer: the answers in turn, the last one for ever.
    pub(crate) fn answers(&self, app: &App, statuses: &[u16]) {
        statuses.iter().for_each(|status| app.webhooks.answer(&self.url, answer(*status)));
    }
}

/// What was sent to a URL so far.
pub(crate) fn sent_to(app: &App, url: &str) -> Vec<WebhookRequest> {
    app.webhooks.sent().into_iter().filter(|request| request.url.as_str() == url).collect()
}

/// An answer with this status and no wish.
pub(crate) fn answer(status: u16) -> Result<WebhookResponse, SendError> {
    Ok(WebhookResponse { status, retry_after: None })
}

/// An answer with this status that asks for patience.
pub(crate) fn later(status: u16, retry_after: RetryAfter) -> Result<WebhookResponse, SendError> {
    Ok(WebhookResponse { status, retry_after: Some(retry_after) })
}

/// A header's only value.
#[track_caller]
pub(crate) fn header<'a>(request: &'a WebhookRequest, name: &str) -> &'a str {
    let values: Vec<&str> = request.headers.iter().filter(|(have, _)| *have == name).map(|(_, value)| value.as_str()).collect();
    assert_eq!(values.len(), 1, "one {name}");
    values[0]
}

/// The event that was sent.
#[track_caller]
pub(crate) fn event_in(request: &WebhookRequest) -> Value {
    serde_json::from_str(&request.body).expect("a payload is JSON")
}

/// What Standard Webhooks takes for the key of a `whs_` secret.
#[track_caller]
pub(crate) fn verifier(secret: &str) -> standardwebhooks::Webhook {
    let encoded = secret.strip_prefix("whs_").expect("a secret begins with whs_");
    let key = STANDARD.decode(encoded).expect("padded standard base64");
    assert_eq!(key.len(), 32, "256 random bits");
    standardwebhooks::Webhook::from_bytes(key).expect("a key")
}

/// Whether one of a delivery's signatures is this secret's.
#[track_caller]
pub(crate) fn is_signed_with(request: &WebhookRequest, secret: &str) -> bool {
    let timestamp = header(request, "webhook-timestamp").parse().expect("seconds");
    let expected = verifier(secret).sign(header(request, "webhook-id"), timestamp, request.body.as_bytes()).expect("signed");
    header(request, "webhook-signature").split(' ').any(|signature| signature == expected)
}

/// How many signatures a delivery carries.
#[track_caller]
pub(crate) fn signatures(request: &WebhookRequest) -> usize {
    header(request, "webhook-signature").split(' ').count()
}

/// The webhooks, as an admin sees them.
pub(crate) async fn webhooks(admin: &Caller) -> Vec<Value> {
    let data = admin.get("/org/webhooks").await.expect_ok();
    assert_eq!(shape(&data), ["webhooks"]);
    data["webhooks"].as_array().expect("a list").clone()
}

/// No route knows the webhook.
pub(crate) async fn expect_unknown(admin: &Caller, hook: &Hook, delivery: &str) {
    for request in [
        admin.get(&hook.path()),
        admin.patch(&hook.path(), json!({ "description": "x" })),
        admin.delete(&hook.path()),
        hook.testing(admin),
        hook.rotating(admin, 0),
        admin.get(&format!("{}/deliveries", hook.path())),
        hook.redelivering(admin, delivery),
    ] {
        request.await.expect_error(404, "not_found");
    }
}

/// Lets a worker do what is due, beside the scenario.
pub(crate) fn ticking(app: &App) -> JoinHandle<Result<(), Error>> {
    let worker = app.auth.worker();
    tokio::spawn(async move { worker.tick().await })
}

/// Waits until so many requests were sent to a URL; the scenario's deadline bounds it.
pub(crate) async fn until_sent(app: &App, url: &str, count: usize) {
    while sent_to(app, url).len() < count {
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
}

/// The texts a query finds in the database.
pub(crate) async fn texts_in(app: &App, query: &str) -> Vec<String> {
    let query = sqlx::AssertSqlSafe(query.to_owned());
    match app.database().url() {
        Some(url) => {
            let mut connection = PgConnection::connect(&url).await.expect("it answers");
            sqlx::query_scalar(query).fetch_all(&mut connection).await.expect("texts")
        }
        None => sqlx::query_scalar(query).fetch_all(&mut sqlite(app).await).await.expect("texts"),
    }
}

/// Tampers with the database.
pub(crate) async fn run_sql(app: &App, statement: &str) {
    let statement = AssertSqlSafe(statement.to_owned());
    match app.database().url() {
        Some(url) => drop(PgConnection::connect(&url).await.expect("it answers").execute(statement).await.expect("done")),
        None => drop(sqlite(app).await.execute(statement).await.expect("done")),
    }
}

async fn sqlite(app: &App) -> SqliteConnection {
    let files = app.database().files();
    let file = files.iter().find(|file| file.extension().is_some_and(|end| end == "db")).expect("a file");
    SqliteConnection::connect(&format!("sqlite://{}", file.display())).await.expect("it opens")
}
