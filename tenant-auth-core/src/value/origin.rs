//! URLs of the customer's application, and the browser origins that may call the API (CORS).

use url::{Host, Url};

use super::{Rejected, loopback::is_loopback, names::is_bidi_override, text_value};

const MAX_BYTES: usize = 2_048;
/// The most bytes of a host name, as it is written in ASCII.
const LONGEST_HOST: usize = 253;

/// The URL of a customer's application: https, or http for loopback; at most 2,048 bytes, no user name in it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct AppUrl(String);
text_value!(
    AppUrl,
    Text {
        means: "The URL of the customer's application: https, or http for loopback; at most 2,048 bytes, no user name in it.",
        max: Some(MAX_BYTES),
        pattern: Some(r"^[^\s\u0000-\u001f\u007f-\u009f]+$"),
        example: Some("https://app.acme.example/start"),
        ..Text::default()
    }
);

/// A browser origin in its serialized form (RFC 6454): scheme, host and, when not the scheme's default, port.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Origin(String);
text_value!(
    Origin,
    Text {
        means: "A browser origin: https, or http for loopback; no path, query or fragment.",
        max: Some(MAX_BYTES),
        pattern: Some(r"^[^\s\u0000-\u001f\u007f-\u009f]+$"),
        example: Some("https://app.acme.example"),
        ..Text::default()
    }
);

impl AppUrl {
    /// Checks a URL; it is kept as typed.
    ///
    /// # Errors
    /// [`Rejected`], saying what it must be.
    pub fn parse(text: &str) -> Result<Self, Rejected> {
        checked(text)?;
        Ok(Self(text.to_owned()))
    }

    /// The URL.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The origin its pages have in a browser.
    pub fn origin(&self) -> Option<Origin> {
        Url::parse(&self.0).ok().map(|url| Origin::of(&url))
    }
}

impl Origin {
    /// Checks an origin such as `https://app.example.com`; a path, query or fragment is refused.
    ///
    /// # Errors
    /// [`Rejected`], saying what it must be.
    pub fn parse(text: &str) -> Result<Self, Rejected> {
        let url = checked(text)?;
        if url.path() != "/" || url.query().is_some() || url.fragment().is_some() {
            return Err(Rejected::because("must be an origin such as https://app.example.com, without a path"));
        }
        Ok(Self::of(&url))
    }

    /// The origin of a URL.
    pub fn of(url: &Url) -> Self {
        Self(url.origin().ascii_serialization())
    }

    /// The serialized origin, comparable byte by byte with the `Origin` header.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

fn checked(text: &str) -> Result<Url, Rejected> {
    let reject = || Rejected::because("must be an https URL (http only for loopback hosts)");
    if text.len() > MAX_BYTES || text.chars().any(|c| c.is_control() || c.is_whitespace() || is_bidi_override(c)) {
        return Err(reject());
    }
    let url = Url::parse(text).map_err(|_| reject())?;
    let secure = url.scheme() == "https" || (url.scheme() == "http" && is_loopback(&url));
    // A longer name is none (RFC 1035), and an international one grows when it is written down: it would not be read again.
    let is_named = url.host_str().is_some_and(|host| host.len() <= LONGEST_HOST) && url.host().is_some_and(is_name);
    if !secure || !is_named || !is_read_alike(text, &url) {
        return Err(reject());
    }
    Ok(url)
}

/// Whether all readers of a URL find the same host in it. Browsers read `https:\\a` and `https:/a` as `https://a`, and what stands before
/// an `@` or a `\` as a user name or a host, each by its own rules; so none of it may stand there.
pub(super) fn is_read_alike(text: &str, url: &Url) -> bool {
    let after_scheme = text.get(url.scheme().len()..).and_then(|rest| rest.strip_prefix("://"));
    let authority = after_scheme.and_then(|rest| rest.split(['/', '?', '#']).next());
    authority.is_some_and(|authority| !authority.is_empty() && !authority.contains(['@', '\\']))
}

/// Whether it is an address, or a name of letters, digits, hyphens and low lines: a wildcard would only seem to be one.
fn is_name(host: Host<&str>) -> bool {
    let Host::Domain(name) = host else { return true };
    let is_label =
        |label: &str| !label.is_empty() && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte));
    name.strip_suffix('.').unwrap_or(name).split('.').all(is_label)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_urls_a_browser_may_trust_are_taken() {
        for good in [
            "https://app.example.com/path?x=1",
            "http://localhost:3000",
            "http://127.0.0.1:3000/",
            "http://[::1]:1/",
            "https://my_app.example.com.",
        ] {
            assert!(AppUrl::parse(good).is_ok(), "{good}");
        }
        for bad in [
            "http://app.example.com",
            "javascript:alert(1)",
            "https://u:p@example.com",
            "https://",
            "ftp://x.com",
            "https://a b",
            "app.example.com",
            "https://*.example.com",
            "https:app.example.com",
            "https:/app.example.com",
            "https:///app.example.com",
            r"https:\\app.example.com",
            r"https://app.example.com\@evil.example/",
            "https://@app.example.com",
            "https://app.example.com/\u{202E}gpj",
            "https://app..example.com",
            "https://.",
        ] {
            assert!(AppUrl::parse(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn origins_are_serialized_as_browsers_do() {
        assert_eq!(
            Origin::parse("https://APP.example.com:443/").map(|o| o.to_string()).ok().as_deref(),
            Some("https://app.example.com")
        );
        assert!(Origin::parse("https://app.example.com/path").is_err());
        assert!(Origin::parse("null").is_err());
        assert!(Origin::parse(&format!("https://ä{}", "a.aa".repeat(500))).is_err(), "it would be stored and never read again");
    }
}
