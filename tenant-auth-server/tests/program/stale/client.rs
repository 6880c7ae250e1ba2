//! A request, and a client that takes what a server in trouble gives: nothing, half an answer, or one that is late.

use std::{
    io::{self, Read, Write},
    net::TcpStream,
    time::Duration,
};

use serde_json::Value;

/// Longer than any disturbance.
const PATIENCE: Duration = Duration::from_secs(30);

/// A request, such as `PUT /org/members/{id}/role`, with the header that says who asks.
#[derive(Debug, Clone)]
pub(super) struct Question {
    pub(super) what: String,
    pub(super) credential: String,
    pub(super) body: Value,
}

impl Question {
    pub(super) fn by(token: &str, what: impl Into<String>, body: Value) -> Self {
        Self { what: what.into(), credential: format!("Authorization: Bearer {token}"), body }
    }

    /// A backend with this key asks about a token.
    pub(super) fn verifying(key: &str, token: &str) -> Self {
        let body = serde_json::json!({ "token": token });
        Self { what: "POST /public/verify".to_owned(), credential: format!("X-API-Key: {key}"), body }
    }

    /// Status and body of the answer.
    ///
    /// # Errors
    /// When there is no whole answer.
    pub(super) fn ask(&self, address: &str) -> io::Result<(u16, Value)> {
        let (method, path) = self.what.split_once(' ').expect("a method and a path");
        let body = if self.body.is_null() { String::new() } else { self.body.to_string() };
        let mut stream = TcpStream::connect(address)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.set_write_timeout(Some(PATIENCE))?;
        write!(
            stream,
            "{method} /api/v1{path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nX-Org-Slug: acme\r\n{}\r\n\
             Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
            self.credential,
            body.len(),
        )?;
        let mut text = String::new();
        stream.read_to_string(&mut text)?;
        let status = text.split(' ').nth(1).and_then(|status| status.parse().ok());
        let body = text.split_once("\r\n\r\n").and_then(|(_, body)| serde_json::from_str(body).ok());
        status.zip(body).ok_or_else(|| io::ErrorKind::UnexpectedEof.into())
    }
}
