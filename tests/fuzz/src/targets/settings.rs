//! The server's settings, as files and environment variables say them: whatever is said, the program does not panic, refuses or begins
//! with values inside their bounds, and tells no secret.

use std::time::Duration;

use serde_json::Value;
use tenant_auth_core::{
    MasterKeys,
    testing::internals::{open, seal},
};
use tenant_auth_fuzz_settings::{Given, Read, Server, read};
use tokio::runtime::{self, Runtime};

use super::{Attack, Target, kind, size};

/// Ends the file; a line for each variable follows.
const END: &str = "\n---\n";
/// Stands for a master key that is genuine and secret.
const KEY: &str = "$K";
/// Stands for another secret, a password or a pepper.
const SECRET: &str = "$S";
const PASSWORD: &str = "marmalade77correcthorse";
/// The settings that are secrets from beginning to end.
const HIDDEN: [&str; 2] = ["master_key", "password_pepper"];
/// The settings in which the password of a URL is one.
const URLS: [&str; 3] = ["database_url", "smtp_url", "public_url"];

pub(crate) const SETTINGS: Target = Target {
    name: "settings",
    weight: 0.02,
    dictionary: &[
        "master_key = '$K'",
        "MASTER_KEY=$K,$K",
        "password_pepper = '$S'",
        "SMTP_URL=smtp://mail:$S@mail.example.com:587",
        "DATABASE_URL=postgres://auth:$S@db/auth",
        "public_url = 'https://auth.example.com'",
        "trusted_proxies = ['10.0.0.0/8', '::/0']",
        "TRUSTED_PROXIES=none",
        "argon2 = [19456, 2, 1]",
        "ARGON2=8,1,1",
        "webhook_retry_schedule = [0, 604800]",
        "COOKIE_DOMAIN=.example.com",
        "COOKIE_SAME_SITE=none",
        "INVITE_URL=https://x.example/{slug}?t={token}",
        "LOG=info,tenant_auth=debug",
        "LISTEN=[::1]:0",
        "refresh_grace = 60",
        "SESSION_TTL=3153600000",
        "18446744073709551616",
        "-1",
        "\"\"\"",
        "[table]",
        "\\u0000",
        END,
    ],
    make: || {
        let key = MasterKeys::generate_text();
        let rest = "PUBLIC_URL=https://auth.example.com\nTRUSTED_PROXIES=10.0.0.0/8\nSMTP_URL=smtp://mail:$S@mail.example.com";
        let seeds = [
            format!(
                "database_url = 'sqlite:auth.db'\nmaster_key = ['$K']\nlisten = '[::]:8080'{END}{rest}\nMAIL_FROM=Acme <a@b.example>"
            ),
            format!(
                "argon2 = [19456, 2, 1]\nallowed_origins = ['https://a.example']{END}{rest}\nMASTER_KEY=$K\nDATABASE_URL=postgres://u:$S@db/a"
            ),
            format!(
                "log_format = 'json'\npassword_pepper = '$S'{END}PUBLIC_URL=http://localhost\nMASTER_KEY=$K\nDATABASE_URL=sqlite:x"
            ),
            format!("{END}LISSTEN=1\nMASTER_KEY_FILE=/run/key\nCOOKIE_DOMAIN=example.com\nSESSION_TTL=60\nREFRESH_GRACE=61"),
        ];
        let seeds: Vec<&str> = seeds.iter().map(String::as_str).collect();
        Attack::new(&seeds, move |input| judge(&key, &String::from_utf8_lossy(input)))
    },
};

fn judge(key: &str, text: &str) -> u64 {
    let told = |text: &str| text.replace(KEY, key).replace(SECRET, PASSWORD);
    let (file, env) = text.split_once(END.trim_start_matches('\n')).unwrap_or((text, ""));
    let env = env.lines().filter_map(|line| line.split_once('=')).map(|(name, value)| (format!("TENANT_AUTH_{name}"), told(value)));
    let given = Given { file: (!file.trim().is_empty()).then(|| told(file)), env: env.collect() };
    // The mailer leaves a task behind, which ends with its runtime.
    let read = runtime_of_one_reading().block_on(async { read(&given) });
    tells_no_secret(key, &given, &read);
    agrees_with_itself(&read);
    match &read.server {
        Ok(server) => {
            is_within_bounds(server);
            kind(&[1, server.warnings.len() as u64, u64::from(server.mailer.is_ok()), u64::from(read.wants_json)])
        }
        Err(refused) => kind(&[2, size(refused.len()), refused.lines().count() as u64, u64::from(read.command.is_ok())]),
    }
}

fn runtime_of_one_reading() -> Runtime {
    runtime::Builder::new_current_thread().enable_all().build().expect("a runtime")
}

/// A secret that stands where secrets belong is in nothing that the program says.
fn tells_no_secret(key: &str, given: &Given, read: &Read) {
    let refusals = [&read.command, &read.migrate, &read.document].into_iter().filter_map(|read| read.as_ref().err());
    let mut said: Vec<&str> = refusals.map(String::as_str).chain([read.shown.as_str(), read.json.as_str()]).collect();
    match &read.server {
        Ok(server) => {
            said.extend(server.warnings.iter().map(String::as_str));
            said.extend(server.mailer.as_ref().err().map(String::as_str));
        }
        Err(refused) => said.push(refused),
    }
    for secret in [key, PASSWORD] {
        if is_in_its_place(secret, given) {
            let telling = said.iter().find_map(|text| text.lines().find(|line| line.contains(secret)));
            assert_eq!(telling, None, "{given:?}");
        }
    }
}

/// A file that is no TOML has no places, so nothing of it may be told.
fn is_in_its_place(secret: &str, given: &Given) -> bool {
    let in_env = given.env.iter().all(|(name, value)| {
        let setting = name.trim_start_matches("TENANT_AUTH_").to_ascii_lowercase();
        !name.contains(secret) && may_hold(&setting, value, secret)
    });
    let file: toml::Table = given.file.as_deref().and_then(|text| text.parse().ok()).unwrap_or_default();
    in_env
        && file.iter().all(|(setting, value)| {
            let value = value.as_str().map_or_else(|| format!("{value:?}"), str::to_owned);
            !setting.contains(secret) && may_hold(setting, &value, secret)
        })
}

fn may_hold(setting: &str, value: &str, secret: &str) -> bool {
    !value.contains(secret)
        || HIDDEN.contains(&setting)
        || (URLS.contains(&setting) && without_password(value).is_some_and(|rest| !rest.contains(secret)))
}

/// What stands around the password in a URL, as people read it: a slash in the password makes it no less one.
fn without_password(url: &str) -> Option<String> {
    let (scheme, rest) = url.split_once("://")?;
    let (user_info, host) = rest.rsplit_once('@')?;
    let (user, _) = user_info.split_once(':')?;
    (!url.starts_with("sqlite:")).then(|| [scheme, user, host].concat()) // the path of a file is shown as it is
}

/// What `settings` shows is what `serve` does, and who needs less is refused nothing more.
fn agrees_with_itself(read: &Read) {
    let shown: Value = serde_json::from_str(&read.json).expect("JSON");
    let is_refused = |entry: &Value| entry["refusal"].is_string();
    let refuses =
        shown["settings"].as_array().expect("a list").iter().any(is_refused) || shown["refusals"] != Value::Array(Vec::new());
    assert_eq!(read.server.is_err(), refuses, "{}: {:?}", read.shown, read.server);
    if read.server.is_ok() {
        assert_eq!((&read.command, &read.migrate, &read.document), (&Ok(()), &Ok(()), &Ok(())));
    }
}

fn is_within_bounds(server: &Server) {
    let (config, hashing) = (&server.config, server.config.passwords.argon2);
    let url = &config.public_url;
    let is_here = url.host_str().is_some_and(|host| host.ends_with("localhost") || host.starts_with("127.") || host == "[::1]");
    assert!(url.scheme() == "https" || url.scheme() == "http" && is_here, "{url}");
    assert!(url.username().is_empty() && url.password().is_none() && url.query().is_none(), "{url}");
    assert!(config.network.trusted_proxies.iter().all(|network| network.prefix_len() > 0), "everybody is a proxy");
    assert!(config.sessions.refresh_token_ttl >= config.sessions.access_token_ttl && !config.sessions.access_token_ttl.is_zero());
    assert!(config.sessions.refresh_grace <= Duration::from_secs(60) && server.drain_notice <= Duration::from_secs(300));
    assert!((8 * hashing.parallelism..=1_048_576).contains(&hashing.memory_kib) && hashing.iterations > 0, "{hashing:?}");
    assert!(u64::from(hashing.memory_kib) * u64::from(hashing.iterations) <= 4_194_304, "{hashing:?}");
    assert!(server.connections >= 16 && server.database_connections > 0);
    assert!(
        ["sqlite:", "postgres:", "postgresql:"].iter().any(|scheme| server.database.starts_with(scheme)),
        "{}",
        server.database
    );
    let sealed = seal(&server.master_keys, b"a secret", "row").expect("it seals");
    assert_eq!(open(&server.master_keys, &sealed, "row").as_deref(), Some(&b"a secret"[..]));
}
