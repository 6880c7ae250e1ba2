//! The session cookies: exact names, HttpOnly, Secure, Path=/ (behaviour.md, B42). A token name that comes with two different
//! values counts as no session: one of the two was planted, and the server cannot tell which.

use ::http::{HeaderMap, HeaderValue, header};
use cookie::{Cookie, SameSite as CookieSameSite, time::Duration};

use super::refusal::Refusal;
use crate::{
    config::{Config, SameSite},
    error::Error,
    service::TenantAuth,
    time::Timestamp,
    token::{PartialToken, Tokens},
};

const ACCESS: &str = "access_token";
const REFRESH: &str = "refresh_token";
const PARTIAL: &str = "partial_token";

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

impl CookieStyle {
    /// The attributes that the settings state.
    pub(crate) fn of(config: &Config) -> Self {
        Self { domain: config.browser.cookie_domain.clone(), same_site: config.browser.cookie_same_site }
    }
}

/// The cookie that carries the partial token to the second step of a login.
pub(crate) fn waiting(config: &Config, partial: &PartialToken, now: Timestamp) -> Vec<HeaderValue> {
    set(&CookieStyle::of(config), PARTIAL, partial.token.expose(), partial.expires_at.secs() - now.secs())
}

/// Clears the partial token's cookie alone.
pub(crate) fn without_partial(config: &Config) -> Vec<HeaderValue> {
    set(&CookieStyle::of(config), PARTIAL, "", 0)
}

/// The cookies that carry a session's tokens; each expires with its token.
pub(crate) fn carrying(config: &Config, tokens: &Tokens, now: Timestamp) -> Vec<HeaderValue> {
    let style = CookieStyle::of(config);
    let lasting = |end: Timestamp| end.secs() - now.secs();
    let mut cookies = set(&style, ACCESS, tokens.access.expose(), lasting(tokens.access_expires_at));
    cookies.extend(set(&style, REFRESH, tokens.refresh.expose(), lasting(tokens.refresh_expires_at)));
    cookies
}

/// The values of the `Set-Cookie` headers that carry a session's tokens, for a host that answers a login, a sign-up or an invite itself.
pub fn session_cookies(auth: &TenantAuth, tokens: &Tokens) -> Vec<HeaderValue> {
    carrying(auth.config(), tokens, auth.now())
}

/// Clears the cookies of the access, the refresh and the partial token.
pub(crate) fn cleared(config: &Config) -> Vec<HeaderValue> {
    let style = CookieStyle::of(config);
    [ACCESS, REFRESH, PARTIAL].into_iter().flat_map(|name| set(&style, name, "", 0)).collect()
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

fn set(style: &CookieStyle, name: &'static str, value: &str, max_age: i64) -> Vec<HeaderValue> {
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
