//! Parsers of settings: from texts to values, named by the table's rows. A parser says what is wrong only where the row's own words
//! do not.

use std::{net::SocketAddr, time::Duration};

use ipnet::IpNet;
use tenant_auth_core::{
    ports::{Argon2Params, SmtpMailer, SmtpSetupError},
    value::{Network, Origin, Slug, is_loopback},
};
use tracing_subscriber::{EnvFilter, filter::LevelFilter};
use url::Url;

use super::row::Fault;

/// The texts that [`seconds`] accepts. Beyond a hundred years a lifetime is a typing mistake, and its arithmetic would be one, too.
pub(super) const SECONDS: &str = "a whole number of seconds from 1 to 3153600000 (100 years)";
const MOST_SECONDS: u64 = 3_153_600_000;
/// The texts that [`count`] accepts.
pub(super) const COUNT: &str = "a whole number from 1 to 1000000";
/// What a link in a mail must be, with an example of this page.
macro_rules! link_of_page {
    ($page:literal) => {
        concat!(
            "a URL with {token} in it, and {slug} unless the page knows the organization, such as https://app.example.com/",
            $page,
            "#org={slug}&token={token}"
        )
    };
}

/// The texts that [`link`] accepts, of the page where an invite is accepted.
pub(super) const INVITE_LINK: &str = link_of_page!("invite");
/// The same of the page where a password is replaced.
pub(super) const RESET_LINK: &str = link_of_page!("reset");
/// The same of the page where an address is verified.
pub(super) const VERIFY_LINK: &str = link_of_page!("verify");
/// The same of the page where a new address is confirmed.
pub(super) const CHANGE_EMAIL_LINK: &str = link_of_page!("change-email");
/// The same of a page of no organization.
pub(super) const SIGN_UP_LINK: &str = "a URL with {token} in it, such as https://app.example.com/sign-up#token={token}";
const LONGEST_WAIT: u64 = 7 * 24 * 3_600;

/// Sets a field to a parsed value; a refused value leaves the default.
pub(super) fn put<T>(field: &mut T, value: Result<T, Fault>) -> Result<(), Fault> {
    *field = value?;
    Ok(())
}

fn whole(text: &str, least: u64, most: u64) -> Result<u64, Fault> {
    text.parse().ok().filter(|number| (least..=most).contains(number)).ok_or(Fault::Other)
}

pub(super) fn seconds(text: &str) -> Result<Duration, Fault> {
    whole(text, 1, MOST_SECONDS).map(Duration::from_secs)
}

pub(super) fn notice(text: &str) -> Result<Duration, Fault> {
    whole(text, 0, 300).map(Duration::from_secs)
}

pub(super) fn grace(text: &str) -> Result<Duration, Fault> {
    whole(text, 0, 60).map(Duration::from_secs)
}

/// The time for one attempt of a delivery.
pub(super) fn attempt(text: &str) -> Result<Duration, Fault> {
    whole(text, 1, 30).map(Duration::from_secs)
}

pub(super) fn count(text: &str) -> Result<u32, Fault> {
    whole(text, 1, 1_000_000).and_then(|number| u32::try_from(number).map_err(|_| Fault::Other))
}

pub(super) fn mebibytes(text: &str) -> Result<u32, Fault> {
    whole(text, 0, 65_536).and_then(|number| u32::try_from(number).map_err(|_| Fault::Other))
}

pub(super) fn days(text: &str) -> Result<u32, Fault> {
    whole(text, 0, 36_500).and_then(|number| u32::try_from(number).map_err(|_| Fault::Other))
}

pub(super) fn purge_days(text: &str) -> Result<u32, Fault> {
    whole(text, 0, 3_650).and_then(|number| u32::try_from(number).map_err(|_| Fault::Other))
}

pub(super) fn freshness(text: &str) -> Result<Duration, Fault> {
    whole(text, 20, 1_000).map(Duration::from_millis)
}

pub(super) fn score(text: &str) -> Result<u8, Fault> {
    whole(text, 0, 4).and_then(|number| u8::try_from(number).map_err(|_| Fault::Other))
}

/// On or off.
pub(super) fn switch(text: &str) -> Result<bool, Fault> {
    choice(text, &[("true", true), ("false", false)])
}

/// One of a few words.
pub(super) fn choice<T: Copy>(text: &str, choices: &[(&str, T)]) -> Result<T, Fault> {
    choices.iter().find(|(word, _)| *word == text).map(|(_, value)| *value).ok_or(Fault::Other)
}

/// The items of a list.
pub(super) fn items(text: &str) -> impl Iterator<Item = &str> {
    text.split(',').map(str::trim).filter(|item| !item.is_empty())
}

/// The items of a list that states something: commas alone state nothing.
fn some_items<T>(text: &str, read: impl FnMut(&str) -> Result<T, Fault>) -> Result<Vec<T>, Fault> {
    let read: Vec<T> = items(text).map(read).collect::<Result<_, _>>()?;
    if read.is_empty() { Err(Fault::Other) } else { Ok(read) }
}

pub(super) fn ports(text: &str) -> Result<Vec<u16>, Fault> {
    let port = |item: &str| item.parse().ok().filter(|port| *port != 0).ok_or_else(|| Fault::of_item(item));
    some_items(text, port)
}

pub(super) fn waits(text: &str) -> Result<Vec<Duration>, Fault> {
    let wait = |item: &str| whole(item, 0, LONGEST_WAIT).map(Duration::from_secs).map_err(|_| Fault::of_item(item));
    some_items(text, wait)
}

pub(super) fn origins(text: &str) -> Result<Vec<Origin>, Fault> {
    some_items(text, |item| Origin::parse(item).map_err(|rejected| Fault::Because(format!("; '{item}' {rejected}"))))
}

/// Addresses and networks; `none` states that there are none.
pub(super) fn proxies(text: &str) -> Result<Vec<IpNet>, Fault> {
    if items(text).eq(["none"]) {
        return Ok(Vec::new());
    }
    let network = |item: &str| Network::parse(item).ok().and_then(|network| network.as_str().parse().ok());
    some_items(text, |item| network(item).ok_or_else(|| Fault::of_item(item)))
}

pub(super) fn sender(text: &str) -> Result<String, Fault> {
    SmtpMailer::check_sender(text).map(|()| text.to_owned()).map_err(because)
}

fn because(error: SmtpSetupError) -> Fault {
    match error {
        SmtpSetupError::From(reason) | SmtpSetupError::Url(reason) => Fault::because(reason),
        other => Fault::Instead(format!("cannot be used: {other}")),
    }
}

pub(super) fn smtp_url(text: &str) -> Result<String, Fault> {
    SmtpMailer::check_url(text).map(|()| text.to_owned()).map_err(because)
}

pub(super) fn argon2(text: &str) -> Result<Argon2Params, Fault> {
    let numbers: Option<Vec<u32>> = text.split(',').map(|part| part.trim().parse().ok()).collect();
    match numbers.as_deref() {
        Some(&[memory_kib, iterations @ 1..=1_000, parallelism @ 1..=255])
            if (8 * parallelism..=4_194_304).contains(&memory_kib) =>
        {
            Ok(Argon2Params { memory_kib, iterations, parallelism })
        }
        _ => Err(Fault::Other),
    }
}

pub(super) fn database_url(url: &str) -> Result<String, Fault> {
    match url.split_once(':') {
        Some(("sqlite" | "postgres" | "postgresql", _)) => Ok(url.to_owned()),
        _ => Err(Fault::Other),
    }
}

pub(super) fn public_url(text: &str) -> Result<Url, Fault> {
    let url = Url::parse(text).map_err(Fault::because)?;
    if !url.username().is_empty() || url.password().is_some() || url.query().is_some() || url.fragment().is_some() {
        return Err(Fault::Other);
    }
    match url.scheme() {
        "https" => Ok(url),
        "http" if is_loopback(&url) => Ok(url),
        "http" => Err(Fault::Because(": over http, tokens and cookies travel in the clear".to_owned())),
        _ => Err(Fault::Other),
    }
}

/// A collector's URL. It has no secrets in it, because the log tells it when the collector does not answer.
pub(super) fn otlp_endpoint(text: &str) -> Result<Url, Fault> {
    if !cfg!(feature = "otlp") {
        let reason = "needs a tenant-auth-server that was built with this feature: cargo install … --features otlp";
        return Err(Fault::Instead(reason.to_owned()));
    }
    let url = Url::parse(text).map_err(Fault::because)?;
    let is_plain = url.username().is_empty() && url.password().is_none() && url.query().is_none() && url.fragment().is_none();
    if is_plain && ["http", "https"].contains(&url.scheme()) { Ok(url) } else { Err(Fault::Other) }
}

pub(super) fn link(text: &str) -> Result<String, Fault> {
    let filled = text.replace("{token}", "t").replace("{slug}", "s");
    let usable = text.contains("{token}") && Url::parse(&filled).is_ok_and(|url| url.has_host());
    if usable { Ok(text.to_owned()) } else { Err(Fault::Other) }
}

/// A domain in one form; whether it is one is judged by the core. A leading dot means nothing since RFC 6265.
pub(super) fn cookie_domain(text: &str) -> String {
    text.strip_prefix('.').unwrap_or(text).to_ascii_lowercase()
}

pub(super) fn slug(text: &str) -> Result<Slug, Fault> {
    Slug::parse(text).map_err(|rejected| Fault::Instead(rejected.to_string()))
}

pub(super) fn slugs(text: &str) -> Result<Vec<Slug>, Fault> {
    some_items(text, |item| Slug::parse(item).map_err(|_| Fault::of_item(item)))
}

pub(super) fn socket(text: &str) -> Result<SocketAddr, Fault> {
    text.parse().map_err(|_| Fault::Other)
}

pub(super) fn socket_or_none(text: &str) -> Result<Option<SocketAddr>, Fault> {
    if text == "none" { Ok(None) } else { socket(text).map(Some) }
}

/// A filter takes every bare word that is no level for a module, and a module of that name there is none: the log would be silent.
pub(super) fn log_filter(text: &str) -> Result<String, Fault> {
    let read = |item: &str| match is_directive(item) {
        true => Ok(item.to_owned()),
        false => Err(Fault::Because(format!(
            "; '{item}' is neither a level (error, warn, info, debug, trace, off) nor a module with one"
        ))),
    };
    let filter = some_items(text, read)?.join(",");
    EnvFilter::try_new(&filter).map(|_| filter).map_err(Fault::because)
}

/// Whether an item of a filter is what it seems to be: a level, a module or span with one, or a path that can only be a module's.
fn is_directive(item: &str) -> bool {
    let is_whole = !item.contains(char::is_whitespace) || item.contains('[');
    let is_more_than_a_word = item.contains(['=', '[', '{', '}']) || item.contains("::") || item.starts_with("tenant_auth");
    is_whole && (is_more_than_a_word || item.parse::<LevelFilter>().is_ok())
}
