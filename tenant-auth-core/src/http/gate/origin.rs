//! CSRF protection of a host's routes. A browser attaches cookies to every request that a page makes, so a state-changing request
//! that has only cookies must come from an allowed origin. A Bearer token or an API key was put into the request on purpose, so
//! such a request is not checked.

use ::http::{Method, Request, header};
use url::Url;

use super::{Gate, organization::host_of};
use crate::{
    http::{presented, refusal::Refusal},
    value::{Slug, is_loopback},
};

/// Refuses a state-changing request with cookies that comes from a page of another origin.
pub(super) async fn judge(gate: &Gate, request: &Request<()>, org: &Slug) -> Result<(), Refusal> {
    if !changes_something(request) {
        return Ok(());
    }
    match presented::single(request.headers(), "origin") {
        Ok(Some(origin)) if is_hosts_own(request, origin) || gate.parts.origins.iter().any(|own| own.as_str() == origin) => Ok(()),
        Ok(Some(origin)) if gate.parts.verifier.allows_origin(org, origin).await? => Ok(()),
        Ok(None) if !presented::is_cross_site(request.headers()) => Ok(()),
        Ok(_) | Err(_) => Err(Refusal::forbidden_origin()),
    }
}

/// Whether the request may change state. A WebSocket upgrade counts, although it is a GET: it carries cookies, and CORS does not
/// keep other pages from opening a WebSocket.
fn changes_something(request: &Request<()>) -> bool {
    let safe = matches!(*request.method(), Method::GET | Method::HEAD | Method::OPTIONS);
    !safe || request.headers().contains_key(header::UPGRADE)
}

/// Whether the page is the host's own. A browser states it in `Sec-Fetch-Site`, which no script can set; an older browser sends
/// only `Origin`, which is compared with the host name of the request.
fn is_hosts_own(request: &Request<()>, origin: &str) -> bool {
    match presented::single(request.headers(), "sec-fetch-site") {
        Ok(Some(site)) => site == "same-origin",
        Ok(None) => {
            // An attacker on the network can write scripts into an http page; such a page must not act for the https page.
            let Ok(page) = Url::parse(origin) else { return false };
            let is_safe = page.scheme() == "https" || is_loopback(&page);
            let authority = origin.split_once("://").map(|(_, authority)| authority);
            is_safe && authority.zip(host_of(request)).is_some_and(|(theirs, ours)| theirs.eq_ignore_ascii_case(ours))
        }
        Err(_) => false,
    }
}
