//! The session cookies: exact names, HttpOnly, Secure, Path=/ (contract section 3). A token name that comes with two different
//! values is no session: one of them was planted, and nobody can tell which.

use ::http::{HeaderMap, HeaderValue, header};
use cookie::{Cookie, SameSite as CookieSameSite, time::Duration};

use super::{context::Context, refusal::Refusal};
use crate::{
    config::{Config, SameSite},
    error::Error,
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
    /// Two different values.
    Ambiguous,
}

/// Reads every `Cookie` header.
pub(crate) fn read(headers: &HeaderMap) -> SessionCookies {
    let mut found = SessionCookies::default();
    for value in headers.get_all(header::COOKIE) {
        // The host's own cookies may hold any byte; they must not hide ours.
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

    fn single(&self, context: &Context) -> Result<Option<&str>, Refusal> {
        match self {
            Self::Absent => Ok(None),
            Self::Once(value) => Ok(Some(value)),
            Self::Ambiguous => Err(Refusal::from(Error::SessionRequired).with_cookies(expired_host_only(context.auth.config()))),
        }
    }
}

impl SessionCookies {
    /// The access token's cookie.
    pub(crate) fn access(&self, context: &Context) -> Result<Option<&str>, Refusal> {
        self.access.single(context)
    }

    /// The refresh token's cookie.
    pub(crate) fn refresh(&self, context: &Context) -> Result<Option<&str>, Refusal> {
        self.refresh.single(context)
    }

    /// The partial token's cookie.
    pub(crate) fn partial(&self, context: &Context) -> Result<Option<&str>, Refusal> {
        self.partial.single(context)
    }
}

/// The cookie that carries a login to its second step.
pub(crate) fn waiting(config: &Config, partial: &PartialToken, now: Timestamp) -> Vec<HeaderValue> {
    set(config, PARTIAL, partial.token.expose(), partial.expires_at.secs() - now.secs()).collect()
}

/// Clears the partial token alone.
pub(crate) fn without_partial(config: &Config) -> Vec<HeaderValue> {
    set(config, PARTIAL, "", 0).collect()
}

/// The cookies that carry a session's tokens, each for as long as its token is good.
pub(crate) fn carrying(config: &Config, tokens: &Tokens, now: Timestamp) -> Vec<HeaderValue> {
    let lasting = |end: Timestamp| end.secs() - now.secs();
    set(config, ACCESS, tokens.access.expose(), lasting(tokens.access_expires_at))
        .chain(set(config, REFRESH, tokens.refresh.expose(), lasting(tokens.refresh_expires_at)))
        .collect()
}

/// Clears all three.
pub(crate) fn cleared(config: &Config) -> Vec<HeaderValue> {
    [ACCESS, REFRESH, PARTIAL].into_iter().flat_map(|name| set(config, name, "", 0)).collect()
}

/// Where cookies have a Domain, an older host-only cookie of the same name would be sent beside them for ever.
fn expired_host_only(config: &Config) -> Vec<HeaderValue> {
    let names = if config.cookie_domain.is_some() { &[ACCESS, REFRESH, PARTIAL][..] } else { &[] };
    names.iter().filter_map(|name| header_value(config, name, "", 0, None)).collect()
}

fn set<'a>(config: &'a Config, name: &'static str, value: &'a str, max_age: i64) -> impl Iterator<Item = HeaderValue> + use<'a> {
    let domain = config.cookie_domain.as_deref();
    let host_only = domain.and_then(|_| header_value(config, name, "", 0, None));
    host_only.into_iter().chain(header_value(config, name, value, max_age, domain))
}

fn header_value(config: &Config, name: &str, value: &str, max_age: i64, domain: Option<&str>) -> Option<HeaderValue> {
    let same_site = match config.cookie_same_site {
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
