//! Why a setting cannot be used: [`ConfigError`], which names the setting by a [`Setting`] and not by a text, so that a host can
//! say it in the words in which the host was told (an environment variable, a key of its own file).

use std::fmt;

/// A setting that cannot be used, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ConfigError {
    /// The setting.
    pub setting: Setting,
    /// What the setting must be; to be read after its name: `must be …`, `names …`.
    pub reason: String,
}

/// The settings that the core may refuse: the fields of [`Config`](super::Config) that have bounds, and the URL of the database.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Setting {
    /// The URL given to [`Store::open`](crate::Store::open).
    DatabaseUrl,
    /// [`Config::public_url`](super::Config::public_url).
    PublicUrl,
    /// [`Sessions::access_token_ttl`](super::Sessions::access_token_ttl).
    AccessTokenTtl,
    /// [`Sessions::refresh_token_ttl`](super::Sessions::refresh_token_ttl).
    RefreshTokenTtl,
    /// [`Sessions::refresh_grace`](super::Sessions::refresh_grace).
    RefreshGrace,
    /// [`Sessions::ttl`](super::Sessions::ttl).
    SessionTtl,
    /// [`Sessions::max_per_user`](super::Sessions::max_per_user).
    SessionsPerUser,
    /// [`LoginLimits::max_failures`](super::LoginLimits::max_failures).
    LoginMaxFailures,
    /// [`LoginLimits::window`](super::LoginLimits::window).
    LoginWindow,
    /// [`LoginLimits::max_failures_per_ip`](super::LoginLimits::max_failures_per_ip).
    LoginMaxFailuresPerIp,
    /// [`LoginLimits::max_failures_per_account`](super::LoginLimits::max_failures_per_account).
    LoginMaxFailuresPerAccount,
    /// [`LoginLimits::partial_token_ttl`](super::LoginLimits::partial_token_ttl).
    PartialTokenTtl,
    /// [`Passwords::min_score`](super::Passwords::min_score).
    PasswordMinScore,
    /// [`Passwords::argon2`](super::Passwords::argon2).
    Argon2,
    /// [`Passwords::pepper`](super::Passwords::pepper).
    PasswordPepper,
    /// [`Organizations::invite_ttl`](super::Organizations::invite_ttl).
    InviteTtl,
    /// [`Organizations::operator_org`](super::Organizations::operator_org).
    OperatorOrg,
    /// [`Webhooks::timeout`](super::Webhooks::timeout).
    WebhookTimeout,
    /// [`MailLinks::invite`](super::MailLinks::invite).
    InviteLink,
    /// [`MailLinks::reset`](super::MailLinks::reset).
    ResetLink,
    /// [`MailLinks::verify`](super::MailLinks::verify).
    VerifyLink,
    /// [`MailLinks::change_email`](super::MailLinks::change_email).
    ChangeEmailLink,
    /// [`Browser::cookie_same_site`](super::Browser::cookie_same_site).
    CookieSameSite,
}

impl Setting {
    /// Where the setting lies in [`Config`](super::Config), such as `sessions.refresh_grace`; `database_url` lies outside.
    pub const fn path(self) -> &'static str {
        match self {
            Self::DatabaseUrl => "database_url",
            Self::PublicUrl => "public_url",
            Self::AccessTokenTtl => "sessions.access_token_ttl",
            Self::RefreshTokenTtl => "sessions.refresh_token_ttl",
            Self::RefreshGrace => "sessions.refresh_grace",
            Self::SessionTtl => "sessions.ttl",
            Self::SessionsPerUser => "sessions.max_per_user",
            Self::LoginMaxFailures => "login.max_failures",
            Self::LoginWindow => "login.window",
            Self::LoginMaxFailuresPerIp => "login.max_failures_per_ip",
            Self::LoginMaxFailuresPerAccount => "login.max_failures_per_account",
            Self::PartialTokenTtl => "login.partial_token_ttl",
            Self::PasswordMinScore => "passwords.min_score",
            Self::Argon2 => "passwords.argon2",
            Self::PasswordPepper => "passwords.pepper",
            Self::InviteTtl => "organizations.invite_ttl",
            Self::OperatorOrg => "organizations.operator_org",
            Self::WebhookTimeout => "webhooks.timeout",
            Self::InviteLink => "mail_links.invite",
            Self::ResetLink => "mail_links.reset",
            Self::VerifyLink => "mail_links.verify",
            Self::ChangeEmailLink => "mail_links.change_email",
            Self::CookieSameSite => "browser.cookie_same_site",
        }
    }
}

impl ConfigError {
    pub(crate) fn new(setting: Setting, reason: impl Into<String>) -> Self {
        Self { setting, reason: reason.into() }
    }
}

impl fmt::Display for Setting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.path())
    }
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.setting, self.reason)
    }
}

impl std::error::Error for ConfigError {}
