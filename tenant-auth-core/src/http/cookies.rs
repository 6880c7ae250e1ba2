//! The session cookies: exact names, HttpOnly, Secure, Path=/ (behaviour.md, B42). A token name that comes with two different
//! values counts as no session: one of the two was planted, and the server cannot tell which.

use ::http::{HeaderMap, HeaderValue, header};
use cookie::{Cookie, SameSite as CookieSameSite, time::Duration};

use super::refusal::Refusal;
use crate::{config::SameSite, error::Error};

pub(super) const ACCESS: &str = "access_token";
pub(super) const REFRESH: &str = "refresh_token";
pub(super) const PARTIAL: &str = "partial_token";

/// The session cookies of a request.
#[derive(Debug, Default)]
pub(crate) struct SessionCookies {
    access: Presented,
    refresh: Presented,
    partial: Presented,
}

#[derive(Debug, Default)]
enum Presented {
    #[default]
    Absent,
    Once(String),
    /// Sent with two different values.
    Ambiguous,
}

/// Reads the session cookies out of every `Cookie` header.
pub(crate) fn read(headers: &HeaderMap) -> SessionCookies {
    let mut found = SessionCookies::default();
    for value in headers.get_all(header::COOKIE) {
        // The host's own cookies may contain any byte; a strict decoder would lose the session cookies beside them.
        let text = String::from_utf8_lossy(value.as_bytes());
        found.take(&text);
    }
    found
}

impl SessionCookies {
    fn take(&mut self, header: &str) {
        for cookie in Cookie::split_parse(header).flatten() {
            match cookie.name() {
                ACCESS => self.access.add(cookie.value()),
                REFRESH => self.refresh.add(cookie.value()),
                PARTIAL => self.partial.add(cookie.value()),
                _ => {}
            }
        }
    }
}

impl Presented {
    fn add(&mut self, value: &str) {
        *self = match std::mem::take(self) {
            Self::Absent => Self::Once(value.to_owned()),
            Self::Once(first) if first == value => Self::Once(first),
            _ => Self::Ambiguous,
        };
    }

    /// The cookie's only value. Two different values are refused as no session; where cookies have a `Domain`, the refusal
    /// expires the host-only variants, so that the next login works.
    fn single(&self, style: &CookieStyle) -> Result<Option<&str>, Refusal> {
        match self {
            Self::Absent => Ok(None),
            Self::Once(value) => Ok(Some(value)),
            Self::Ambiguous => Err(Refusal::from(Error::SessionRequired).with_cookies(expired_host_only(style))),
        }
    }
}

impl SessionCookies {
    /// The access token's cookie.
    pub(crate) fn access(&self, style: &CookieStyle) -> Result<Option<&str>, Refusal> {
        self.access.single(style)
    }

    /// The refresh token's cookie.
    pub(crate) fn refresh(&self, style: &CookieStyle) -> Result<Option<&str>, Refusal> {
        self.refresh.single(style)
    }

    /// The partial token's cookie.
    pub(crate) fn partial(&self, style: &CookieStyle) -> Result<Option<&str>, Refusal> {
        self.partial.single(style)
    }

    /// Whether the browser shows a token of any kind, good or not.
    pub(crate) fn show_token(&self) -> bool {
        self.hold_session() || !matches!(self.partial, Presented::Absent)
    }

    /// Whether the browser holds a session, live or not.
    pub(crate) fn hold_session(&self) -> bool {
        !matches!((&self.access, &self.refresh), (Presented::Absent, Presented::Absent))
    }
}

/// The attributes of the session cookies that differ between deployments.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CookieStyle {
    /// The attribute `Domain`; `None` makes the cookies host-only.
    pub domain: Option<String>,
    /// The attribute `SameSite`.
    pub same_site: SameSite,
}

/// Clears the cookies of a session that is over. The partial token's cookie stays: a login that waits for its second step is not
/// over.
pub(crate) fn forgotten(style: &CookieStyle) -> Vec<HeaderValue> {
    [ACCESS, REFRESH].into_iter().flat_map(|name| set(style, name, "", 0)).collect()
}

/// The access token and the session cookies among a remote server's `Set-Cookie` headers. Other cookies are dropped, because the
/// remote server must not set cookies on the host's pages.
#[cfg(feature = "remote")]
pub(crate) fn of_session<'a>(headers: impl Iterator<Item = &'a HeaderValue>) -> (Option<String>, Vec<HeaderValue>) {
    let (mut access, mut cookies) = (None, Vec::new());
    for header in headers {
        let Some(cookie) = header.to_str().ok().and_then(|text| Cookie::parse(text).ok()) else { continue };
        if !matches!(cookie.name(), ACCESS | REFRESH) {
            continue;
        }
        if cookie.name() == ACCESS && !cookie.value().is_empty() {
            access = Some(cookie.value().to_owned());
        }
        let mut header = header.clone();
        header.set_sensitive(true);
        cookies.push(header);
    }
    (access, cookies)
}

/// The `Cookie` header that presents a refresh token to a remote server.
#[cfg(feature = "remote")]
pub(crate) fn presenting(refresh_token: &str) -> Option<HeaderValue> {
    let mut header = HeaderValue::from_str(&Cookie::new(REFRESH, refresh_token).stripped().to_string()).ok()?;
    header.set_sensitive(true);
    Some(header)
}

/// Expires the host-only cookies, where cookies have a `Domain`: a browser would send an older host-only cookie of the same name
/// beside the new one until it expires.
fn expired_host_only(style: &CookieStyle) -> Vec<HeaderValue> {
    let names = if style.domain.is_some() { &[ACCESS, REFRESH, PARTIAL][..] } else { &[] };
    names.iter().filter_map(|name| header_value(style, name, "", 0, None)).collect()
}

/// The `Set-Cookie` values that give a cookie this value for so many seconds, and end a host-only one where cookies have a `Domain`.
pub(super) fn set(style: &CookieStyle, name: &'static str, value: &str, max_age: i64) -> Vec<HeaderValue> {
    let domain = style.domain.as_deref();
    let host_only = domain.and_then(|_| header_value(style, name, "", 0, None));
    host_only.into_iter().chain(header_value(style, name, value, max_age, domain)).collect()
}

fn header_value(style: &CookieStyle, name: &str, value: &str, max_age: i64, domain: Option<&str>) -> Option<HeaderValue> {
    let same_site = match style.same_site {
        SameSite::Lax => CookieSameSite::Lax,
        SameSite::Strict => CookieSameSite::Strict,
        SameSite::None => CookieSameSite::None,
    };
    let mut cookie = Cookie::build((name, value)).http_only(true).secure(true).same_site(same_site).path("/");
    cookie = cookie.max_age(Duration::seconds(max_age.max(0)));
    if let Some(domain) = domain {
        cookie = cookie.domain(domain);
    }
    let mut header = HeaderValue::from_str(&cookie.build().to_string()).ok()?;
    header.set_sensitive(true);
    Some(header)
}
