//! From texts to the service's own configuration: what each setting must be. Bounds that hold for every host of the library
//! are `Config::check`'s; the ones here are the server's (behaviour.md, B120).

use std::{
    io,
    net::{IpAddr, SocketAddr},
    path::Path,
    time::Duration,
};

use ipnet::IpNet;
use tenant_auth_core::{Config, MasterKeys, Origin, SameSite, Slug, TokensInBody, ports::Argon2Params};
use tracing_subscriber::EnvFilter;
use url::{Host, Url};

use super::{Database, Deployment, LogFormat, names::name_of, reading::Reading};

const DEFAULT_LISTEN: SocketAddr = SocketAddr::new(IpAddr::V4(std::net::Ipv4Addr::LOCALHOST), 8080);
const DEFAULT_METRICS_LISTEN: SocketAddr = SocketAddr::new(IpAddr::V4(std::net::Ipv4Addr::LOCALHOST), 9464);
const DEFAULT_CONNECTIONS: u32 = 10;
/// Seconds between two attempts of a delivery: a week.
const LONGEST_WAIT: u64 = 7 * 24 * 3_600;
const DEFAULT_LOG: &str = "info,sqlx=warn";

/// The database's URL and the size of its pool.
pub(super) fn database(reading: &mut Reading) -> Option<Database> {
    let connections = reading.count("database_connections").unwrap_or(DEFAULT_CONNECTIONS);
    let hint = "give sqlite:/var/lib/tenant-auth/tenant-auth.db or postgres://user:password@host/database";
    reading.required("database_url", hint)?;
    let url = reading.parsed("database_url", |url| {
        let known = ["sqlite", "postgres", "postgresql"];
        let scheme = url.split_once(':').map(|(scheme, _)| scheme);
        let known = scheme.is_some_and(|scheme| known.contains(&scheme));
        if known { Ok(url.to_owned()) } else { Err("must start with sqlite: or postgres:".to_owned()) }
    })?;
    Some(Database { url, connections })
}

/// All that commands and the server share.
pub(super) fn deployment(reading: &mut Reading, read_file: fn(&Path) -> io::Result<String>) -> Option<Deployment> {
    let database = database(reading);
    let master_keys = master_keys(reading, read_file);
    let config = config(reading);
    let warnings = reading.take_warnings();
    Some(Deployment { database: database?, master_keys: master_keys?, config: config?, warnings })
}

fn master_keys(reading: &mut Reading, read_file: fn(&Path) -> io::Result<String>) -> Option<MasterKeys> {
    let Some(path) = reading.text("master_key_file") else {
        reading.required("master_key", "give base64 of 32 random bytes, made with: openssl rand -base64 32")?;
        return reading.parsed("master_key", |list| MasterKeys::parse(list).map_err(|error| error.to_string()));
    };
    if reading.text("master_key").is_some() {
        reading.refuse("master_key_file", "must not be given together with TENANT_AUTH_MASTER_KEY: keep one of them");
        return None;
    }
    let keys = read_file(Path::new(&path)).map_err(|error| format!("names {path}, which cannot be read: {error}"));
    // One key a line is as good as commas.
    let keys = keys.and_then(|text| {
        MasterKeys::parse(&text.trim().replace('\n', ",")).map_err(|error| format!("names {path}, whose key {error}"))
    });
    reading.parsed("master_key_file", |_| keys)
}

/// How the service behaves.
pub(super) fn config(reading: &mut Reading) -> Option<Config> {
    let mut config = Config::new(public_url(reading)?);
    set(&mut config.sessions.access_token_ttl, reading.lifetime("access_token_ttl"));
    set(&mut config.sessions.refresh_token_ttl, reading.lifetime("refresh_token_ttl"));
    set(&mut config.login.partial_token_ttl, reading.lifetime("partial_token_ttl"));
    set(&mut config.sessions.ttl, reading.lifetime("session_ttl"));
    set(&mut config.organizations.invite_ttl, reading.lifetime("invite_ttl"));
    set(&mut config.sessions.refresh_grace, reading.number("refresh_grace", 0, 60).map(Duration::from_secs));
    set(&mut config.sessions.max_per_user, reading.count("sessions_per_user"));
    set(&mut config.login.max_failures, reading.count("login_max_failures"));
    set(&mut config.login.window, reading.lifetime("login_window"));
    set(&mut config.login.max_failures_per_ip, reading.count("login_max_failures_per_ip"));
    set(&mut config.login.max_failures_per_account, reading.count("login_max_failures_per_account"));
    set(&mut config.organizations.max_api_keys, reading.count("api_keys_per_org"));
    set(&mut config.organizations.max_webhooks, reading.count("webhooks_per_org"));
    let private = reading.choice("webhook_allow_private_networks", &[("true", true), ("false", false)]);
    set(&mut config.webhooks.allow_private_networks, private);
    set(&mut config.webhooks.ports, reading.list("webhook_ports", port));
    set(&mut config.webhooks.retry_schedule, reading.list("webhook_retry_schedule", wait));
    set(&mut config.webhooks.timeout, reading.lifetime("webhook_timeout"));
    set(&mut config.passwords.min_score, reading.number("password_min_score", 0, 4).and_then(|score| u8::try_from(score).ok()));
    set(&mut config.passwords.argon2, reading.parsed("argon2", argon2));
    config.passwords.pepper = reading.text("password_pepper");
    config.mail_links.invite = reading.parsed("invite_url", link_template);
    config.mail_links.reset = reading.parsed("reset_url", link_template);
    config.mail_links.verify = reading.parsed("verify_url", link_template);
    config.mail_links.change_email = reading.parsed("change_email_url", link_template);
    set(&mut config.network.trusted_proxies, reading.parsed("trusted_proxies", proxies));
    let origins = reading.list("allowed_origins", |item| Origin::parse(item).map_err(|rejected| rejected.to_string()));
    set(&mut config.browser.allowed_origins, origins);
    config.organizations.operator_org =
        reading.parsed("operator_org", |text| Slug::parse(text).map_err(|rejected| rejected.to_string()));
    config.browser.cookie_domain = reading.parsed("cookie_domain", cookie_domain);
    let same_site = [("lax", SameSite::Lax), ("strict", SameSite::Strict), ("none", SameSite::None)];
    set(&mut config.browser.cookie_same_site, reading.choice("cookie_same_site", &same_site));
    let in_body = [("non_browser", TokensInBody::NonBrowser), ("always", TokensInBody::Always)];
    set(&mut config.browser.tokens_in_body, reading.choice("tokens_in_body", &in_body));
    warn_of_a_foreign_cookie_domain(reading, &config);
    if let Err(error) = config.check() {
        reading.refuse(name_of(error.setting), error.reason);
    }
    Some(config)
}

/// An absent setting leaves the default.
fn set<T>(field: &mut T, value: Option<T>) {
    if let Some(value) = value {
        *field = value;
    }
}

fn public_url(reading: &mut Reading) -> Option<Url> {
    reading.required("public_url", "give the URL people reach the service at, such as https://auth.example.com")?;
    reading.parsed("public_url", |text| {
        let url = Url::parse(text).map_err(|error| format!("must be a URL such as https://auth.example.com: {error}"))?;
        let plain = url.username().is_empty() && url.password().is_none() && url.query().is_none() && url.fragment().is_none();
        match url.scheme() {
            _ if !plain => Err("must have no user name, query or fragment".to_owned()),
            "https" => Ok(url),
            "http" if is_loopback(&url) => Ok(url),
            "http" => {
                Err("must be https: over http, tokens and cookies travel in the clear (http is for loopback only)".to_owned())
            }
            _ => Err("must be an https URL such as https://auth.example.com".to_owned()),
        }
    })
}

fn is_loopback(url: &Url) -> bool {
    match url.host() {
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        Some(Host::Domain(name)) => name == "localhost" || name.ends_with(".localhost"),
        None => false,
    }
}

/// Behind an https public URL stands a proxy, and whoever does not name it counts every client as one address: the throttle
/// would lock all people out together. `none` is for servers that really face the clients.
pub(super) fn require_stated_proxies(reading: &mut Reading) {
    let https = reading.text("public_url").is_some_and(|url| url.to_ascii_lowercase().starts_with("https:"));
    if https && reading.text("trusted_proxies").is_none() {
        let hint = "is missing: with an https public URL give the addresses of the proxies in front (10.0.0.0/8, …), or none";
        reading.refuse("trusted_proxies", hint);
    }
}

fn proxies(text: &str) -> Result<Vec<IpNet>, String> {
    let items: Vec<&str> = text.split(',').map(str::trim).filter(|item| !item.is_empty()).collect();
    if items == ["none"] {
        return Ok(Vec::new());
    }
    let parse = |item: &&str| item.parse::<IpNet>().ok().or_else(|| item.parse::<IpAddr>().ok().map(IpNet::from));
    let must = |item: &&str| format!("must be a list of addresses and networks such as 10.0.0.0/8, or none alone; '{item}' is not");
    items.iter().map(|item| parse(item).ok_or_else(|| must(item))).collect()
}

fn port(text: &str) -> Result<u16, String> {
    text.parse()
        .ok()
        .filter(|port| *port != 0)
        .ok_or_else(|| format!("must be a list of ports from 1 to 65535; '{text}' is not one"))
}

fn wait(text: &str) -> Result<Duration, String> {
    let seconds = text.parse().ok().filter(|seconds| *seconds <= LONGEST_WAIT);
    seconds
        .map(Duration::from_secs)
        .ok_or_else(|| format!("must be a list of whole seconds up to {LONGEST_WAIT}; '{text}' is none"))
}

fn argon2(text: &str) -> Result<Argon2Params, String> {
    let must = "must be memory in KiB, passes and lanes, such as 19456,2,1 (at least 8 KiB a lane, at most 4194304 KiB)";
    let numbers: Option<Vec<u32>> = text.split(',').map(|part| part.trim().parse().ok()).collect();
    match numbers.as_deref() {
        Some(&[memory_kib, iterations @ 1..=1_000, parallelism @ 1..=255])
            if (8 * parallelism..=4_194_304).contains(&memory_kib) =>
        {
            Ok(Argon2Params { memory_kib, iterations, parallelism })
        }
        _ => Err(must.to_owned()),
    }
}

fn link_template(text: &str) -> Result<String, String> {
    let must = "must be a URL with {token} and {slug} in it, such as https://app.example.com/invite#org={slug}&token={token}";
    let filled = text.replace("{token}", "t").replace("{slug}", "s");
    let usable = text.contains("{token}") && Url::parse(&filled).is_ok_and(|url| url.has_host());
    if usable { Ok(text.to_owned()) } else { Err(must.to_owned()) }
}

fn cookie_domain(text: &str) -> Result<String, String> {
    // A leading dot means nothing since RFC 6265.
    let domain = text.strip_prefix('.').unwrap_or(text);
    let is_label = |label: &str| !label.is_empty() && label.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-');
    if domain.split('.').all(is_label) {
        Ok(domain.to_ascii_lowercase())
    } else {
        Err("must be a domain such as example.com".to_owned())
    }
}

/// Browsers drop cookies for a domain that the answering host is not in.
fn warn_of_a_foreign_cookie_domain(reading: &mut Reading, config: &Config) {
    let (Some(domain), Some(host)) = (&config.browser.cookie_domain, config.public_url.host_str()) else { return };
    if host != domain && !host.ends_with(&format!(".{domain}")) {
        reading.warn(format!(
            "TENANT_AUTH_COOKIE_DOMAIN is {domain}, but the public URL's host {host} is not in it: browsers drop such cookies"
        ));
    }
}

/// The socket the server listens on.
pub(super) fn listen(reading: &mut Reading) -> SocketAddr {
    let must = "must be an address and a port such as 127.0.0.1:8080 or [::]:8080";
    reading.parsed("listen", |text| text.parse().map_err(|_| must.to_owned())).unwrap_or(DEFAULT_LISTEN)
}

/// The socket for Prometheus, when there is to be one.
pub(super) fn metrics_listen(reading: &mut Reading) -> Option<SocketAddr> {
    let must = "must be an address and a port such as 127.0.0.1:9464, or none";
    let parse = |text: &str| match text {
        "none" => Ok(None),
        address => address.parse().map(Some).map_err(|_| must.to_owned()),
    };
    reading.parsed("metrics_listen", parse).unwrap_or(Some(DEFAULT_METRICS_LISTEN))
}

/// Filter and format of the log.
pub(super) fn log(reading: &mut Reading) -> (String, LogFormat) {
    let must = "must be a log filter such as info or info,tenant_auth=debug";
    let filter = reading.parsed("log", |text| match EnvFilter::try_new(text) {
        Ok(_) => Ok(text.to_owned()),
        Err(error) => Err(format!("{must}: {error}")),
    });
    let format = reading.choice("log_format", &[("text", LogFormat::Text), ("json", LogFormat::Json)]);
    (filter.unwrap_or_else(|| DEFAULT_LOG.to_owned()), format.unwrap_or(LogFormat::Text))
}
