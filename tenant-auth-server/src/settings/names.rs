//! The names of all settings (behaviour.md, B121): what a settings file may hold, and which environment variables are ours.
//! A new setting is a row here and a line where it is read; a test finds the row that nobody reads.

use tenant_auth_core::config::Setting;

/// What precedes a setting's name in the environment.
pub(super) const PREFIX: &str = "TENANT_AUTH_";

/// How many values a setting has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    /// One value.
    One,
    /// Several: comma-separated, in a file also an array.
    List,
}

/// Every setting, by its name in a file.
pub(super) const SETTINGS: &[(&str, Shape)] = &[
    ("database_url", Shape::One),
    ("database_connections", Shape::One),
    ("listen", Shape::One),
    ("metrics_listen", Shape::One),
    ("public_url", Shape::One),
    ("master_key", Shape::List),
    ("master_key_file", Shape::One),
    ("smtp_url", Shape::One),
    ("mail_from", Shape::One),
    ("invite_url", Shape::One),
    ("reset_url", Shape::One),
    ("verify_url", Shape::One),
    ("change_email_url", Shape::One),
    ("trusted_proxies", Shape::List),
    ("allowed_origins", Shape::List),
    ("operator_org", Shape::One),
    ("cookie_domain", Shape::One),
    ("cookie_same_site", Shape::One),
    ("tokens_in_body", Shape::One),
    ("access_token_ttl", Shape::One),
    ("refresh_token_ttl", Shape::One),
    ("partial_token_ttl", Shape::One),
    ("session_ttl", Shape::One),
    ("refresh_grace", Shape::One),
    ("invite_ttl", Shape::One),
    ("sessions_per_user", Shape::One),
    ("login_max_failures", Shape::One),
    ("login_window", Shape::One),
    ("login_max_failures_per_ip", Shape::One),
    ("login_max_failures_per_account", Shape::One),
    ("api_keys_per_org", Shape::One),
    ("webhooks_per_org", Shape::One),
    ("webhook_allow_private_networks", Shape::One),
    ("webhook_ports", Shape::List),
    ("webhook_retry_schedule", Shape::List),
    ("webhook_timeout", Shape::One),
    ("password_min_score", Shape::One),
    ("password_pepper", Shape::One),
    ("argon2", Shape::List),
    ("log", Shape::One),
    ("log_format", Shape::One),
];

/// The name people know a setting by: that of its environment variable.
pub(super) fn env_name(name: &str) -> String {
    format!("{PREFIX}{}", name.to_ascii_uppercase())
}

/// The name of what the core calls a setting.
pub(super) fn name_of(setting: Setting) -> &'static str {
    match setting {
        Setting::DatabaseUrl => "database_url",
        Setting::AccessTokenTtl => "access_token_ttl",
        Setting::RefreshTokenTtl => "refresh_token_ttl",
        Setting::RefreshGrace => "refresh_grace",
        Setting::SessionTtl => "session_ttl",
        Setting::SessionsPerUser => "sessions_per_user",
        Setting::LoginMaxFailures => "login_max_failures",
        Setting::LoginWindow => "login_window",
        Setting::LoginMaxFailuresPerIp => "login_max_failures_per_ip",
        Setting::LoginMaxFailuresPerAccount => "login_max_failures_per_account",
        Setting::PartialTokenTtl => "partial_token_ttl",
        Setting::PasswordMinScore => "password_min_score",
        Setting::Argon2 => "argon2",
        Setting::PasswordPepper => "password_pepper",
        Setting::InviteTtl => "invite_ttl",
        Setting::OperatorOrg => "operator_org",
        Setting::WebhookTimeout => "webhook_timeout",
        Setting::InviteLink => "invite_url",
        Setting::ResetLink => "reset_url",
        Setting::VerifyLink => "verify_url",
        Setting::ChangeEmailLink => "change_email_url",
        Setting::CookieSameSite => "cookie_same_site",
        _ => "public_url",
    }
}
