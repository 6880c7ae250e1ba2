//! The settings of one deployment in one value, and what follows from them: addresses, lifetimes, links.

use std::time::Duration;

#[cfg(feature = "http")]
use ::http::HeaderValue;
use url::Url;

use super::{
    Audit, Browser, Languages, LinkedPage, LoginLimits, MailLinks, MailTemplates, Memory, Network, Organizations, Passwords,
    Product, Sessions, SignUp, Webhooks,
};
#[cfg(feature = "http")]
use crate::value::Language;
use crate::value::Origin;

/// The settings of one deployment. Start from [`Config::new`] and change what differs.
///
/// ```
/// use std::time::Duration;
/// use tenant_auth_core::Config;
///
/// let mut config = Config::new("https://auth.example.com".parse()?);
/// config.sessions.ttl = Duration::from_secs(12 * 60 * 60);
/// config.passwords.min_score = 3;
/// config.check()?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Config {
    /// Where people and browsers reach the service, without `/api/v1`; also the issuer (`iss`) of its tokens. An https URL
    /// (http for loopback) without query and fragment; a path, if any, is of letters, digits and `.`, `_`, `~`, `-` between single slashes.
    pub public_url: Url,
    /// Lifetimes of sessions and tokens.
    pub sessions: Sessions,
    /// Rate limits of logins.
    pub login: LoginLimits,
    /// Rules and hashing of passwords.
    pub passwords: Passwords,
    /// What an organization may have, and whose members are operators.
    pub organizations: Organizations,
    /// Whether anybody may make an organization.
    pub sign_up: SignUp,
    /// Where deliveries may go, and their retries.
    pub webhooks: Webhooks,
    /// Where the links in mails lead.
    pub mail_links: MailLinks,
    /// Cookies, origins and tokens of browsers.
    pub browser: Browser,
    /// What the product is called and looks like.
    pub product: Product,
    /// The languages of mails and pages.
    pub languages: Languages,
    /// Templates of mails in the place of ours. Default none.
    pub mail_templates: MailTemplates,
    /// Proxies in front of the service.
    pub network: Network,
    /// What is kept in memory.
    pub memory: Memory,
    /// How long the audit log is kept.
    pub audit: Audit,
}

impl Config {
    /// The defaults for a service reached at `public_url`.
    pub fn new(public_url: Url) -> Self {
        Self {
            public_url,
            sessions: Sessions::default(),
            login: LoginLimits::default(),
            passwords: Passwords::default(),
            organizations: Organizations::default(),
            sign_up: SignUp::default(),
            webhooks: Webhooks::default(),
            mail_links: MailLinks::default(),
            browser: Browser::default(),
            product: Product::default(),
            languages: Languages::default(),
            mail_templates: MailTemplates::default(),
            network: Network::default(),
            memory: Memory::default(),
            audit: Audit::default(),
        }
    }

    /// The issuer: the public URL without a trailing slash.
    pub(crate) fn issuer(&self) -> &str {
        self.public_url.as_str().trim_end_matches('/')
    }

    /// Whether the deployment allows this origin: the public URL's, or one that the operator's settings name.
    pub(crate) fn allows_origin(&self, origin: &str) -> bool {
        Origin::of(&self.public_url).as_str() == origin
            || self.browser.allowed_origins.iter().any(|allowed| allowed.as_str() == origin)
    }

    /// The language that an `Accept-Language` asks for, of those that there are.
    #[cfg(feature = "http")]
    pub(crate) fn language(&self, accept_language: &HeaderValue) -> Option<Language> {
        self.languages.asked_for(accept_language.to_str().ok()?).cloned()
    }

    /// The path under which every route lies, such as `/api/v1`.
    #[cfg(feature = "http")]
    pub(crate) fn base_path(&self) -> String {
        format!("{}/api/v1", self.public_path())
    }

    /// The path of the public URL without a trailing slash; empty for most.
    #[cfg(feature = "http")]
    pub(crate) fn public_path(&self) -> &str {
        self.public_url.path().trim_end_matches('/')
    }

    /// Where the product's logo is served, if it has one.
    #[cfg(feature = "http")]
    pub(crate) fn logo_url(&self) -> Option<String> {
        self.product.logo.as_ref().map(|_| format!("{}/api/v1/logo", self.issuer()))
    }

    /// How long a generation's tokens are good for something: the longer-lived of the two.
    pub(crate) fn generation_ttl(&self) -> Duration {
        self.sessions.refresh_token_ttl.max(self.sessions.access_token_ttl)
    }

    /// The link for a mail. Links come from the settings alone, never from a request.
    pub(crate) fn link(&self, page: LinkedPage, slug: &str, token: &str) -> String {
        let (template, path) = match page {
            LinkedPage::Invite => (&self.mail_links.invite, "invite"),
            LinkedPage::Reset => (&self.mail_links.reset, "reset"),
            LinkedPage::Verify => (&self.mail_links.verify, "verify"),
            LinkedPage::ChangeEmail => (&self.mail_links.change_email, "change-email"),
            LinkedPage::SignUp => (&self.mail_links.sign_up, "sign-up"),
        };
        match template {
            Some(template) => template.replace("{slug}", slug).replace("{token}", token),
            None if slug.is_empty() => format!("{}/{path}#token={token}", self.issuer()),
            // A fragment never reaches a server's log.
            None => format!("{}/{path}#org={slug}&token={token}", self.issuer()),
        }
    }
}
