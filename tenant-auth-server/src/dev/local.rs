//! What the development pages share: only this machine is answered, and only what is no other site's doing.
//!
//! The pages show links that are credentials, and the clock can be moved. A web page whose host name was pointed at this machine (DNS
//! rebinding) must not read them, so a request whose `Host` is not loopback is refused; a page of another site may send a request
//! without reading the answer, so one that changes something must be JSON, which no other site's page can send unasked (CORS).

use std::{net::IpAddr, sync::Arc};

use axum::{
    extract::Request,
    http::{Method, StatusCode, header},
    middleware::Next,
    response::Response,
};
use url::Url;

use super::{clock::MovableClock, mailbox::Mailbox};
use crate::answer;

/// What `dev` puts in the place of the world outside.
pub(super) struct Tools {
    pub(super) clock: Arc<MovableClock>,
    pub(super) mailbox: Arc<Mailbox>,
    /// Where this machine reaches it.
    pub(super) url: String,
}

/// The Content-Security-Policy of the pages: whatever they show is shown as text, and nothing is loaded from other hosts.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// The look of the product (the panel's colours).
const STYLE: &str = include_str!("style.css");

/// Refuses what does not come from this machine's own name.
pub(super) async fn only(request: Request, next: Next) -> Response {
    match refusal(&request) {
        Some(refusal) => refusal,
        None => next.run(request).await,
    }
}

fn refusal(request: &Request) -> Option<Response> {
    let text = |name| request.headers().get(name).and_then(|value| value.to_str().ok()).unwrap_or_default();
    if !is_loopback(text(header::HOST)) {
        let open = "Open this page as http://127.0.0.1 or http://localhost with its port.";
        return Some(answer::error(StatusCode::FORBIDDEN, "forbidden_host", open));
    }
    let is_json = text(header::CONTENT_TYPE).split(';').next().is_some_and(|kind| kind.trim() == "application/json");
    let json = "Send Content-Type: application/json.";
    (request.method() == Method::POST && !is_json)
        .then(|| answer::error(StatusCode::UNSUPPORTED_MEDIA_TYPE, "unsupported_media_type", json))
}

fn is_loopback(host: &str) -> bool {
    let name = match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|b| b.is_ascii_digit()) => name,
        _ => host,
    };
    let address = name.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>();
    name.eq_ignore_ascii_case("localhost") || address.is_ok_and(|address| address.is_loopback())
}

/// Where the service's own pages lie on this server: below the path of its public URL, while those of `dev` lie at `/dev` whatever it is.
#[derive(Debug, Clone)]
pub(super) struct Site {
    /// Without a trailing slash; empty for most.
    path: String,
}

impl Site {
    pub(super) fn of(public_url: &Url) -> Self {
        Self { path: public_url.path().trim_end_matches('/').to_owned() }
    }

    pub(super) fn panel(&self) -> String {
        format!("{}/", self.path)
    }

    pub(super) fn sign_in(&self) -> String {
        format!("{}/sign-in", self.path)
    }

    /// The page of the API's operations.
    pub(super) fn docs(&self) -> String {
        format!("{}/api/v1/docs", self.path)
    }

    pub(super) fn document(&self) -> String {
        format!("{}/api/v1/openapi.json", self.path)
    }

    /// A page; `shown` is HTML.
    pub(super) fn page(&self, title: &str, shown: &str) -> Response {
        let (docs, panel) = (escaped(&self.docs()), escaped(&self.panel()));
        let html = format!(
            "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width\">\
             <meta name=\"color-scheme\" content=\"light dark\"><title>{title}</title><style>{STYLE}</style></head><body>\
             <nav aria-label=\"Development\"><b>Tenant Auth <small>dev</small></b><a href=\"/dev\">Start</a>\
             <a href=\"/dev/mail\">Mails</a><a href=\"/dev/webhooks\">Webhooks</a><a href=\"/dev/requests\">Requests</a>\
             <a href=\"{docs}\">API</a><a href=\"{panel}\">Panel</a></nav><main><h1>{title}</h1>{shown}</main></body></html>"
        );
        answer::page(html, POLICY)
    }
}

/// Text as HTML.
pub(super) fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;").replace('\'', "&#39;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_of_this_machine_are_answered() {
        for good in ["localhost", "localhost:8080", "127.0.0.1:1", "[::1]:8080", "[::1]"] {
            assert!(is_loopback(good), "{good}");
        }
        for bad in ["", "evil.example", "evil.example:8080", "127.0.0.1.evil.example", "10.0.0.1:8080"] {
            assert!(!is_loopback(bad), "{bad}");
        }
    }
}
