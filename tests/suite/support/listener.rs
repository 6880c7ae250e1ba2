//! A subscriber to all events of one organization, which checks on each event what all events have in common (behaviour.md, B94).

use serde_json::{Value, json};
use tenant_auth_conformance::{App, Caller, jwt, shape};

use crate::suite::support::hooks::{Hook, event_in};

/// What is done to webhooks is selected by name alone.
const EVERYTHING: [&str; 5] = ["*", "webhook.created", "webhook.updated", "webhook.deleted", "webhook.secret_rotated"];

/// Hears every event of an organization.
pub(crate) struct Listener<'a> {
    app: &'a App,
    slug: String,
    pub(crate) hook: Hook,
    heard: usize,
    sequence: Option<i64>,
}

impl<'a> Listener<'a> {
    /// Hears what happens at `acme` from now on.
    pub(crate) async fn new(app: &'a App, admin: &Caller) -> Self {
        Self::at(app, admin, "acme").await
    }

    /// Hears what happens in the admin's organization from now on.
    pub(crate) async fn at(app: &'a App, admin: &Caller, slug: &str) -> Self {
        app.tick().await;
        let hook = Hook::new(admin, &format!("https://hooks.example.com/{slug}"), &EVERYTHING).await;
        let heard = hook.sent(app).len();
        Self { app, slug: slug.to_owned(), hook, heard, sequence: None }
    }

    /// What has happened since the last question, in order.
    pub(crate) async fn heard(&mut self) -> Vec<Value> {
        self.app.tick().await;
        let sent = self.hook.sent(self.app);
        let mut events: Vec<Value> = sent[self.heard..].iter().map(event_in).collect();
        self.heard = sent.len();
        events.sort_by_key(|event| event["sequence"].as_i64());
        for event in &events {
            self.expect_frame(event);
        }
        events
    }

    /// The only thing that has happened since the last question, which is of this kind: who did it, and its data.
    pub(crate) async fn only(&mut self, kind: &str) -> (Value, Value) {
        let events = self.heard().await;
        assert_eq!(kinds(&events), [kind], "{events:#?}");
        (events[0]["actor"].clone(), events[0]["data"].clone())
    }

    /// How many events of the organization go to other webhooks only, before the next one arrives here.
    pub(crate) fn misses(&mut self, count: i64) {
        self.sequence = self.sequence.map(|sequence| sequence + count);
    }

    /// Nothing has happened since the last question.
    pub(crate) async fn nothing(&mut self) {
        let events = self.heard().await;
        assert!(events.is_empty(), "{events:#?}");
    }

    fn expect_frame(&mut self, event: &Value) {
        let mut frame = vec!["actor", "data", "id", "org", "sequence", "timestamp", "type"];
        if event["data"].is_null() {
            frame.insert(2, "erased");
        }
        assert_eq!(shape(event), frame);
        assert!(event["id"].as_str().is_some_and(|id| id.starts_with("evt_") && id.len() == 30), "{event}");
        assert_eq!(shape(&event["org"]), ["id", "slug"]);
        assert!(event["org"]["id"].as_str().is_some_and(|id| id.starts_with("org_")), "{event}");
        assert_eq!(event["org"]["slug"], self.slug, "another organization's");
        assert!(event["timestamp"].as_str().is_some_and(|time| time.len() == 24 && time.ends_with('Z')), "{event}");
        assert_eq!(shape(&event["actor"]), ["id", "type"]);
        match event["actor"]["type"].as_str() {
            Some("user") => assert!(event["actor"]["id"].as_str().is_some_and(|id| id.starts_with("usr_")), "{event}"),
            Some("deployment_key") => {
                assert!(event["actor"]["id"].as_str().is_some_and(|id| id.starts_with("dpk_")), "{event}");
            }
            Some("system") => assert_eq!(event["actor"]["id"], Value::Null),
            _ => panic!("whose? {event}"),
        }
        let sequence = event["sequence"].as_i64().expect("a number");
        if let Some(before) = self.sequence {
            assert_eq!(sequence, before + 1, "without a gap");
        }
        self.sequence = Some(sequence);
    }
}

/// The kinds of events, in order.
pub(crate) fn kinds(events: &[Value]) -> Vec<&str> {
    events.iter().map(|event| event["type"].as_str().expect("a kind")).collect()
}

/// The data of the only event of a kind.
#[track_caller]
pub(crate) fn data_of(events: &[Value], kind: &str) -> Value {
    let of_kind: Vec<&Value> = events.iter().filter(|event| event["type"] == kind).collect();
    assert_eq!(of_kind.len(), 1, "one {kind} in {:?}", kinds(events));
    of_kind[0]["data"].clone()
}

/// A person, as an actor.
pub(crate) fn user(person: &Caller) -> Value {
    json!({ "type": "user", "id": person.id() })
}

/// The operator, or the service itself.
pub(crate) fn system() -> Value {
    json!({ "type": "system", "id": null })
}

/// The id of the session a caller holds.
pub(crate) fn session_of(caller: &Caller) -> String {
    jwt::claims(&caller.access_token())["sid"].as_str().expect("a session").to_owned()
}
