//! Validation of a [`Config`]: refuses values that could not work or would not be safe, before anything starts.

use std::time::Duration;

use super::{Config, ConfigError, SameSite, Setting};
use crate::value::refuse_everybody;

/// Each costs a failed login one more hash.
const MOST_FORMER_PEPPERS: usize = 3;

impl Config {
    /// Refuses settings that could not work, naming the first such setting.
    ///
    /// # Errors
    /// [`ConfigError`], with the setting and what it must be.
    pub fn check(&self) -> Result<(), ConfigError> {
        self.check_public_url()?;
        refuse_everybody(&self.network.trusted_proxies)
            .map_err(|rejected| ConfigError::new(Setting::TrustedProxies, rejected.to_string()))?;
        self.check_durations()?;
        self.check_numbers()?;
        self.check_mail_links()?;
        if let Some(name) = self.mail_templates.of_no_language(|language| self.languages.has(language)) {
            return Err(ConfigError::new(
                Setting::MailTemplates,
                format!("names {name}, of a language that mails are not written in"),
            ));
        }
        if self.browser.cookie_domain.as_deref().is_some_and(|domain| !is_cookie_domain(domain)) {
            return Err(ConfigError::new(Setting::CookieDomain, "must be a domain such as example.com, in ASCII"));
        }
        if self.browser.cookie_same_site == SameSite::None && self.public_url.scheme() != "https" {
            return Err(ConfigError::new(Setting::CookieSameSite, "none needs an https public URL"));
        }
        Ok(())
    }

    fn check_public_url(&self) -> Result<(), ConfigError> {
        let refused = |reason| Err(ConfigError::new(Setting::PublicUrl, reason));
        if self.public_url.host().is_none() || self.public_url.query().is_some() || self.public_url.fragment().is_some() {
            return refused("must be an absolute URL without query and fragment");
        }
        if !self.public_url.username().is_empty() || self.public_url.password().is_some() {
            return refused("must be without user name and password");
        }
        if !matches!(self.public_url.scheme(), "https" | "http") {
            return refused("must be an https URL (http for loopback)");
        }
        if self.public_url.path().trim_end_matches('/').ends_with("/api/v1") {
            return refused("must end before /api/v1, which the service adds itself");
        }
        if !is_plain_path(self.public_url.path()) {
            return refused("must have a path, if any, of letters, digits and . _ ~ - between single slashes, such as /auth");
        }
        Ok(())
    }

    fn check_durations(&self) -> Result<(), ConfigError> {
        let lifetimes = [
            (Setting::AccessTokenTtl, self.sessions.access_token_ttl),
            (Setting::RefreshTokenTtl, self.sessions.refresh_token_ttl),
            (Setting::PartialTokenTtl, self.login.partial_token_ttl),
            (Setting::SessionTtl, self.sessions.ttl),
            (Setting::LoginWindow, self.login.window),
            (Setting::InviteTtl, self.organizations.invite_ttl),
            (Setting::WebhookTimeout, self.webhooks.timeout),
        ];
        if let Some((setting, _)) = lifetimes.into_iter().find(|(_, lifetime)| lifetime.as_secs() < 1) {
            return Err(ConfigError::new(setting, "must be at least 1 second"));
        }
        // A claimed delivery is out of other processes' reach for the timeout and 15 s more, also when its process has died.
        if self.webhooks.timeout > Duration::from_secs(30) {
            return Err(ConfigError::new(Setting::WebhookTimeout, "must be at most 30 seconds"));
        }
        // Deliveries are kept for 30 days, those that wait, too; and each wait is varied by 15 %.
        let waits = self.webhooks.retry_schedule.iter().fold(Duration::ZERO, |all, wait| all.saturating_add(*wait));
        if waits >= Duration::from_secs(26 * 24 * 3_600) {
            return Err(ConfigError::new(Setting::WebhookRetrySchedule, "must be waits of less than 26 days in all"));
        }
        if self.sessions.refresh_grace > Duration::from_secs(60) {
            return Err(ConfigError::new(Setting::RefreshGrace, "must be between 0 and 60 seconds"));
        }
        Ok(())
    }

    fn check_numbers(&self) -> Result<(), ConfigError> {
        if self.memory.mebibytes > 65_536 {
            return Err(ConfigError::new(Setting::Memory, "must be between 0 and 65536 MiB"));
        }
        if !(Duration::from_millis(20)..=Duration::from_secs(1)).contains(&self.memory.freshness) {
            return Err(ConfigError::new(Setting::Freshness, "must be between 20 and 1000 milliseconds"));
        }
        let days =
            [(Setting::AuditRetention, self.audit.retention_days), (Setting::AuditContextRetention, self.audit.context_days)];
        if let Some((setting, _)) = days.into_iter().find(|(_, days)| *days > 36_500) {
            return Err(ConfigError::new(setting, "must be between 0 and 36500 days"));
        }
        if self.organizations.purge_after_days > 3_650 {
            return Err(ConfigError::new(Setting::PurgeAfter, "must be between 0 and 3650 days"));
        }
        if self.passwords.min_score > 4 {
            return Err(ConfigError::new(Setting::PasswordMinScore, "must be between 0 and 4"));
        }
        if self.passwords.former_peppers.len() > MOST_FORMER_PEPPERS {
            return Err(ConfigError::new(Setting::PasswordPepper, "must be at most four peppers"));
        }
        let limits = [
            (Setting::SessionsPerUser, self.sessions.max_per_user),
            (Setting::LoginMaxFailures, self.login.max_failures),
            (Setting::LoginMaxFailuresPerIp, self.login.max_failures_per_ip),
            (Setting::LoginMaxFailuresPerAccount, self.login.max_failures_per_account),
            (Setting::SignUpsPerDay, self.sign_up.per_day),
        ];
        match limits.into_iter().find(|(_, most)| *most == 0) {
            Some((setting, _)) => Err(ConfigError::new(setting, "must be at least 1")),
            None => Ok(()),
        }
    }

    fn check_mail_links(&self) -> Result<(), ConfigError> {
        let templates = [
            (Setting::InviteLink, &self.mail_links.invite),
            (Setting::ResetLink, &self.mail_links.reset),
            (Setting::VerifyLink, &self.mail_links.verify),
            (Setting::ChangeEmailLink, &self.mail_links.change_email),
            (Setting::SignUpLink, &self.mail_links.sign_up),
        ];
        let unusable = |template: &Option<String>| template.as_ref().is_some_and(|url| !url.contains("{token}"));
        match templates.into_iter().find(|(_, template)| unusable(template)) {
            Some((setting, _)) => Err(ConfigError::new(setting, "must contain {token}")),
            None => Ok(()),
        }
    }
}

/// Whether browsers keep cookies that have this domain (RFC 6265, section 4.1.2.3). Of another one a login would set no cookie at all.
fn is_cookie_domain(domain: &str) -> bool {
    // A leading dot means nothing since RFC 6265.
    let domain = domain.strip_prefix('.').unwrap_or(domain);
    let is_label = |label: &str| !label.is_empty() && label.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-');
    domain.split('.').all(is_label)
}

/// Whether every router takes the path as it is written: some compare what they have decoded, and some read `:x` and `*x` as parameters.
fn is_plain_path(path: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"._~-".contains(&byte);
    let path = path.strip_prefix('/').unwrap_or(path);
    let mut segments = path.strip_suffix('/').unwrap_or(path).split('/');
    path.is_empty() || segments.all(|segment| !segment.is_empty() && segment.bytes().all(is_plain))
}
