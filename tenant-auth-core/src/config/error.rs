//! Why a setting cannot be used: [`ConfigError`], which names the setting by a [`Setting`] and not by a text, so that a host can
//! say it in the words in which the host was told (an environment variable, a key of its own file); and [`SetupError`].

use std::fmt;

use crate::error::Error;

/// A setting that cannot be used, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ConfigError {
    /// The setting.
    pub setting: Setting,
    /// What the setting must be; to be read after its name: `must be …`, `names …`.
    pub reason: String,
}

/// Makes [`Setting`] of one line for each setting: its name, and its path in `Config`.
macro_rules! settings {
    ($($(#[$docs:meta])* $name:ident => $path:literal,)*) => {
        /// The settings that the core may refuse: the fields of [`Config`](super::Config) that have bounds, and the URL of the database.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum Setting {
            $($(#[$docs])* $name,)*
        }

        impl Setting {
            /// Every one of them.
            pub const ALL: &'static [Self] = &[$(Self::$name),*];

            /// Where the setting lies in [`Config`](super::Config), such as `sessions.refresh_grace`; `database_url` lies outside.
            pub const fn path(self) -> &'static str {
                match self {
                    $(Self::$name => $path,)*
                }
            }
        }
    };
}

settings! {
    /// The URL given to [`Store::open`](crate::Store::open).
    DatabaseUrl => "database_url",
    /// [`Config::public_url`](super::Config::public_url).
    PublicUrl => "public_url",
    /// [`Network::trusted_proxies`](super::Network::trusted_proxies).
    TrustedProxies => "network.trusted_proxies",
    /// [`Sessions::access_token_ttl`](super::Sessions::access_token_ttl).
    AccessTokenTtl => "sessions.access_token_ttl",
    /// [`Sessions::refresh_token_ttl`](super::Sessions::refresh_token_ttl).
    RefreshTokenTtl => "sessions.refresh_token_ttl",
    /// [`Sessions::refresh_grace`](super::Sessions::refresh_grace).
    RefreshGrace => "sessions.refresh_grace",
    /// [`Sessions::ttl`](super::Sessions::ttl).
    SessionTtl => "sessions.ttl",
    /// [`Sessions::max_per_user`](super::Sessions::max_per_user).
    SessionsPerUser => "sessions.max_per_user",
    /// [`LoginLimits::max_failures`](super::LoginLimits::max_failures).
    LoginMaxFailures => "login.max_failures",
    /// [`LoginLimits::window`](super::LoginLimits::window).
    LoginWindow => "login.window",
    /// [`LoginLimits::max_failures_per_ip`](super::LoginLimits::max_failures_per_ip).
    LoginMaxFailuresPerIp => "login.max_failures_per_ip",
    /// [`LoginLimits::max_failures_per_account`](super::LoginLimits::max_failures_per_account).
    LoginMaxFailuresPerAccount => "login.max_failures_per_account",
    /// [`LoginLimits::partial_token_ttl`](super::LoginLimits::partial_token_ttl).
    PartialTokenTtl => "login.partial_token_ttl",
    /// [`Passwords::min_score`](super::Passwords::min_score).
    PasswordMinScore => "passwords.min_score",
    /// [`Passwords::argon2`](super::Passwords::argon2).
    Argon2 => "passwords.argon2",
    /// [`Passwords::pepper`](super::Passwords::pepper).
    PasswordPepper => "passwords.pepper",
    /// [`Organizations::invite_ttl`](super::Organizations::invite_ttl).
    InviteTtl => "organizations.invite_ttl",
    /// [`Organizations::operator_org`](super::Organizations::operator_org).
    OperatorOrg => "organizations.operator_org",
    /// [`Webhooks::timeout`](super::Webhooks::timeout).
    WebhookTimeout => "webhooks.timeout",
    /// [`Webhooks::retry_schedule`](super::Webhooks::retry_schedule).
    WebhookRetrySchedule => "webhooks.retry_schedule",
    /// [`MailLinks::invite`](super::MailLinks::invite).
    InviteLink => "mail_links.invite",
    /// [`MailLinks::reset`](super::MailLinks::reset).
    ResetLink => "mail_links.reset",
    /// [`MailLinks::verify`](super::MailLinks::verify).
    VerifyLink => "mail_links.verify",
    /// [`MailLinks::change_email`](super::MailLinks::change_email).
    ChangeEmailLink => "mail_links.change_email",
    /// [`MailLinks::sign_up`](super::MailLinks::sign_up).
    SignUpLink => "mail_links.sign_up",
    /// [`Config::mail_templates`](super::Config::mail_templates).
    MailTemplates => "mail_templates",
    /// [`SignUp::per_day`](super::SignUp::per_day).
    SignUpsPerDay => "sign_up.per_day",
    /// [`Browser::cookie_domain`](super::Browser::cookie_domain).
    CookieDomain => "browser.cookie_domain",
    /// [`Browser::cookie_same_site`](super::Browser::cookie_same_site).
    CookieSameSite => "browser.cookie_same_site",
    /// [`Organizations::purge_after_days`](super::Organizations::purge_after_days).
    PurgeAfter => "organizations.purge_after_days",
    /// [`Memory::mebibytes`](super::Memory::mebibytes).
    Memory => "memory.mebibytes",
    /// [`Memory::freshness`](super::Memory::freshness).
    Freshness => "memory.freshness",
    /// [`Audit::retention_days`](super::Audit::retention_days).
    AuditRetention => "audit.retention_days",
    /// [`Audit::context_days`](super::Audit::context_days).
    AuditContextRetention => "audit.context_days",
}

/// A part of the service, such as its database, that cannot be set up.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SetupError {
    /// A setting cannot be used.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The part does not answer, or failed. Whoever starts a program reads this, so it names the causes.
    #[error("{}", .0.causes())]
    Failed(Error),
}

impl From<Error> for SetupError {
    fn from(error: Error) -> Self {
        Self::Failed(error)
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
