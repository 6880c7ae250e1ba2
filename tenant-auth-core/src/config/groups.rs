//! The groups of [`Config`](super::Config): each setting with its meaning, unit and default.

use std::time::Duration;

use ipnet::IpNet;

use super::{SameSite, TokensInBody};
use crate::{
    ports::Argon2Params,
    secret::Pepper,
    value::{Origin, Rejected, Slug, parsed_network},
};

const MINUTE: u64 = 60;
const HOUR: u64 = 60 * MINUTE;
const DAY: u64 = 24 * HOUR;

/// How long a session and its tokens live, and how many sessions a person may have.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Sessions {
    /// Lifetime of an access token. At least 1 s; default 900 s.
    pub access_token_ttl: Duration,
    /// Lifetime of a refresh token. At least 1 s; default 7 days.
    pub refresh_token_ttl: Duration,
    /// How long a superseded refresh token is honoured, because parallel tabs and lost replies present it. At most 60 s;
    /// default 30 s.
    pub refresh_grace: Duration,
    /// Lifetime of a session, counted from its login and not extended by use. At least 1 s; default 30 days.
    pub ttl: Duration,
    /// Sessions that one person may have in one organization; one more login ends the oldest session. At least 1; default 20.
    pub max_per_user: u32,
}

/// How a login is limited: its rate limits and the time for its second step.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct LoginLimits {
    /// Failed logins to one account from one address before that address is blocked from the account. At least 1; default 5.
    pub max_failures: u32,
    /// The time in which failures from one address are counted; after a wait as long as this or longer, from its end on. At least 1 s;
    /// default 15 minutes.
    pub window: Duration,
    /// Failed logins from one address (IPv6: one /64) within the window, over all accounts. At least 1; default 50.
    pub max_failures_per_ip: u32,
    /// Failed logins to one account within an hour, over all addresses. At least 1; default 100.
    pub max_failures_per_account: u32,
    /// Lifetime of a partial token: the time for the second step of a login. At least 1 s; default 300 s.
    pub partial_token_ttl: Duration,
}

/// Which passwords are accepted, and how passwords are hashed.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Passwords {
    /// The least zxcvbn score of a new password, from 0 (guessed at once) to 4 (very hard to guess). Default 1.
    pub min_score: u8,
    /// The cost of a password hash, when the hasher is not replaced. Default 19456 KiB, 2 passes, 1 lane.
    pub argon2: Argon2Params,
    /// A secret mixed into every password hash, kept outside the database. Losing the pepper loses every password. Default none.
    pub pepper: Option<Pepper>,
    /// Peppers with which passwords were hashed before, here or at a deployment that an organization came from: they verify, and a login
    /// hashes anew with [`Self::pepper`]. An empty one stands for hashes without a pepper. Each costs a failed login one more hash. At
    /// most three; default none.
    pub former_peppers: Vec<Pepper>,
}

/// What an organization may have, and which organization holds the deployment's operators.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Organizations {
    /// Lifetime of an invite. At least 1 s; default 7 days.
    pub invite_ttl: Duration,
    /// API keys that one organization may have. Default 20.
    pub max_api_keys: u32,
    /// Webhooks that one organization may have. Default 10.
    pub max_webhooks: u32,
    /// The organization whose members may be operators of the deployment. Default none: then there are no operators over HTTP.
    pub operator_org: Option<Slug>,
    /// Days between the order to delete an organization and its removal, during which the order can be cancelled. At most 3,650; 0: it
    /// is removed at once. Default 30.
    pub purge_after_days: u32,
}

/// Whether anybody may make an organization (sign-up), and which.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct SignUp {
    /// Whether sign-up is open. Default `false`: organizations are made by operators and deployment keys alone.
    pub is_open: bool,
    /// Organizations that sign-up makes in 24 hours, of all people together; twice as many links to sign up with, ten at least, are mailed in
    /// an hour, and further requests for one wait. At least 1; default 200.
    pub per_day: u32,
    /// Slugs that sign-up gives to nobody, beside those that the service keeps for itself and the operators'. Default none.
    pub reserved_slugs: Vec<Slug>,
}

/// Where deliveries of webhooks may go, how long an attempt may take, and when a failed attempt is retried.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Webhooks {
    /// Whether deliveries may go to private and loopback networks, over http and to any port: without the protection against
    /// SSRF. For development, and for deployments whose customers are on the same network. Default `false`.
    pub allow_private_networks: bool,
    /// The ports that deliveries may go to. Default 443 and 8443.
    pub ports: Vec<u16>,
    /// Waits before the retries of a delivery, each varied by 15 %; the first attempt is made at once. Less than 26 days in all, for
    /// deliveries are kept for 30; default nine waits, from 5 s to 24 h.
    pub retry_schedule: Vec<Duration>,
    /// The time that one attempt may take in all. At least 1 s; default 15 s.
    pub timeout: Duration,
}

/// The links in mails: templates in which `{token}` and `{slug}` are filled in.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct MailLinks {
    /// The link that accepts an invite. Must contain `{token}`; default `{public_url}/invite#org={slug}&token={token}`.
    pub invite: Option<String>,
    /// The link that resets a password. Must contain `{token}`; default `{public_url}/reset#org={slug}&token={token}`.
    pub reset: Option<String>,
    /// The link that verifies an address. Must contain `{token}`; default `{public_url}/verify#org={slug}&token={token}`.
    pub verify: Option<String>,
    /// The link that changes an address. Must contain `{token}`; default
    /// `{public_url}/change-email#org={slug}&token={token}`.
    pub change_email: Option<String>,
    /// The link by which somebody makes an organization (sign-up). Must contain `{token}`; default `{public_url}/sign-up#token={token}`.
    pub sign_up: Option<String>,
}

/// What browsers get and may do: cookies, allowed origins, tokens in bodies.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Browser {
    /// Browser origins that every organization allows, beside the organization's own. Default none.
    pub allowed_origins: Vec<Origin>,
    /// The `Domain` of the cookies, in ASCII. Default none: then only the public URL's host gets the cookies. Every host below it gets the
    /// refresh tokens of whoever visits it, so each must be as trusted as the service. Browsers drop the cookies where the host that they
    /// ask is neither that domain nor below it.
    pub cookie_domain: Option<String>,
    /// The `SameSite` of the cookies. [`SameSite::None`] needs an https public URL; default [`SameSite::Lax`].
    pub cookie_same_site: SameSite,
    /// Whether browsers too get tokens in response bodies. Default [`TokensInBody::NonBrowser`]: they do not.
    pub tokens_in_body: TokensInBody,
}

/// What stands between the clients and the service.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Network {
    /// Reverse proxies whose `X-Forwarded-For` is believed. Default none.
    pub trusted_proxies: Vec<IpNet>,
}

impl Network {
    /// Behind these proxies: addresses and networks with commas or spaces between, such as `127.0.0.1, 10.1.0.0/16`; or `none`.
    ///
    /// # Errors
    /// [`Rejected`], saying what it must be.
    pub fn behind(proxies: &str) -> Result<Self, Rejected> {
        let mut named = proxies.split(|mark: char| mark == ',' || mark.is_whitespace()).filter(|name| !name.is_empty()).peekable();
        let is_stated = named.peek().is_some();
        let trusted_proxies = if proxies.trim() == "none" { Some(Vec::new()) } else { named.map(parsed_network).collect() };
        let trusted_proxies = trusted_proxies.filter(|_| is_stated);
        let trusted_proxies = trusted_proxies
            .ok_or_else(|| Rejected::because("must be addresses and networks such as 127.0.0.1, 10.1.0.0/16, or none"))?;
        Ok(Self { trusted_proxies })
    }
}

/// What this process may keep in memory of what the database said, so that callers are judged without it.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Memory {
    /// The most memory for it, in MiB. At most 65,536; 0 turns it off. Default 64.
    pub mebibytes: u32,
    /// How old the last look at the changes may be when an answer is given from memory; changes that end or narrow a right are
    /// acknowledged a quarter more than that after their commit, by every process on the same database. From 20 ms to 1 s; default
    /// 100 ms.
    pub freshness: Duration,
}

/// How long the audit log is kept.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Audit {
    /// Days after which an event is removed from the audit log and the feed. At most 36,500; 0: never. Default 400.
    pub retention_days: u32,
    /// Days after which the address, the `User-Agent` and the session of an entry's request are wiped. At most 36,500; 0: they are
    /// never written. Default 90.
    pub context_days: u32,
}

impl Default for Audit {
    fn default() -> Self {
        Self { retention_days: 400, context_days: 90 }
    }
}

impl Default for Memory {
    fn default() -> Self {
        Self { mebibytes: 64, freshness: Duration::from_millis(100) }
    }
}

impl Default for Sessions {
    fn default() -> Self {
        Self {
            access_token_ttl: Duration::from_secs(15 * MINUTE),
            refresh_token_ttl: Duration::from_secs(7 * DAY),
            refresh_grace: Duration::from_secs(30),
            ttl: Duration::from_secs(30 * DAY),
            max_per_user: 20,
        }
    }
}

impl Default for LoginLimits {
    fn default() -> Self {
        Self {
            max_failures: 5,
            window: Duration::from_secs(15 * MINUTE),
            max_failures_per_ip: 50,
            max_failures_per_account: 100,
            partial_token_ttl: Duration::from_secs(5 * MINUTE),
        }
    }
}

impl Default for Passwords {
    fn default() -> Self {
        Self { min_score: 1, argon2: Argon2Params::default(), pepper: None, former_peppers: Vec::new() }
    }
}

impl Default for Organizations {
    fn default() -> Self {
        Self {
            invite_ttl: Duration::from_secs(7 * DAY),
            max_api_keys: 20,
            max_webhooks: 10,
            operator_org: None,
            purge_after_days: 30,
        }
    }
}

impl Default for SignUp {
    fn default() -> Self {
        Self { is_open: false, per_day: 200, reserved_slugs: Vec::new() }
    }
}

impl Default for Webhooks {
    fn default() -> Self {
        let retries = [5, 5 * MINUTE, 30 * MINUTE, 2 * HOUR, 5 * HOUR, 10 * HOUR, 14 * HOUR, 20 * HOUR, 24 * HOUR];
        Self {
            allow_private_networks: false,
            ports: vec![443, 8443],
            retry_schedule: retries.map(Duration::from_secs).to_vec(),
            timeout: Duration::from_secs(15),
        }
    }
}
