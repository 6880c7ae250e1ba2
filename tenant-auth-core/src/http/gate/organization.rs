//! Where a request to a host's route names its organization. A slug is compared exactly: it is never folded or defaulted.

use std::{fmt, sync::Arc};

use ::http::{HeaderMap, Request, header};

use crate::{
    error::Error,
    http::{presented, refusal::Refusal},
    value::Slug,
};

type Reading = Arc<dyn Fn(&Request<()>) -> Option<String> + Send + Sync>;

/// The part of a request that names the organization.
#[derive(Clone, Default)]
#[non_exhaustive]
pub enum OrganizationFrom {
    /// The header `X-Org-Slug`, as for the service's own endpoints.
    #[default]
    Header,
    /// No part: the host serves this one organization.
    Fixed(Slug),
    /// The subdomain of this domain in the host name: `acme` in `acme.example.com` for `example.com`.
    SubdomainOf(String),
    /// A segment of the path, counted from 0: 1 for `/t/acme/reports`.
    PathSegment(usize),
    /// No part: the organization of the session that the request presents, for a product on one host name whose people log in to one
    /// organization at a time. Without a session the answer is 401 `session_required`. A [`Backend`](crate::Backend) has no session, and
    /// names its organization in `X-Org-Slug`. With a [`RemoteVerifier`](crate::http::RemoteVerifier) only where that serves one
    /// organization.
    Session,
    /// The result of the host's own function; made by [`OrganizationFrom::request`].
    Request(RequestReader),
}

/// A host's own function that reads the slug from a request.
#[derive(Clone)]
pub struct RequestReader(Reading);

impl OrganizationFrom {
    /// Reads the slug by the host's own function; `None` is answered with 404.
    pub fn request(read: impl Fn(&Request<()>) -> Option<String> + Send + Sync + 'static) -> Self {
        Self::Request(RequestReader(Arc::new(read)))
    }

    /// The slug that a request names; for [`Self::Session`] what stands for one where there is no session.
    pub(super) fn slug_of(&self, request: &Request<()>) -> Result<Slug, Refusal> {
        let named = |text: Option<&str>| {
            text.and_then(|text| Slug::parse(text).ok()).ok_or_else(|| Refusal::from(Error::UnknownOrganization))
        };
        match self {
            Self::Header | Self::Session => slug_header(request.headers()),
            Self::Fixed(slug) => Ok(slug.clone()),
            Self::SubdomainOf(domain) => named(subdomain(host_of(request), domain)),
            Self::PathSegment(index) => named(request.uri().path().trim_start_matches('/').split('/').nth(*index)),
            Self::Request(RequestReader(read)) => named(read(request).as_deref()),
        }
    }
}

/// The slug in `X-Org-Slug`, by the rules of the service's own endpoints.
fn slug_header(headers: &HeaderMap) -> Result<Slug, Refusal> {
    let text = presented::single(headers, "x-org-slug").ok().flatten().ok_or_else(Refusal::invalid_slug)?;
    Slug::parse(text).map_err(|_| Refusal::invalid_slug())
}

/// The host name that a request was sent to, with the port if there is one.
pub(super) fn host_of(request: &Request<()>) -> Option<&str> {
    let header = request.headers().get(header::HOST).and_then(|host| host.to_str().ok());
    header.or_else(|| request.uri().authority().map(|authority| authority.as_str()))
}

/// The subdomain in front of `.domain`. Host names are compared without case.
fn subdomain<'a>(host: Option<&'a str>, domain: &str) -> Option<&'a str> {
    let host = host?;
    let name = host.rsplit_once(':').map_or(host, |(name, _)| name);
    let at = name.len().checked_sub(domain.len() + 1)?;
    let (label, rest) = (name.get(..at)?, name.get(at..)?);
    (rest.strip_prefix('.')?.eq_ignore_ascii_case(domain)).then_some(label)
}

impl fmt::Debug for OrganizationFrom {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Header => f.write_str("Header"),
            Self::Session => f.write_str("Session"),
            Self::Fixed(slug) => write!(f, "Fixed({slug})"),
            Self::SubdomainOf(domain) => write!(f, "SubdomainOf({domain})"),
            Self::PathSegment(index) => write!(f, "PathSegment({index})"),
            Self::Request(_) => f.write_str("Request(..)"),
        }
    }
}

impl fmt::Debug for RequestReader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("RequestReader(..)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(from: &OrganizationFrom, uri: &str, headers: &[(&str, &str)]) -> Option<String> {
        let mut request = Request::builder().uri(uri);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        from.slug_of(&request.body(()).expect("a request")).ok().map(|slug| slug.to_string())
    }

    #[test]
    fn a_slug_is_found_where_the_host_says_and_nowhere_else() {
        let sent = [("x-org-slug", "globex"), ("host", "acme.example.com:8443")];
        assert_eq!(named(&OrganizationFrom::Header, "/t/initech", &sent).as_deref(), Some("globex"));
        assert_eq!(named(&OrganizationFrom::PathSegment(1), "/t/initech", &sent).as_deref(), Some("initech"));
        assert_eq!(named(&OrganizationFrom::PathSegment(2), "/t/initech", &sent), None);
        let subdomain = OrganizationFrom::SubdomainOf("Example.com".to_owned());
        assert_eq!(named(&subdomain, "/", &sent).as_deref(), Some("acme"));
        for host in ["example.com", "acme-example.com", "a.b.example.com", "example.com.evil.example", ".example.com"] {
            assert_eq!(named(&subdomain, "/", &[("host", host)]), None, "{host}");
        }
        let own = OrganizationFrom::request(|request| request.uri().query().map(str::to_owned));
        assert_eq!(named(&own, "/?hooli", &[]).as_deref(), Some("hooli"));
        assert_eq!(named(&own, "/?Hooli", &[]), None, "never folded");
    }
}
