//! The redirect to sign-in: where a person's browser is sent that opened a host's page without a session (behaviour.md, B223). Its
//! address is made of settings alone, because a `Host` header is whatever its sender writes there.

use ::http::{HeaderValue, Method, Request, Uri, header};
use url::{Url, form_urlencoded};

use super::{GateParts, OrganizationFrom, Refused, in_process};
use crate::{
    http::{ErrorCode, presented},
    value::{Origin, ReturnAddress, Slug},
};

/// Where a gate's redirect to sign-in leads, and where it asks to come back to.
#[derive(Clone, Default)]
pub(super) struct SignIn {
    /// Whether anybody is sent there.
    pub(super) redirects: bool,
    /// The sign-in page; `None`: the hosted one of the verifier's service.
    pub(super) page: Option<Url>,
    /// Where browsers reach the host; `None`: at the origin of the service in this process.
    pub(super) host: Option<Origin>,
}

/// The address to which a refusal sends whoever made the request; `None` where the refusal is the answer.
pub(super) fn of(parts: &GateParts, request: &Request<()>, refused: &Refused) -> Option<HeaderValue> {
    let sign_in = &parts.sign_in;
    if !sign_in.redirects || !wants_session(request, refused) || !is_navigation(request) {
        return None;
    }
    let page = sign_in.page.clone().or_else(|| hosted(&parts.verifier.public_url()?))?;
    // The sign-in page itself may lie behind the gate.
    if page.path().trim_end_matches('/') == request.uri().path().trim_end_matches('/') {
        return None;
    }
    let slug = parts.organization.slug_of(request).ok();
    let mut said = form_urlencoded::Serializer::new(String::new());
    if let Some(slug) = &slug {
        said.append_pair("org", slug.as_str());
    }
    if let Some(next) = next(parts, slug.as_ref(), request.uri()) {
        said.append_pair("next", &next);
    }
    // A fragment never reaches a server's log.
    HeaderValue::from_str(&format!("{}#{}", without_fragment(page), said.finish())).ok()
}

/// Whether the refusal is for want of a session, and no program asks.
fn wants_session(request: &Request<()>, refused: &Refused) -> bool {
    refused.status() == ::http::StatusCode::UNAUTHORIZED
        && refused.code() != ErrorCode::InvalidApiKey.as_str()
        && presented::bearer(request.headers()).is_none()
}

/// Whether a browser asks for a page to show. It says so in `Sec-Fetch-Mode`; one that is too old for that asks for HTML.
fn is_navigation(request: &Request<()>) -> bool {
    *request.method() == Method::GET
        && match presented::single(request.headers(), "sec-fetch-mode") {
            Ok(Some(mode)) => mode == "navigate",
            Ok(None) => accepts_html(request),
            Err(_) => false,
        }
}

fn accepts_html(request: &Request<()>) -> bool {
    let accepted = request.headers().get_all(header::ACCEPT).iter().filter_map(|value| value.to_str().ok());
    accepted.flat_map(|value| value.split(',')).any(|range| {
        let mut parts = range.split(';').map(str::trim);
        let is_html = parts.next().is_some_and(|essence| essence.eq_ignore_ascii_case("text/html"));
        let weight = parts.find_map(|part| part.strip_prefix("q=").or_else(|| part.strip_prefix("Q=")));
        is_html && weight.is_none_or(|weight| weight.parse().is_ok_and(|weight: f32| weight > 0.0))
    })
}

/// The request's own address, at the host's origin; `None` where that is not known, or the address is too long to be kept.
fn next(parts: &GateParts, slug: Option<&Slug>, asked: &Uri) -> Option<String> {
    let origin = parts.sign_in.host.clone().or_else(|| in_process::public_origin(&*parts.verifier))?;
    let origin = match (&parts.organization, slug) {
        (OrganizationFrom::SubdomainOf(domain), Some(slug)) => {
            let mut url = Url::parse(origin.as_str()).ok()?;
            url.set_host(Some(&format!("{slug}.{domain}"))).ok()?;
            Origin::of(&url)
        }
        _ => origin,
    };
    let path = asked.path_and_query().map(|path| path.as_str()).filter(|path| path.starts_with('/'))?;
    ReturnAddress::parse(&format!("{}{path}", origin.as_str())).ok().map(|next| next.as_str().to_owned())
}

/// The hosted sign-in page below a public URL.
fn hosted(public_url: &Url) -> Option<Url> {
    format!("{}/sign-in", public_url.as_str().trim_end_matches('/')).parse().ok()
}

fn without_fragment(mut page: Url) -> Url {
    page.set_fragment(None);
    page
}
