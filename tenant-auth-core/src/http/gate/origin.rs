//! CSRF protection of a host's routes. A browser attaches cookies to every request that a page makes, so a state-changing request
//! that has only cookies must come from an allowed origin. A Bearer token or an API key was put into the request on purpose, so
//! such a request is not checked.

use ::http::{Method, Request, header};
use url::Url;

use super::{Gate, organization::host_of};
use crate::{
    http::{browser, presented, refusal::Refusal},
    value::{Slug, is_loopback},
};

/// Judges where a request that shows cookies comes from.
pub(super) async fn judge(gate: &Gate, request: &Request<()>, org: &Slug) -> Result<(), Refusal> {
    if !changes_something(request) {
        return Ok(());
    }
    match presented::single(request.headers(), "origin") {
        Ok(Some(origin)) if is_hosts_own(request, origin) || gate.parts.origins.iter().any(|own| own.as_str() == origin) => Ok(()),
        Ok(Some(origin)) if gate.parts.verifier.allows_origin(org, origin).await? => Ok(()),
        Ok(None) if !browser::is_cross_site(request.headers()) => Ok(()),
        Ok(_) | Err(_) => Err(Refusal::forbidden_origin()),
    }
}

/// A GET that becomes a WebSocket carries cookies, and no CORS rule keeps other pages from opening one.
fn changes_something(request: &Request<()>) -> bool {
    let safe = matches!(*request.method(), Method::GET | Method::HEAD | Method::OPTIONS);
    !safe || request.headers().contains_key(header::UPGRADE)
}

/// Whether the page is the host's. A browser says so itself in a header that no script can set; an older one only tells the
/// origin, which is then compared with the host that was asked.
fn is_hosts_own(request: &Request<()>, origin: &str) -> bool {
    match presented::single(request.headers(), "sec-fetch-site") {
        Ok(Some(site)) => site == "same-origin",
        Ok(None) => {
            // Whoever can write into a plain page on the way must not speak for the encrypted one.
            let Ok(page) = Url::parse(origin) else { return false };
            let is_safe = page.scheme() == "https" || is_loopback(&page);
            let authority = origin.split_once("://").map(|(_, authority)| authority);
            is_safe && authority.zip(host_of(request)).is_some_and(|(theirs, ours)| theirs.eq_ignore_ascii_case(ours))
        }
        Err(_) => false,
    }
}
