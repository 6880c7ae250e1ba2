//! What an operator may decide about the service. Every field has the contract's value as its default; [`Config::check`] refuses
//! what could not work or would not be safe.

use std::time::Duration;

use ipnet::IpNet;
use url::Url;

use crate::{
    error::Error,
    ports::Argon2Params,
    value::{Origin, Slug},
};

/// The settings of one deployment. Start from [`Config::new`] and change what differs.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Config {
    /// Where people and browsers reach the service, without `/api/v1`; also the issuer (`iss`) of its tokens.
    pub public_url: Url,
    /// Lifetime of an access token; 900 s.
    pub access_token_ttl: Duration,
    /// Lifetime of a refresh token; 7 days.
    pub refresh_token_ttl: Duration,
    /// Time for the second step of a login; 300 s.
    pub partial_token_ttl: Duration,
    /// A session ends this long after its login at the latest; 30 days.
    pub session_ttl: Duration,
    /// How long a superseded refresh token is honoured after its own supersession; 30 s, at most 60.
    pub refresh_grace: Duration,
    /// Validity of an invite; 7 days.
    pub invite_ttl: Duration,
    /// Sessions one person may have in one organization; the oldest ends beyond. 20.
    pub sessions_per_user: u32,
    /// API keys an organization may have; 20.
    pub api_keys_per_org: u32,
    /// Webhooks an organization may have; 10.
    pub webhooks_per_org: u32,
    /// Whether deliveries may go to private and loopback networks, over http and to any port; `false`. For development and for
    /// deployments whose customers are on the same network.
    pub webhook_allow_private_networks: bool,
    /// The ports deliveries may go to; 443 and 8443.
    pub webhook_ports: Vec<u16>,
    /// Waits between the attempts of a delivery, each varied by 15 %; the first attempt is made at once. 5 s to 24 h, nine waits.
    pub webhook_retry_schedule: Vec<Duration>,
    /// The time one attempt may take in all; 15 s.
    pub webhook_timeout: Duration,
    /// Failed logins of one account from one address before it is blocked; 5.
    pub login_max_failures: u32,
    /// The time in which failures from one address are counted; 15 min.
    pub login_window: Duration,
    /// Failed logins from one address (IPv6: /64) in that time, over all accounts; 50.
    pub login_max_failures_per_ip: u32,
    /// Failed logins of one account in an hour, over all addresses; 100.
    pub login_max_failures_per_account: u32,
    /// The least zxcvbn score (0–4) of a new password; 1.
    pub password_min_score: u8,
    /// The cost of a password hash, when the hasher is not replaced.
    pub argon2: Argon2Params,
    /// A secret mixed into every password hash. Losing it loses every password.
    pub password_pepper: Option<String>,
    /// The link in an invitation mail, with `{token}` and `{slug}`; default `{public_url}/invite#org={slug}&token={token}`.
    pub invite_url: Option<String>,
    /// The link in a mail that resets a password; default `{public_url}/reset#org={slug}&token={token}`.
    pub reset_url: Option<String>,
    /// The link in a mail that verifies an address; default `{public_url}/verify#…`.
    pub verify_url: Option<String>,
    /// The link in a mail that changes an address; default `{public_url}/change-email#…`.
    pub change_email_url: Option<String>,
    /// Proxies whose `X-Forwarded-For` is believed.
    pub trusted_proxies: Vec<IpNet>,
    /// The organization whose members may be operators of the deployment; none means that nobody is, but on the command line.
    pub operator_org: Option<Slug>,
    /// Browser origins allowed for every organization, beside its own.
    pub allowed_origins: Vec<Origin>,
    /// The `Domain` of the cookies; none makes them host-only.
    pub cookie_domain: Option<String>,
    /// The `SameSite` of the cookies.
    pub cookie_same_site: SameSite,
    /// Whether browsers get tokens in bodies too.
    pub tokens_in_body: TokensInBody,
}

/// The `SameSite` attribute of the session cookies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SameSite {
    /// Sent on top-level navigation and same-site requests.
    #[default]
    Lax,
    /// Sent on same-site requests only.
    Strict,
    /// Sent always.
    None,
}

/// When `accessToken` and `refreshToken` stand in response bodies (contract section 3).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum TokensInBody {
    /// Whenever no browser asks, that is when neither `Origin` nor `Sec-Fetch-Site` is present.
    #[default]
    NonBrowser,
    /// Always.
    Always,
}

/// The pages that mails link to.
#[derive(Debug, Clone, Copy)]
pub(crate) enum LinkedPage {
    Invite,
    Reset,
    Verify,
    ChangeEmail,
}

const MINUTE: u64 = 60;
const HOUR: u64 = 60 * MINUTE;
const DAY: u64 = 24 * HOUR;

impl Config {
    /// The contract's defaults for a service reached at `public_url`.
    pub fn new(public_url: Url) -> Self {
        Self {
            public_url,
            access_token_ttl: Duration::from_secs(15 * MINUTE),
            refresh_token_ttl: Duration::from_secs(7 * DAY),
            partial_token_ttl: Duration::from_secs(5 * MINUTE),
            session_ttl: Duration::from_secs(30 * DAY),
            refresh_grace: Duration::from_secs(30),
            invite_ttl: Duration::from_secs(7 * DAY),
            sessions_per_user: 20,
            api_keys_per_org: 20,
            webhooks_per_org: 10,
            webhook_allow_private_networks: false,
            webhook_ports: vec![443, 8443],
            webhook_retry_schedule: [5, 5 * MINUTE, 30 * MINUTE, 2 * HOUR, 5 * HOUR, 10 * HOUR, 14 * HOUR, 20 * HOUR, 24 * HOUR]
                .map(Duration::from_secs)
                .to_vec(),
            webhook_timeout: Duration::from_secs(15),
            login_max_failures: 5,
            login_window: Duration::from_secs(15 * MINUTE),
            login_max_failures_per_ip: 50,
            login_max_failures_per_account: 100,
            password_min_score: 1,
            argon2: Argon2Params::default(),
            password_pepper: None,
            invite_url: None,
            reset_url: None,
            verify_url: None,
            change_email_url: None,
            trusted_proxies: Vec::new(),
            operator_org: None,
            allowed_origins: Vec::new(),
            cookie_domain: None,
            cookie_same_site: SameSite::default(),
            tokens_in_body: TokensInBody::default(),
        }
    }

    /// Refuses settings that could not work, naming the first such setting.
    ///
    /// # Errors
    /// [`Error::Invalid`] with the setting's name as the field.
    pub fn check(&self) -> Result<(), Error> {
        if self.public_url.host().is_none() || self.public_url.query().is_some() || self.public_url.fragment().is_some() {
            return Err(Error::invalid("public_url", "must be an absolute URL without query and fragment"));
        }
        if !matches!(self.public_url.scheme(), "https" | "http") {
            return Err(Error::invalid("public_url", "must be an https URL (http for loopback)"));
        }
        let lifetimes = [
            ("access_token_ttl", self.access_token_ttl),
            ("refresh_token_ttl", self.refresh_token_ttl),
            ("partial_token_ttl", self.partial_token_ttl),
            ("session_ttl", self.session_ttl),
            ("login_window", self.login_window),
            ("invite_ttl", self.invite_ttl),
            ("webhook_timeout", self.webhook_timeout),
        ];
        if let Some((name, _)) = lifetimes.iter().find(|(_, ttl)| ttl.as_secs() < 1) {
            return Err(Error::invalid(*name, "must be at least 1 second"));
        }
        if self.refresh_grace > Duration::from_secs(60) {
            return Err(Error::invalid("refresh_grace", "must be between 0 and 60 seconds"));
        }
        if self.password_min_score > 4 {
            return Err(Error::invalid("password_min_score", "must be between 0 and 4"));
        }
        if self.sessions_per_user == 0 {
            return Err(Error::invalid("sessions_per_user", "must be at least 1"));
        }
        let limits = [
            ("login_max_failures", self.login_max_failures),
            ("login_max_failures_per_ip", self.login_max_failures_per_ip),
            ("login_max_failures_per_account", self.login_max_failures_per_account),
        ];
        if let Some((name, _)) = limits.iter().find(|(_, most)| *most == 0) {
            return Err(Error::invalid(*name, "must be at least 1"));
        }
        let templates = [
            ("invite_url", &self.invite_url),
            ("reset_url", &self.reset_url),
            ("verify_url", &self.verify_url),
            ("change_email_url", &self.change_email_url),
        ];
        if let Some((name, _)) = templates.iter().find(|(_, url)| url.as_ref().is_some_and(|url| !url.contains("{token}"))) {
            return Err(Error::invalid(*name, "must contain {token}"));
        }
        if self.cookie_same_site == SameSite::None && self.public_url.scheme() != "https" {
            return Err(Error::invalid("cookie_same_site", "none needs an https public URL"));
        }
        Ok(())
    }

    /// The issuer: the public URL without a trailing slash.
    pub(crate) fn issuer(&self) -> &str {
        self.public_url.as_str().trim_end_matches('/')
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

    /// How long a generation's tokens are good for something: the longer-lived of the two.
    pub(crate) fn generation_ttl(&self) -> Duration {
        self.refresh_token_ttl.max(self.access_token_ttl)
    }

    /// The link for a mail. Links come from the settings alone, never from a request.
    pub(crate) fn link(&self, page: LinkedPage, slug: &str, token: &str) -> String {
        let (template, path) = match page {
            LinkedPage::Invite => (&self.invite_url, "invite"),
            LinkedPage::Reset => (&self.reset_url, "reset"),
            LinkedPage::Verify => (&self.verify_url, "verify"),
            LinkedPage::ChangeEmail => (&self.change_email_url, "change-email"),
        };
        match template {
            Some(template) => template.replace("{slug}", slug).replace("{token}", token),
            // A fragment never reaches a server's log.
            None => format!("{}/{path}#org={slug}&token={token}", self.issuer()),
        }
    }
}
