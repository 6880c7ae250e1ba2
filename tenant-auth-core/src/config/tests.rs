//! What [`Config::check`] refuses, and that a refusal names the field.

use std::time::Duration;

use super::*;

fn config() -> Config {
    Config::new("https://auth.example.com".parse().expect("a URL"))
}

#[track_caller]
fn refused(setting: Setting, change: impl FnOnce(&mut Config)) {
    let mut config = config();
    change(&mut config);
    let error = config.check().expect_err("should be refused");
    assert_eq!(error.setting, setting, "{error}");
    assert!(error.to_string().starts_with(&format!("{} ", setting.path())), "{error}");
}

#[test]
fn the_defaults_are_usable() {
    assert_eq!(config().check(), Ok(()));
}

#[test]
fn the_public_url_may_have_a_path_that_every_router_takes_as_it_is_written() {
    for path in ["", "/", "/auth", "/auth/", "/company/auth/", "/a.b_c~d-E9"] {
        let mut config = config();
        config.public_url = format!("https://auth.example.com{path}").parse().expect("a URL");
        assert_eq!(config.check(), Ok(()), "{path}");
    }
}

#[test]
fn cookies_may_be_of_a_domain_above_the_public_url() {
    for domain in ["example.com", ".example.com", "Auth.Example.com", "xn--mnchen-3ya.example", "localhost"] {
        let mut config = config();
        config.browser.cookie_domain = Some(domain.to_owned());
        assert_eq!(config.check(), Ok(()), "{domain}");
    }
}

#[test]
fn proxies_are_addresses_and_networks() {
    let behind = |text: &str| {
        super::Network::behind(text).map(|network| network.trusted_proxies.iter().map(ToString::to_string).collect::<Vec<_>>())
    };
    let both = Ok(vec!["127.0.0.1/32".to_owned(), "10.1.0.0/16".to_owned()]);
    assert_eq!(behind("127.0.0.1, 10.1.0.0/16"), both);
    assert_eq!(behind(" 127.0.0.1 10.1.0.0/16,"), both);
    assert_eq!(behind("::ffff:10.0.0.0/104"), Ok(vec!["10.0.0.0/8".to_owned()]));
    assert_eq!(behind("none"), Ok(vec![]));
    for nothing in ["", " , ", "localhost", "10.0.0.0/33", "none, 127.0.0.1"] {
        assert!(behind(nothing).is_err(), "{nothing}");
    }
}

#[test]
fn what_could_not_work_is_refused_by_the_name_of_its_field() {
    let url = |text: &str| text.parse().expect("a URL");
    refused(Setting::PublicUrl, |config| config.public_url = url("https://auth.example.com/?x"));
    refused(Setting::PublicUrl, |config| config.public_url = url("ftp://auth.example.com"));
    refused(Setting::PublicUrl, |config| config.public_url = url("https://somebody:secret@auth.example.com"));
    refused(Setting::PublicUrl, |config| config.public_url = url("https://auth.example.com/api/v1"));
    refused(Setting::PublicUrl, |config| config.public_url = url("https://auth.example.com/x/api/v1/"));
    refused(Setting::PublicUrl, |config| config.public_url = url("https://auth.example.com/auth//"));
    refused(Setting::PublicUrl, |config| config.public_url = url("https://auth.example.com//"));
    for path in ["my auth", "anmeldung-für-alle", "a%2Fb", "{org}", ":org", "*rest", "a/:org/b", "a//b", "/auth", "a+b", "a@b"] {
        refused(Setting::PublicUrl, |config| config.public_url = url(&format!("https://auth.example.com/{path}")));
    }
    for everybody in ["0.0.0.0/0", "::/0", "::ffff:0:0/96"] {
        refused(Setting::TrustedProxies, |config| config.network.trusted_proxies.push(everybody.parse().expect("a network")));
    }
    refused(Setting::AccessTokenTtl, |config| config.sessions.access_token_ttl = Duration::from_millis(999));
    refused(Setting::RefreshTokenTtl, |config| config.sessions.refresh_token_ttl = Duration::ZERO);
    refused(Setting::SessionTtl, |config| config.sessions.ttl = Duration::ZERO);
    refused(Setting::RefreshGrace, |config| config.sessions.refresh_grace = Duration::from_secs(61));
    refused(Setting::AuditRetention, |config| config.audit.retention_days = 36_501);
    refused(Setting::AuditContextRetention, |config| config.audit.context_days = 36_501);
    refused(Setting::SessionsPerUser, |config| config.sessions.max_per_user = 0);
    refused(Setting::PartialTokenTtl, |config| config.login.partial_token_ttl = Duration::ZERO);
    refused(Setting::LoginWindow, |config| config.login.window = Duration::ZERO);
    refused(Setting::LoginMaxFailures, |config| config.login.max_failures = 0);
    refused(Setting::LoginMaxFailuresPerIp, |config| config.login.max_failures_per_ip = 0);
    refused(Setting::LoginMaxFailuresPerAccount, |config| config.login.max_failures_per_account = 0);
    refused(Setting::InviteTtl, |config| config.organizations.invite_ttl = Duration::ZERO);
    refused(Setting::PurgeAfter, |config| config.organizations.purge_after_days = 3_651);
    refused(Setting::WebhookTimeout, |config| config.webhooks.timeout = Duration::ZERO);
    refused(Setting::WebhookTimeout, |config| config.webhooks.timeout = Duration::from_secs(31));
    let day = Duration::from_secs(24 * 3_600);
    for waits in [vec![26 * day], vec![day; 26], vec![Duration::MAX; 2]] {
        refused(Setting::WebhookRetrySchedule, |config| config.webhooks.retry_schedule.clone_from(&waits));
    }
    refused(Setting::PasswordMinScore, |config| config.passwords.min_score = 5);
    refused(Setting::InviteLink, |config| config.mail_links.invite = Some("https://app.example.com".to_owned()));
    refused(Setting::ChangeEmailLink, |config| config.mail_links.change_email = Some("{slug}".to_owned()));
    refused(Setting::SignUpLink, |config| config.mail_links.sign_up = Some("https://app.example.com".to_owned()));
    refused(Setting::SignUpsPerDay, |config| config.sign_up.per_day = 0);
    for unusable in ["münchen.example", "https://example.com", "example.com; Secure", "*.example.com", "example..com", "."] {
        refused(Setting::CookieDomain, |config| config.browser.cookie_domain = Some(unusable.to_owned()));
    }
    refused(Setting::CookieSameSite, |config| {
        config.public_url = url("http://localhost");
        config.browser.cookie_same_site = SameSite::None;
    });
}
