//! The session cookies as the service in this process sets them.

use ::http::HeaderValue;

use super::cookies::{ACCESS, CookieStyle, PARTIAL, REFRESH, set};
use crate::{
    config::Config,
    service::TenantAuth,
    time::Timestamp,
    token::{PartialToken, Tokens},
};

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

/// The values of the `Set-Cookie` headers that carry the partial token to the second step, for a host that answers a login itself where it
/// returned [`Login::SecondFactor`](crate::Login::SecondFactor): the browser then completes the login at the service's own
/// endpoint, as after a login there.
pub fn partial_cookies(auth: &TenantAuth, partial: &PartialToken) -> Vec<HeaderValue> {
    waiting(auth.config(), partial, auth.now())
}

/// The values of the `Set-Cookie` headers that clear the cookies of the access, the refresh and the partial token, for a host that answers
/// a logout itself.
pub fn cleared_cookies(auth: &TenantAuth) -> Vec<HeaderValue> {
    cleared(auth.config())
}

/// Clears the cookies of the access, the refresh and the partial token.
pub(crate) fn cleared(config: &Config) -> Vec<HeaderValue> {
    let style = CookieStyle::of(config);
    [ACCESS, REFRESH, PARTIAL].into_iter().flat_map(|name| set(&style, name, "", 0)).collect()
}
