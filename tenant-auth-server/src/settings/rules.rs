//! Rules between settings: what the value of one asks of another.

use std::net::SocketAddr;

use url::Url;

use super::{
    reading::Reading,
    sanity,
    table::{COOKIE_DOMAIN, LISTEN, MAIL_FROM, MASTER_KEY, MASTER_KEY_FILE, METRICS_LISTEN, PUBLIC_URL, SMTP_URL, TRUSTED_PROXIES},
};

/// The keys stand in one place: with two, a reader of either would believe the wrong one.
pub(super) fn check_master_keys(reading: &mut Reading) {
    if reading.given(&MASTER_KEY_FILE).is_none() {
        return;
    }
    if reading.given(&MASTER_KEY).is_some() {
        let reason = format!("must not be given together with {}: keep one of them", MASTER_KEY.variable());
        reading.refuse(&MASTER_KEY_FILE, reason);
    } else {
        reading.values.master_keys_from = MASTER_KEY_FILE;
        reading.forgive(&MASTER_KEY);
    }
}

/// What the core asks of the settings together. Without a public URL there is nothing to ask: it is refused already.
pub(super) fn check_service(reading: &mut Reading) {
    if reading.refusal(&PUBLIC_URL).is_some() {
        return;
    }
    warn_of_a_foreign_cookie_domain(reading);
    sanity::judge(reading);
    if let Err(error) = reading.values.config.check() {
        reading.refuse_core(error);
    }
}

/// Browsers drop cookies for a domain that the answering host is not in.
fn warn_of_a_foreign_cookie_domain(reading: &mut Reading) {
    let config = &reading.values.config;
    let (Some(domain), Some(host)) = (&config.browser.cookie_domain, config.public_url.host_str()) else { return };
    if host != domain && !host.ends_with(&format!(".{domain}")) {
        reading.warn(format!(
            "{} is {domain}, but the public URL's host {host} is not in it: browsers drop such cookies",
            COOKIE_DOMAIN.variable()
        ));
    }
}

/// An https public URL means that a reverse proxy stands in front. If it is not named, every client has the proxy's address, and
/// the rate limiter would lock out all people together. `none` is for servers that clients reach directly.
pub(super) fn require_stated_proxies(reading: &mut Reading) {
    let https = reading.given(&PUBLIC_URL).is_some_and(|url| url.text.to_ascii_lowercase().starts_with("https:"));
    if https && reading.given(&TRUSTED_PROXIES).is_none() {
        let hint = "is missing: with an https public URL give the addresses of the proxies in front (10.0.0.0/8, …), or none";
        reading.refuse(&TRUSTED_PROXIES, hint);
    }
}

/// One port cannot be listened at twice: told here, and not as that of another program when the second of them is opened.
pub(super) fn check_listeners(reading: &mut Reading) {
    let covers = |one: SocketAddr, other: SocketAddr| one.ip().is_unspecified() && (one.is_ipv6() || other.is_ipv4());
    let (listen, Some(metrics)) = (reading.values.listen, reading.values.metrics_listen) else { return };
    let is_same_place = listen.ip() == metrics.ip() || covers(listen, metrics) || covers(metrics, listen);
    if listen.port() == metrics.port() && listen.port() != 0 && is_same_place {
        reading.refuse(&METRICS_LISTEN, format!("must not be where {} is, {listen}", LISTEN.variable()));
    }
}

/// The sender of mails, with a warning when none is set or no mail can be sent.
pub(super) fn sender(reading: &mut Reading) -> String {
    if reading.values.smtp_url.is_none() {
        reading.warn(format!("{} is not set: mail waits in the outbox until it is", SMTP_URL.variable()));
        return String::new();
    }
    if let Some(from) = &reading.values.mail_from {
        return from.clone();
    }
    let from = format!("no-reply@{}", Url::domain(&reading.values.config.public_url).unwrap_or("localhost"));
    reading.warn(format!("{} is not set: mail is sent from {from}", MAIL_FROM.variable()));
    from
}
