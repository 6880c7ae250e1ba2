//! An answer that came back, with assertions for scenarios. A failed assertion shows the whole answer.

use serde_json::Value;

use crate::{Cookie, wire::Raw};

/// An answer.
#[derive(Debug, Clone)]
pub struct Response {
    what: String,
    /// The status code.
    pub status: u16,
    /// In order, names as sent.
    pub headers: Vec<(String, String)>,
    /// The body as text.
    pub body: String,
    json: Value,
}

impl Response {
    pub(crate) fn new(what: String, raw: Raw) -> Self {
        let body = String::from_utf8_lossy(&raw.body).into_owned();
        let json = serde_json::from_str(&body).unwrap_or(Value::Null);
        Self { what, status: raw.status, headers: raw.headers, body, json }
    }

    /// 200; the `data` of the envelope.
    #[track_caller]
    pub fn expect_ok(self) -> Value {
        self.expect(200).data()
    }

    /// This status.
    #[track_caller]
    pub fn expect(self, status: u16) -> Self {
        assert_eq!(self.status, status, "{}", self.shown());
        self
    }

    /// This status and this `code`.
    #[track_caller]
    pub fn expect_error(self, status: u16, code: &str) -> Self {
        assert_eq!((self.status, self.code()), (status, code), "{}", self.shown());
        self
    }

    /// 400 `invalid_request` whose message names the field.
    #[track_caller]
    pub fn expect_invalid(self, field: &str) -> Self {
        let refused = self.expect_error(400, "invalid_request");
        assert!(refused.message().contains(field), "the message does not name '{field}': {}", refused.shown());
        refused
    }

    /// The `data` of the envelope.
    pub fn data(&self) -> Value {
        self.json["data"].clone()
    }

    /// The body as JSON, null when it is none.
    pub fn json(&self) -> &Value {
        &self.json
    }

    /// The `code` of an error.
    pub fn code(&self) -> &str {
        self.json["code"].as_str().unwrap_or_default()
    }

    /// The `message` of an error.
    pub fn message(&self) -> &str {
        self.json["message"].as_str().unwrap_or_default()
    }

    /// The `field` of an error, where one part of the request is at fault.
    pub fn field(&self) -> Option<&str> {
        self.json["field"].as_str()
    }

    /// A header's only value.
    #[track_caller]
    pub fn header(&self, name: &str) -> Option<&str> {
        let values = self.headers_named(name);
        assert!(values.len() < 2, "{name} came twice: {}", self.shown());
        values.first().copied()
    }

    /// A header's values in order.
    pub fn headers_named(&self, name: &str) -> Vec<&str> {
        self.headers.iter().filter(|(have, _)| have.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str()).collect()
    }

    /// The cookies it sets or clears, in order.
    pub fn cookies(&self) -> Vec<Cookie> {
        self.headers_named("Set-Cookie").into_iter().map(Cookie::parse).collect()
    }

    /// The cookie of this name that it sets or clears.
    #[track_caller]
    pub fn cookie(&self, name: &str) -> Cookie {
        self.cookies()
            .into_iter()
            .find(|cookie| cookie.name == name)
            .unwrap_or_else(|| panic!("no {name} cookie: {}", self.shown()))
    }

    /// Everything about it, for a message.
    pub fn shown(&self) -> String {
        let headers: String = self.headers.iter().map(|(name, value)| format!("  {name}: {value}\n")).collect();
        format!("{} -> {}\n{headers}  {}", self.what, self.status, self.body)
    }
}

/// The names of an object's fields, sorted: its shape.
#[track_caller]
pub fn shape(value: &Value) -> Vec<&str> {
    let mut names: Vec<&str> =
        value.as_object().unwrap_or_else(|| panic!("no object: {value}")).keys().map(String::as_str).collect();
    names.sort_unstable();
    names
}

/// The `id` of an object.
#[track_caller]
pub fn id_of(value: &Value) -> &str {
    value["id"].as_str().unwrap_or_else(|| panic!("no id: {value}"))
}
