//! Cookies with every attribute kept, and a jar that behaves as RFC 6265 asks, except that it ignores `Secure`.

use tenant_auth_core::{Config, config::SameSite};

/// A cookie as a response sets it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cookie {
    /// Its name.
    pub name: String,
    /// Its value.
    pub value: String,
    /// Its attributes in order, as sent.
    pub attributes: Vec<String>,
}

/// How the cookies of a deployment must be made (behaviour.md, B42).
#[derive(Debug, Clone)]
pub struct CookieRules {
    same_site: &'static str,
    domain: Option<String>,
}

/// What a browser keeps: a cookie of a domain and a host-only one of the same name are two cookies.
#[derive(Debug, Clone, Default)]
pub struct Jar {
    cookies: Vec<StoredCookie>,
}

#[derive(Debug, Clone)]
struct StoredCookie {
    name: String,
    domain: Option<String>,
    value: String,
}

impl Cookie {
    /// Reads a `Set-Cookie` header.
    pub fn parse(header: &str) -> Self {
        let mut parts = header.split(';').map(str::trim);
        let (name, value) =
            parts.next().unwrap_or_default().split_once('=').unwrap_or_else(|| panic!("a cookie without '=': {header}"));
        Self { name: name.to_owned(), value: value.to_owned(), attributes: parts.map(str::to_owned).collect() }
    }

    /// Its `Max-Age`.
    #[track_caller]
    pub fn max_age(&self) -> i64 {
        let age = self.attributes.iter().find_map(|attribute| attribute.strip_prefix("Max-Age=")).expect("a Max-Age");
        age.parse().expect("a number of seconds")
    }

    /// Its `Domain`; none makes it host-only.
    pub fn domain(&self) -> Option<&str> {
        self.attributes.iter().find_map(|attribute| attribute.strip_prefix("Domain="))
    }

    /// Whether it tells the browser to forget.
    pub fn is_cleared(&self) -> bool {
        self.attributes.iter().any(|attribute| attribute == "Max-Age=0")
    }
}

impl CookieRules {
    pub(crate) fn of(config: &Config) -> Self {
        let same_site = match config.browser.cookie_same_site {
            SameSite::Lax => "SameSite=Lax",
            SameSite::Strict => "SameSite=Strict",
            SameSite::None => "SameSite=None",
        };
        Self { same_site, domain: config.browser.cookie_domain.clone() }
    }

    /// What is wrong with a cookie, if anything. With a domain configured, the host-only variant may only be cleared.
    pub fn complaint(&self, cookie: &Cookie) -> Option<String> {
        if !["access_token", "refresh_token", "partial_token"].contains(&cookie.name.as_str()) {
            return Some(format!("no cookie may be called {}", cookie.name));
        }
        let mut wanted = vec!["HttpOnly".to_owned(), "Secure".to_owned(), self.same_site.to_owned(), "Path=/".to_owned()];
        wanted.push(format!("Max-Age={}", cookie.max_age()));
        let clears_the_host_only_one = cookie.domain().is_none() && cookie.is_cleared();
        if let Some(domain) = self.domain.as_ref().filter(|_| !clears_the_host_only_one) {
            wanted.push(format!("Domain={domain}"));
        }
        let mut found = cookie.attributes.clone();
        found.sort();
        wanted.sort();
        if cookie.is_cleared() && !cookie.value.is_empty() {
            return Some(format!("{} is cleared with a value", cookie.name));
        }
        (found != wanted).then(|| format!("{} has {found:?} instead of {wanted:?}", cookie.name))
    }
}

impl Jar {
    /// Takes what a response sets and forgets what it clears.
    pub fn keep(&mut self, cookies: Vec<Cookie>) {
        for cookie in cookies {
            let domain = cookie.domain().map(str::to_owned);
            self.cookies.retain(|kept| kept.name != cookie.name || kept.domain != domain);
            if !cookie.is_cleared() {
                self.cookies.push(StoredCookie { name: cookie.name, domain, value: cookie.value });
            }
        }
    }

    /// A cookie's value.
    pub fn value(&self, name: &str) -> Option<String> {
        self.cookies.iter().find(|kept| kept.name == name).map(|kept| kept.value.clone())
    }

    /// Puts a cookie in by hand.
    pub fn put(&mut self, name: &str, value: &str) {
        self.forget(name);
        self.cookies.push(StoredCookie { name: name.to_owned(), domain: None, value: value.to_owned() });
    }

    /// Takes a cookie out by hand.
    pub fn forget(&mut self, name: &str) {
        self.cookies.retain(|kept| kept.name != name);
    }

    /// The `Cookie` header; empty when there is none to send.
    pub fn header(&self) -> String {
        self.cookies.iter().map(|kept| format!("{}={}", kept.name, kept.value)).collect::<Vec<_>>().join("; ")
    }
}
