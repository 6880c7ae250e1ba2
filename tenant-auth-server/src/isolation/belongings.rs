//! What an organization has: the ids to ask for, and the texts by which an answer gives away that it holds something of it. Both are
//! read with the organization's own credentials.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::{
    ask::{Ask, Service},
    operations::Operation,
    side::Side,
};
use crate::failure::Failure;

/// An id that is well-formed and nobody's.
const NOBODYS: &str = "00000000000000000000000000";

/// What an organization has, as far as its first pages of 1,000 show it.
#[derive(Debug)]
pub(super) struct Belongings {
    slug: String,
    /// A member's entry; null without one that is this organization's alone.
    members: Vec<Value>,
    invites: Vec<Value>,
    api_keys: Vec<Value>,
    webhooks: Vec<Value>,
    /// The first webhook that has one, and its first delivery.
    delivery: Option<[String; 2]>,
    sessions: Vec<Value>,
    /// Ids, addresses and URLs.
    marks: BTreeSet<String>,
    /// Access tokens of the organization's people.
    tokens: Vec<String>,
}

/// Reads them.
///
/// # Errors
/// [`Failure::Unchecked`] when the organization's own credentials do not read them.
pub(super) async fn of(service: &Service, side: &Side) -> Result<Belongings, Failure> {
    let read = async |path: &str| {
        let what = format!("{}: GET {path} with the session of its org_admin", side.slug);
        service.data(&side.at_home(Ask::new("GET", path), &side.admin), &what).await
    };
    let list = async |path: &str, name: &str| Ok::<_, Failure>(entries(&read(&format!("{path}?limit=1000")).await?, name));
    let webhooks = list("/org/webhooks", "webhooks").await?;
    let mut delivery = None;
    for webhook in webhooks.iter().filter_map(|webhook| webhook["id"].as_str()) {
        let deliveries = list(&format!("/org/webhooks/{webhook}/deliveries"), "deliveries").await?;
        delivery = deliveries.first().and_then(|first| Some([webhook.to_owned(), first["id"].as_str()?.to_owned()]));
        if delivery.is_some() {
            break;
        }
    }
    let mut found = Belongings {
        slug: side.slug.clone(),
        members: list("/org/members", "members").await?,
        invites: list("/org/invites", "invites").await?,
        api_keys: list("/org/api-keys", "apiKeys").await?,
        webhooks,
        delivery,
        sessions: list("/auth/sessions", "sessions").await?,
        marks: BTreeSet::new(),
        tokens: [Some(&side.admin), side.member.as_ref()].into_iter().flatten().map(|session| session.token.clone()).collect(),
    };
    let mut marks = BTreeSet::new();
    mark(&read("/org").await?, &mut marks);
    for entry in [&found.members, &found.invites, &found.api_keys, &found.webhooks, &found.sessions].into_iter().flatten() {
        mark(entry, &mut marks);
    }
    marks.extend(found.delivery.iter().flatten().cloned());
    found.marks = marks;
    Ok(found)
}

impl Belongings {
    /// What is this organization's and not the other's: people may belong to both.
    pub(super) fn beyond(&self, other: &Self) -> Self {
        let marks: BTreeSet<String> = self.marks.difference(&other.marks).cloned().collect();
        let own = |entries: &[Value]| {
            let is_own = |entry: &&Value| id_in(entry).is_some_and(|id| marks.contains(id));
            entries.iter().filter(is_own).cloned().collect()
        };
        Self {
            slug: self.slug.clone(),
            members: own(&self.members),
            invites: own(&self.invites),
            api_keys: own(&self.api_keys),
            webhooks: own(&self.webhooks),
            delivery: self.delivery.clone(),
            sessions: own(&self.sessions),
            tokens: self.tokens.clone(),
            marks,
        }
    }

    /// The texts that no answer to a stranger holds.
    pub(super) fn marks(&self) -> impl Iterator<Item = &str> {
        self.marks.iter().map(String::as_str)
    }

    /// The access tokens of the organization's people.
    pub(super) fn tokens(&self) -> &[String] {
        &self.tokens
    }

    /// The operation's path with ids of this organization; nobody's where it has nothing of the kind.
    pub(super) fn fill(&self, operation: &Operation) -> String {
        let first = |entries: &[Value]| entries.first().and_then(id_in).map(str::to_owned);
        let real = |id: Option<String>, prefix: &str| id.unwrap_or_else(|| format!("{prefix}_{NOBODYS}"));
        let segments: Vec<String> = operation
            .path
            .split('/')
            .map(|segment| match (segment, operation.path.as_str()) {
                ("{userId}", _) => real(first(&self.members), "usr"),
                ("{invite}", _) => real(first(&self.invites), "inv"),
                ("{slug}", _) => self.slug.clone(),
                ("{deliveryId}", _) => real(self.delivery.as_ref().map(|[_, id]| id.clone()), "dlv"),
                ("{id}", path) if path.starts_with("/auth/sessions/") => real(first(&self.sessions), "ses"),
                ("{id}", path) if path.starts_with("/org/api-keys/") => real(first(&self.api_keys), "key"),
                ("{id}", path) if path.contains("/deliveries/") && self.delivery.is_some() => {
                    self.delivery.as_ref().map(|[webhook, _]| webhook.clone()).unwrap_or_default()
                }
                ("{id}", path) if path.starts_with("/org/webhooks/") => real(first(&self.webhooks), "whk"),
                (segment, _) if segment.starts_with('{') => real(None, "org"),
                (segment, _) => segment.to_owned(),
            })
            .collect();
        segments.join("/")
    }

    /// The same path with ids that are nobody's.
    pub(super) fn fill_with_nobodys(operation: &Operation) -> String {
        let nobody = Self {
            slug: "nobodys-at-all".to_owned(),
            members: Vec::new(),
            invites: Vec::new(),
            api_keys: Vec::new(),
            webhooks: Vec::new(),
            delivery: None,
            sessions: Vec::new(),
            marks: BTreeSet::new(),
            tokens: Vec::new(),
        };
        nobody.fill(operation)
    }

    /// What it has nothing of, so that no id of it could be tried.
    pub(super) fn wanting(&self) -> Vec<&'static str> {
        let kinds = [
            ("member of its own", self.members.is_empty()),
            ("pending invite", self.invites.is_empty()),
            ("API key", self.api_keys.is_empty()),
            ("webhook", self.webhooks.is_empty()),
            ("delivery", self.delivery.is_none()),
            ("session", self.sessions.is_empty()),
        ];
        kinds.into_iter().filter(|(_, is_wanting)| *is_wanting).map(|(kind, _)| kind).collect()
    }

    /// The first member's entry, to state what is true already.
    pub(super) fn member(&self) -> Value {
        self.members.first().cloned().unwrap_or_else(|| json!({ "metadata": {}, "role": "member", "status": "active" }))
    }
}

fn entries(data: &Value, name: &str) -> Vec<Value> {
    data[name].as_array().cloned().unwrap_or_default()
}

/// A member's entry is known by the account, each other by its own id.
fn id_in(entry: &Value) -> Option<&str> {
    entry["userId"].as_str().or_else(|| entry["user"]["id"].as_str()).or_else(|| entry["id"].as_str())
}

/// Collects every id, address and URL. Names are no marks: two organizations may have the same.
fn mark(value: &Value, marks: &mut BTreeSet<String>) {
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                match value {
                    Value::String(text) if is_marking(name) && text.len() > 3 => {
                        marks.insert(text.clone());
                    }
                    _ => mark(value, marks),
                }
            }
        }
        Value::Array(items) => items.iter().for_each(|item| mark(item, marks)),
        _ => {}
    }
}

fn is_marking(name: &str) -> bool {
    matches!(name, "id" | "userId" | "email" | "url" | "appUrl" | "prefix")
}
