//! A request to be sent. It is a value until awaited; then it is written byte by byte, so that it can be as odd as a scenario
//! needs, and its answer is recorded for the coverage and held against the rules that every answer obeys.

use std::{future::IntoFuture, pin::Pin};

use bytes::Bytes;
use serde_json::Value;

use crate::{Caller, Response, routes, universal, wire};

/// A request that has not been sent.
#[derive(Debug, Clone)]
pub struct Request {
    caller: Caller,
    pub(crate) method: String,
    pub(crate) path: String,
    headers: Vec<(String, Vec<u8>)>,
    cookies: Option<String>,
    body: Option<Bytes>,
    chunked: bool,
    unfinished: bool,
    pub(crate) may_fail: bool,
}

impl Request {
    pub(crate) fn new(caller: Caller, method: &str, path: &str) -> Self {
        Self {
            caller,
            method: method.to_owned(),
            path: path.to_owned(),
            headers: Vec::new(),
            cookies: None,
            body: None,
            chunked: false,
            unfinished: false,
            may_fail: false,
        }
    }

    /// Adds a header, beside any of the same name.
    pub fn header(mut self, name: &str, value: impl AsRef<[u8]>) -> Self {
        self.headers.push((name.to_owned(), value.as_ref().to_vec()));
        self
    }

    /// Takes a header away.
    pub fn without(mut self, name: &str) -> Self {
        self.headers.retain(|(have, _)| !have.eq_ignore_ascii_case(name));
        self
    }

    /// Replaces a header.
    pub fn replacing(self, name: &str, value: impl AsRef<[u8]>) -> Self {
        self.without(name).header(name, value)
    }

    /// Sends this `Cookie` header instead of the jar's.
    pub fn cookies(mut self, header: impl Into<String>) -> Self {
        self.cookies = Some(header.into());
        self
    }

    /// A JSON body.
    pub fn json(self, body: &Value) -> Self {
        self.text(body.to_string())
    }

    /// A body that claims to be JSON.
    pub fn text(self, body: impl Into<Vec<u8>>) -> Self {
        self.body("application/json", body)
    }

    /// A body of some type.
    pub fn body(mut self, content_type: &str, body: impl Into<Vec<u8>>) -> Self {
        self = self.replacing("Content-Type", content_type);
        self.untyped_body(body)
    }

    /// A body of no stated type.
    pub fn untyped_body(mut self, body: impl Into<Vec<u8>>) -> Self {
        self.body = Some(Bytes::from(body.into()));
        self
    }

    /// Sends the body in chunks, its length unannounced.
    pub fn chunked(mut self) -> Self {
        self.chunked = true;
        self
    }

    /// Announces one byte more than it sends.
    pub fn unfinished(mut self) -> Self {
        self.unfinished = true;
        self
    }

    /// As a page of this origin would send it.
    pub fn from_origin(self, origin: &str) -> Self {
        self.header("Origin", origin)
    }

    /// The scenario has broken something: a 5xx is an answer.
    pub fn may_fail(mut self) -> Self {
        self.may_fail = true;
        self
    }

    async fn send(self) -> Response {
        let (head, body) = self.bytes();
        let what = format!("{}: {} {}", self.caller.target.adapter, self.method, self.path);
        let raw = wire::exchange(self.caller.target.address, &head, &body, self.method == "HEAD")
            .await
            .unwrap_or_else(|problem| panic!("{what}: {problem}"));
        let response = Response::new(what, raw);
        if !self.caller.target.is_host {
            routes::record(self.caller.target.adapter, &self.method, &self.path, response.status);
            universal::check(&self, &response, &self.caller.target.cookies);
        }
        self.caller.jar().keep(response.cookies());
        response
    }

    fn bytes(&self) -> (Vec<u8>, Vec<u8>) {
        let mut head = format!("{} {} HTTP/1.1\r\n", self.method, self.path).into_bytes();
        let mut line = |name: &str, value: &[u8]| {
            head.extend_from_slice(name.as_bytes());
            head.extend_from_slice(b": ");
            head.extend_from_slice(value);
            head.extend_from_slice(b"\r\n");
        };
        // A host may tell organizations by the name it was asked for.
        if !self.headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("host")) {
            line("Host", self.caller.target.address.to_string().as_bytes());
        }
        line("Connection", b"close");
        for (name, value) in &self.headers {
            line(name, value);
        }
        let cookies = self.cookies.clone().unwrap_or_else(|| self.caller.jar().header());
        if !cookies.is_empty() {
            line("Cookie", cookies.as_bytes());
        }
        let body = match &self.body {
            Some(body) if self.chunked => {
                line("Transfer-Encoding", b"chunked");
                wire::chunks(body)
            }
            Some(body) => {
                line("Content-Length", (body.len() + usize::from(self.unfinished)).to_string().as_bytes());
                body.to_vec()
            }
            None if matches!(self.method.as_str(), "POST" | "PUT" | "PATCH") => {
                line("Content-Length", b"0");
                Vec::new()
            }
            None => Vec::new(),
        };
        head.extend_from_slice(b"\r\n");
        (head, body)
    }
}

impl IntoFuture for Request {
    type Output = Response;
    type IntoFuture = Pin<Box<dyn Future<Output = Response> + Send>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.send())
    }
}
