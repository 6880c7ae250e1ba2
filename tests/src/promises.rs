//! OpenAPI conformance: what the document promises of an answer, held against each answer that comes back: status, type, headers
//! and body. An independent validator judges the bodies, more strictly than clients may: a field that the document does not name is
//! a mistake, too. What webhooks send is held against the schema of its kind in the same way.

use std::{
    collections::{BTreeMap, HashMap},
    sync::LazyLock,
};

use jsonschema::Validator;
use serde_json::{Map, Value, json};

use crate::{BASE, Request, Response, routes};

/// The headers that an operation promises or leaves out; the others come with every answer.
const PROMISED: [&str; 4] = ["Set-Cookie", "Retry-After", "Allow", "WWW-Authenticate"];

static DOCUMENT: LazyLock<Value> = LazyLock::new(|| tenant_auth_core::http::openapi::document(BASE));
static PROMISES: LazyLock<HashMap<Answer, Promise>> = LazyLock::new(promises);

static EVENTS: LazyLock<HashMap<String, Validator>> = LazyLock::new(events);

/// Method, path template and status.
type Answer = (&'static str, &'static str, u16);

struct Promise {
    content_type: String,
    body: Validator,
    /// By name, whether it must be there.
    headers: BTreeMap<String, bool>,
}

/// The document.
pub fn document() -> &'static Value {
    &DOCUMENT
}

/// What is not as promised. Nothing is promised of what no row answers.
pub(crate) fn broken(request: &Request, response: &Response) -> Vec<String> {
    let row = request.path.strip_prefix(BASE).and_then(|path| routes::row_for(&request.method, path));
    let Some(row) = row else { return Vec::new() };
    let Some(promise) = PROMISES.get(&(row.method.as_str(), row.template.as_str(), response.status)) else {
        return vec![format!("the document does not promise {} for {} {}", response.status, row.method, row.template)];
    };
    let mut broken = promise.headers_broken(response);
    if !promise.is_of_type(response) {
        broken.push(format!("the document promises {}", promise.content_type));
    }
    if request.method != "HEAD" {
        let text = Value::String(response.body.clone());
        let body = if promise.content_type == "application/json" { response.json() } else { &text };
        let errors = promise.body.iter_errors(body).map(|error| format!("the document promises otherwise: {error}"));
        broken.extend(errors);
    }
    broken
}

impl Promise {
    fn of(response: &Value) -> Self {
        let response = resolved(response);
        let content = response["content"].as_object().and_then(|content| content.iter().next());
        let (content_type, content) = content.expect("a content");
        let mut schema = inlined(&content["schema"], false);
        // The schema of errors is one for all; which codes an operation has stands beside it.
        if let Some(codes) = response.get("x-codes") {
            schema["properties"]["code"] = json!({ "enum": codes });
        }
        let headers = response["headers"].as_object().into_iter().flatten();
        Self {
            content_type: content_type.clone(),
            body: jsonschema::validator_for(&schema).expect("a schema"),
            headers: headers.map(|(name, header)| (name.clone(), resolved(header)["required"] == true)).collect(),
        }
    }

    /// Whether the answer has the media type, or one of its range (`image/*`).
    fn is_of_type(&self, response: &Response) -> bool {
        let sent = response.headers_named("Content-Type");
        match self.content_type.strip_suffix('*') {
            Some(range) => sent.len() == 1 && sent[0].starts_with(range),
            None => sent == [self.content_type.as_str()],
        }
    }

    fn headers_broken(&self, response: &Response) -> Vec<String> {
        let mut broken = Vec::new();
        for name in PROMISED {
            match (self.headers.get(name), response.headers_named(name).is_empty()) {
                (None, false) => broken.push(format!("the document does not promise {name}")),
                (Some(true), true) => broken.push(format!("the document promises {name}")),
                _ => {}
            }
        }
        broken
    }
}

fn promises() -> HashMap<Answer, Promise> {
    let mut promises = HashMap::new();
    for row in routes::table() {
        let responses = &document()["paths"][&row.template][row.method.to_lowercase()]["responses"];
        for (status, response) in responses.as_object().into_iter().flatten() {
            let status = status.parse().expect("a status");
            promises.insert((row.method.as_str(), row.template.as_str(), status), Promise::of(response));
        }
    }
    promises
}

/// What is not as the document promises of an event of its kind.
pub fn broken_by_event(event: &Value) -> Vec<String> {
    let kind = event["type"].as_str().unwrap_or_default();
    let Some(validator) = EVENTS.get(kind) else { return vec![format!("the document has no event {kind:?}")] };
    validator.iter_errors(event).map(|error| format!("the document promises otherwise of {kind}: {error}")).collect()
}

fn events() -> HashMap<String, Validator> {
    let kinds = document()["webhooks"].as_object().into_iter().flatten();
    let validator = |(kind, item): (&String, &Value)| {
        let schema = inlined(&item["post"]["requestBody"]["content"]["application/json"]["schema"], false);
        (kind.clone(), jsonschema::validator_for(&schema).expect("a schema"))
    };
    kinds.map(validator).collect()
}

/// What a reference leads to, or the value itself.
pub(crate) fn resolved(value: &Value) -> &Value {
    let target = value["$ref"].as_str().map(|reference| reference.trim_start_matches('#'));
    target.map_or(value, |pointer| document().pointer(pointer).expect("a reference that leads somewhere"))
}

/// The schema without references, and closed: an object has no fields but those that are named. Parts of a whole (`allOf`,
/// `oneOf`) are closed with the whole.
fn inlined(schema: &Value, is_part: bool) -> Value {
    let Some(fields) = resolved(schema).as_object() else { return schema.clone() };
    let mut whole = Map::new();
    for (name, value) in fields {
        let value = match name.as_str() {
            "allOf" | "oneOf" => value.as_array().into_iter().flatten().map(|part| inlined(part, true)).collect(),
            "properties" => {
                let properties = value.as_object().into_iter().flatten();
                Value::Object(properties.map(|(name, property)| (name.clone(), inlined(property, false))).collect())
            }
            "items" => inlined(value, false),
            _ => value.clone(),
        };
        whole.insert(name.clone(), value);
    }
    let has_fields = ["allOf", "oneOf", "properties"].iter().any(|name| whole.contains_key(*name));
    if has_fields && !is_part && !whole.contains_key("additionalProperties") {
        whole.insert("unevaluatedProperties".to_owned(), json!(false));
    }
    Value::Object(whole)
}
