//! Each refusal to start (behaviour.md, B120), and what is not one.

mod shown;
mod sources;
mod table_rows;
mod traces;

use std::{
    collections::BTreeMap,
    io,
    path::{Path, PathBuf},
    time::Duration,
};

use tenant_auth_core::{
    MasterKeys,
    config::{SameSite, TokensInBody},
};

use super::*;

/// A complete set of settings for a server, to be changed by each test.
struct Env(BTreeMap<String, String>);

impl Env {
    fn complete() -> Self {
        let env = Self(BTreeMap::new());
        env.with("DATABASE_URL", "sqlite:auth.db")
            .with("MASTER_KEY", &MasterKeys::generate_text())
            .with("PUBLIC_URL", "https://auth.example.com")
            .with("TRUSTED_PROXIES", "10.0.0.0/8, 192.0.2.7")
            .with("SMTP_URL", "smtp://mail.example.com")
            .with("MAIL_FROM", "Acme <no-reply@example.com>")
    }

    fn with(mut self, name: &str, value: &str) -> Self {
        self.0.insert(format!("TENANT_AUTH_{name}"), value.to_owned());
        self
    }

    fn without(mut self, name: &str) -> Self {
        self.0.remove(&format!("TENANT_AUTH_{name}"));
        self
    }

    fn input(self) -> Input {
        Input {
            file: None,
            env: self.0,
            read_file: |_| Err(io::ErrorKind::NotFound.into()),
            list_folder: |_| Err(io::ErrorKind::NotFound.into()),
        }
    }

    fn server(self) -> Result<Server, InvalidSettings> {
        for_server(&self.input())
    }

    #[track_caller]
    fn refused_naming(self, name: &str) -> String {
        let refused = self.server().map(drop).expect_err("should be refused").to_string();
        assert!(refused.starts_with(&format!("TENANT_AUTH_{name} ")), "{refused}");
        refused
    }
}

#[test]
fn a_complete_set_is_taken() {
    let server = Env::complete().server().expect("starts");
    assert_eq!(server.listen.to_string(), "127.0.0.1:8080");
    assert_eq!(server.metrics_listen.map(|address| address.to_string()).as_deref(), Some("127.0.0.1:9464"));
    assert_eq!(server.deployment.config.network.trusted_proxies.len(), 2);
    let mapped =
        Env::complete().with("TRUSTED_PROXIES", "::ffff:10.0.0.0/104, ::ffff:192.0.2.7, fc00::/7").server().expect("networks");
    let mapped = mapped.deployment.config.network.trusted_proxies.iter().map(ToString::to_string).collect::<Vec<_>>();
    assert_eq!(mapped, ["10.0.0.0/8", "192.0.2.7/32", "fc00::/7"]);
    assert_eq!(server.deployment.config.sessions.access_token_ttl, Duration::from_secs(900));
    assert_eq!(server.deployment.warnings, Vec::<String>::new());
}

#[test]
fn dev_heeds_its_listener_and_names_what_has_no_effect_on_it() {
    let front = for_dev_front(&Env(BTreeMap::new()).input()).expect("starts");
    assert_eq!((front.connections, front.drain_notice), (256, Duration::ZERO));
    let env = Env::complete().with("CONNECTIONS", "16").with("DRAIN_NOTICE", "3").with("LOG", "debug");
    let front = for_dev_front(&env.input()).expect("starts");
    assert_eq!((front.connections, front.drain_notice), (16, Duration::from_secs(3)));

    let env = Env::complete().with("CONNECTIONS", "16").with("DRAIN_NOTICE", "3").with("LOG", "debug");
    let warnings = for_dev(&env.with("METRICS_LISTEN", "none").input(), "http://localhost").expect("starts").warnings;
    let named: Vec<_> = warnings.iter().filter_map(|warning| warning.split_once(" has no effect on 'dev'")).collect();
    let named: Vec<_> = named.iter().map(|(name, _)| name.trim_start_matches("TENANT_AUTH_")).collect();
    assert_eq!(named, ["DATABASE_URL", "MASTER_KEY", "METRICS_LISTEN", "SMTP_URL", "MAIL_FROM"]);
}

#[test]
fn what_is_missing_is_named_with_all_that_is_missing() {
    for name in ["DATABASE_URL", "MASTER_KEY", "PUBLIC_URL", "TRUSTED_PROXIES"] {
        assert!(Env::complete().without(name).refused_naming(name).contains("is missing"));
        assert!(Env::complete().with(name, " ").refused_naming(name).contains("is missing"), "an empty value is none");
    }
    let refused = Env(BTreeMap::new()).server().map(drop).expect_err("nothing is set").to_string();
    for name in ["TENANT_AUTH_DATABASE_URL", "TENANT_AUTH_MASTER_KEY", "TENANT_AUTH_PUBLIC_URL"] {
        assert!(refused.contains(name), "{refused}");
    }
}

#[test]
fn weak_master_keys_are_refused() {
    let zeros = "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=";
    for weak in [zeros, "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=", "c2hvcnQ=", "not base64"] {
        let refused = Env::complete().with("MASTER_KEY", weak).refused_naming("MASTER_KEY");
        assert!(!refused.contains(weak), "a key is never shown: {refused}");
        let second = format!("{},{weak}", MasterKeys::generate_text());
        Env::complete().with("MASTER_KEY", &second).refused_naming("MASTER_KEY");
    }
}

#[test]
fn a_master_key_may_stand_in_a_file() {
    let from = |read_file: fn(&Path) -> io::Result<Vec<u8>>| {
        let env = Env::complete().without("MASTER_KEY").with("MASTER_KEY_FILE", "/run/secrets/key");
        for_server(&Input { read_file, ..env.input() }).map(drop).map_err(|refused| refused.to_string())
    };
    assert_eq!(from(|_| Ok(format!("{}\n{}\n", MasterKeys::generate_text(), MasterKeys::generate_text()).into_bytes())), Ok(()));
    for read_file in [
        (|_| Ok(Vec::new())) as fn(&Path) -> _,
        |_| Ok(b"c2hvcnQ=\n".into()),
        |_| Ok(vec![0xff]),
        |_| Err(io::ErrorKind::NotFound.into()),
    ] {
        let refused = from(read_file).expect_err("unusable");
        assert!(refused.starts_with("TENANT_AUTH_MASTER_KEY_FILE names /run/secrets/key, "), "{refused}");
    }
    Env::complete().with("MASTER_KEY_FILE", "/run/secrets/key").refused_naming("MASTER_KEY_FILE");
}

#[test]
fn a_folder_of_catalogues_adds_languages_and_replaces_words() {
    let from = |folder: fn(&Path) -> io::Result<Vec<PathBuf>>, read_file: fn(&Path) -> io::Result<Vec<u8>>| {
        let env = Env::complete().with("LANGUAGES", "/etc/words");
        for_server(&Input { list_folder: folder, read_file, ..env.input() }).map_err(|refused| refused.to_string())
    };
    let italian = |folder: &Path| Ok(vec![folder.join("..data"), folder.join("README.md"), folder.join("it.json")]);
    let words = |_: &Path| Ok(include_bytes!("../../../../tenant-auth-core/languages/en.json").to_vec());
    let read = from(italian, words).expect("a catalogue");
    assert!(read.deployment.config.languages.asked_for("it").is_some());
    let refused = |told: &str, folder: fn(&Path) -> io::Result<Vec<PathBuf>>, read_file: fn(&Path) -> io::Result<Vec<u8>>| {
        let refused = from(folder, read_file).expect_err(told);
        assert!(refused.starts_with("TENANT_AUTH_LANGUAGES names /etc/words") && refused.contains(told), "{refused}");
    };
    refused("/it.json, which lacks the key date.first", italian, |_| Ok(b"{}".into()));
    refused("/it.json, which has the unknown key mail.x", italian, |_| Ok(br#"{"mail.x": ""}"#.into()));
    refused("/it.json, which is no JSON object", italian, |_| Ok(vec![0xff]));
    refused("/it.json, which cannot be read", italian, |_| Err(io::ErrorKind::PermissionDenied.into()));
    refused("/no_tag.json, whose name", |folder| Ok(vec![folder.join("no_tag.json")]), words);
    refused("which cannot be read", |_| Err(io::ErrorKind::NotFound.into()), words);
}

#[test]
fn a_folder_of_templates_is_read_and_each_is_tried() {
    let from = |folder: fn(&Path) -> io::Result<Vec<PathBuf>>, read_file: fn(&Path) -> io::Result<Vec<u8>>| {
        let env = Env::complete().with("MAIL_TEMPLATES", "/etc/mails");
        for_server(&Input { list_folder: folder, read_file, ..env.input() }).map_err(|refused| refused.to_string())
    };
    let refused = |told: &str, folder: fn(&Path) -> io::Result<Vec<PathBuf>>, read_file: fn(&Path) -> io::Result<Vec<u8>>| {
        let refused = from(folder, read_file).expect_err(told);
        assert!(refused.starts_with("TENANT_AUTH_MAIL_TEMPLATES names ") && refused.contains(told), "{refused}");
    };
    let invite = |folder: &Path| Ok(vec![folder.join("..data"), folder.join("invite.de.html"), folder.join("invite.de.subject")]);
    from(invite, |_| Ok(b"{{ organization }}".into())).expect("both are templates");
    refused("/etc/mails/invite.de.html, which fails: ", invite, |_| Ok(b"a\n{{ organisation }}".into()));
    refused("invite.de.html:2", invite, |_| Ok(b"a\n{{ organisation }}".into()));
    refused("/etc/mails/invite.de.html, which is no UTF-8 text", invite, |_| Ok(vec![0xff]));
    refused("/etc/mails/invite.de.html, which cannot be read", invite, |_| Err(io::ErrorKind::PermissionDenied.into()));
    refused("/README.md, which is no template's name", |folder| Ok(vec![folder.join("README.md")]), |_| Ok(b"x".into()));
    refused("invite.it.txt, of a language", |folder| Ok(vec![folder.join("invite.it.txt")]), |_| Ok(b"x".into()));
    refused("/etc/mails, which cannot be read", |_| Err(io::ErrorKind::NotFound.into()), |_| Ok(b"x".into()));
}

#[test]
fn a_logo_is_read_and_judged_by_its_content() {
    let from = |read_file: fn(&Path) -> io::Result<Vec<u8>>| {
        let env = Env::complete().with("PRODUCT_LOGO", "/etc/logo.png");
        for_server(&Input { read_file, ..env.input() }).map_err(|refused| refused.to_string())
    };
    let read = from(|_| Ok(b"<svg xmlns='http://www.w3.org/2000/svg'/>".into())).expect("a logo");
    assert_eq!(read.deployment.config.product.logo.expect("a logo").content_type(), "image/svg+xml");
    for read_file in [
        (|_| Ok(Vec::new())) as fn(&Path) -> _,
        |_| Ok(b"GIF89a".into()),
        |_| Ok([b"\x89PNG\r\n\x1a\n".to_vec(), vec![0; 64 * 1024 - 7]].concat()),
        |_| Err(io::ErrorKind::NotFound.into()),
    ] {
        let refused = from(read_file).expect_err("unusable");
        assert!(refused.starts_with("TENANT_AUTH_PRODUCT_LOGO names /etc/logo.png, which "), "{refused}");
    }
    for (name, bad) in [
        ("PRODUCT_NAME", "a\u{202e}b"),
        ("PRODUCT_ACCENT", "red"),
        ("PRODUCT_ACCENT", "#12345"),
        ("SUPPORT_URL", "http://help.example.com"),
        ("SUPPORT_URL", "help@example.com"),
    ] {
        Env::complete().with(name, bad).refused_naming(name);
    }
}

#[test]
fn the_public_url_is_https_or_loopback() {
    for bad in [
        "http://auth.example.com",
        "http://10.0.0.1",
        "ftp://auth.example.com",
        "auth.example.com",
        "https://",
        "https://u:p@auth.example.com",
        "https://auth.example.com/?x=1",
    ] {
        Env::complete().with("PUBLIC_URL", bad).refused_naming("PUBLIC_URL");
    }
    for good in ["http://localhost:8080", "http://127.0.0.1", "http://[::1]:8080/auth", "https://auth.example.com/auth/"] {
        assert!(Env::complete().with("PUBLIC_URL", good).server().is_ok(), "{good}");
    }
}

#[test]
fn none_states_that_there_is_no_proxy_and_http_needs_no_statement() {
    assert!(Env::complete().with("TRUSTED_PROXIES", "none").server().is_ok());
    assert!(Env::complete().with("PUBLIC_URL", "http://localhost").without("TRUSTED_PROXIES").server().is_ok());
    for bad in ["10.0.0.0/33", "proxy.internal", "none,10.0.0.0/8"] {
        Env::complete().with("TRUSTED_PROXIES", bad).refused_naming("TRUSTED_PROXIES");
    }
}

#[test]
fn a_list_of_nothing_but_commas_states_nothing() {
    for name in ["TRUSTED_PROXIES", "WEBHOOK_PORTS", "WEBHOOK_RETRY_SCHEDULE", "ALLOWED_ORIGINS", "RESERVED_SLUGS"] {
        for bad in [",", " , ,"] {
            Env::complete().with(name, bad).refused_naming(name);
        }
    }
    assert!(Env::complete().with("TRUSTED_PROXIES", ",10.0.0.1,").server().is_ok(), "a comma too many among addresses is none");
}

#[test]
fn lifetimes_are_whole_seconds_and_one_at_least() {
    for name in ["ACCESS_TOKEN_TTL", "REFRESH_TOKEN_TTL", "SESSION_TTL", "INVITE_TTL"] {
        for bad in ["0", "-1", "0.5", "15m", "99999999999999999999"] {
            Env::complete().with(name, bad).refused_naming(name);
        }
        assert!(Env::complete().with(name, "1").server().is_ok());
    }
}

#[test]
fn what_cannot_be_meant_is_refused_or_warned_of() {
    for (name, bad) in [
        ("PUBLIC_URL", "https://auth.example.com/api/v1"),
        ("PUBLIC_URL", "https://auth.example.com/x/api/v1/"),
        ("TRUSTED_PROXIES", "10.0.0.0/8,0.0.0.0/0"),
        ("TRUSTED_PROXIES", "::/0"),
        ("TRUSTED_PROXIES", "::ffff:0:0/96"),
        ("ARGON2", "4194304,1000,1"),
        ("ARGON2", "2097152,1,1"),
        ("ARGON2", "1048576,5,1"),
    ] {
        Env::complete().with(name, bad).refused_naming(name);
    }
    let both = Env::complete().with("PUBLIC_URL", "https://auth.example.com/api/v1").with("TRUSTED_PROXIES", "0.0.0.0/0");
    let told = both.server().map(drop).expect_err("both are wrong").to_string();
    assert!(told.contains("TENANT_AUTH_PUBLIC_URL") && told.contains("TENANT_AUTH_TRUSTED_PROXIES"), "{told}");
    let server = Env::complete().with("REFRESH_TOKEN_TTL", "900").with("ARGON2", "8,1,1").server().expect("starts");
    assert!(server.deployment.warnings.join("").contains("TENANT_AUTH_ARGON2 is so cheap"));
    let server = Env::complete().with("REFRESH_TOKEN_TTL", "899").server().expect("starts");
    assert!(server.deployment.warnings.join("").contains("TENANT_AUTH_REFRESH_TOKEN_TTL is 899 s, shorter"));
    let server = Env::complete().with("ARGON2", "19456,2,1").with("REFRESH_TOKEN_TTL", "900").server().expect("starts");
    assert_eq!(server.deployment.warnings, Vec::<String>::new());
}

/// A mistyped level would be taken for a module, and nothing would be logged.
#[test]
fn a_log_filter_is_levels_and_modules_with_one() {
    for bad in ["warning", "verbose", "sqlx=warn, inf", "info,sqlx", "info sqlx=warn", "sqlx = warn", "sqlx=loud", "'info'"] {
        Env::complete().with("LOG", bad).refused_naming("LOG");
    }
    let refused = Env::complete().with("LOG", "info, warning").refused_naming("LOG");
    assert!(refused.contains("'warning' is neither a level (error, warn, info, debug, trace, off)"), "{refused}");
    for (given, read) in [
        ("sqlx=warn, info", "sqlx=warn,info"),
        ("INFO,", "INFO"),
        ("off", "off"),
        ("info,tenant_auth::requests", "info,tenant_auth::requests"),
        ("tenant_auth_core=debug", "tenant_auth_core=debug"),
        ("info,[request{method=GET}]=debug", "info,[request{method=GET}]=debug"),
    ] {
        assert_eq!(Env::complete().with("LOG", given).server().expect(given).log_filter, read);
    }
}

#[test]
fn one_connection_is_enough_to_start() {
    assert_eq!(Env::complete().with("CONNECTIONS", "1").server().expect("starts").connections, 1);
    Env::complete().with("CONNECTIONS", "0").refused_naming("CONNECTIONS");
}

#[test]
fn the_grace_is_0_to_60_seconds() {
    for bad in ["61", "-1", "x"] {
        Env::complete().with("REFRESH_GRACE", bad).refused_naming("REFRESH_GRACE");
    }
    for good in ["0", "60"] {
        assert!(Env::complete().with("REFRESH_GRACE", good).server().is_ok());
    }
}

#[tokio::test]
async fn mail_settings_are_checked_and_no_smtp_is_a_warning() {
    let mailer =
        |env: Env| env.server().expect("is read").mailer().map(|mailer| mailer.is_some()).map_err(|refused| refused.to_string());
    assert_eq!(mailer(Env::complete()), Ok(true));
    Env::complete().with("SMTP_URL", "http://mail").refused_naming("SMTP_URL");
    Env::complete().with("SMTP_URL", "mail.example.com").refused_naming("SMTP_URL");
    Env::complete().with("MAIL_FROM", "nobody").refused_naming("MAIL_FROM");
    Env::complete().with("MAIL_FROM", "Acme <büro@example.com>").refused_naming("MAIL_FROM");
    assert_eq!(mailer(Env::complete().with("MAIL_FROM", "Büro <no-reply@münchen.example>")), Ok(true));
    Env::complete().with("MAIL_FROM", "nobody").without("SMTP_URL").refused_naming("MAIL_FROM");
    let warnings = |env: Env| env.server().expect("starts").deployment.warnings.join("\n");
    assert!(warnings(Env::complete().without("SMTP_URL")).contains("TENANT_AUTH_SMTP_URL is not set"));
    assert!(warnings(Env::complete().without("MAIL_FROM")).contains("no-reply@auth.example.com"));
    assert_eq!(mailer(Env::complete().without("MAIL_FROM").with("PUBLIC_URL", "http://127.0.0.1")), Ok(true));
}

/// As on a system without root certificates: whoever reads it must not look for a mistake in the URL.
#[test]
fn tls_that_cannot_be_set_up_is_no_fault_of_the_url() {
    let refused = unusable_mail(SmtpSetupError::Tls("no roots".into())).to_string();
    assert!(refused.starts_with("TENANT_AUTH_SMTP_URL cannot be used: TLS ") && refused.contains("no roots"), "{refused}");
}

#[test]
fn two_listeners_do_not_share_a_port() {
    let at = |listen: &str, metrics: &str| Env::complete().with("LISTEN", listen).with("METRICS_LISTEN", metrics);
    for (listen, metrics) in [
        ("127.0.0.1:8080", "127.0.0.1:8080"),
        ("0.0.0.0:8080", "127.0.0.1:8080"),
        ("127.0.0.1:8080", "0.0.0.0:8080"),
        ("127.0.0.1:8080", "[::]:8080"),
    ] {
        let refused = at(listen, metrics).refused_naming("METRICS_LISTEN");
        assert!(refused.contains(&format!("must not be where TENANT_AUTH_LISTEN is, {listen}")), "{refused}");
    }
    for (listen, metrics) in [("127.0.0.1:0", "127.0.0.1:0"), ("127.0.0.1:8080", "127.0.0.2:8080"), ("0.0.0.0:8080", "[::1]:8080")]
    {
        at(listen, metrics).server().expect("two places");
    }
}

#[test]
fn a_cookie_domain_that_no_browser_keeps_is_refused() {
    for bad in ["münchen.example", "https://example.com", "*.example.com", "example..com"] {
        Env::complete().with("COOKIE_DOMAIN", bad).refused_naming("COOKIE_DOMAIN");
    }
}

#[test]
fn values_arrive_where_they_belong() {
    let server = Env::complete()
        .with("LISTEN", "[::1]:0")
        .with("METRICS_LISTEN", "none")
        .with("ARGON2", "8,1,1")
        .with("PASSWORD_PEPPER", " pepper ")
        .with("ALLOWED_ORIGINS", "https://a.example.com,https://b.example.com")
        .with("OPERATOR_ORG", "operators")
        .with("COOKIE_DOMAIN", ".Example.com")
        .with("COOKIE_SAME_SITE", "strict")
        .with("TOKENS_IN_BODY", "always")
        .with("INVITE_URL", "https://app.example.com/join?org={slug}&t={token}")
        .with("SESSIONS_PER_USER", "3")
        .with("SIGN_UP", "open")
        .with("SIGN_UPS_PER_DAY", "7")
        .with("RESERVED_SLUGS", "rocket, launch-pad")
        .with("SIGN_UP_URL", "https://www.example.com/begin#{token}")
        .with("LOG_FORMAT", "json")
        .server()
        .expect("starts");
    let config = &server.deployment.config;
    assert_eq!(server.listen.to_string(), "[::1]:0");
    assert_eq!(server.metrics_listen, None);
    assert_eq!(
        (config.passwords.argon2.memory_kib, config.passwords.argon2.iterations, config.passwords.argon2.parallelism),
        (8, 1, 1)
    );
    assert_eq!(config.passwords.pepper.as_ref().map(tenant_auth_core::secret::Pepper::expose), Some(" pepper "), "byte for byte");
    assert_eq!(config.passwords.former_peppers.len(), 0);
    let peppers = |text: &str| {
        let passwords = Env::complete().with("PASSWORD_PEPPER", text).server().expect("starts").deployment.config.passwords;
        let former: Vec<_> = passwords.former_peppers.iter().map(|pepper| pepper.expose().to_owned()).collect();
        (passwords.pepper.map(|pepper| pepper.expose().to_owned()), former)
    };
    assert_eq!(peppers("new, old ,"), (Some("new".to_owned()), vec![" old ".to_owned(), String::new()]));
    assert_eq!(peppers(",old"), (None, vec!["old".to_owned()]));
    assert!(Env::complete().with("PASSWORD_PEPPER", "a,b,c,d,e").refused_naming("PASSWORD_PEPPER").contains("at most four"));
    assert_eq!(config.browser.allowed_origins.len(), 2);
    assert_eq!(config.organizations.operator_org.as_ref().map(|slug| slug.as_str()), Some("operators"));
    assert_eq!(config.browser.cookie_domain.as_deref(), Some("example.com"));
    assert_eq!((config.browser.cookie_same_site, config.browser.tokens_in_body), (SameSite::Strict, TokensInBody::Always));
    assert_eq!(config.sessions.max_per_user, 3);
    assert_eq!((config.sign_up.is_open, config.sign_up.per_day), (true, 7));
    assert!(config.sign_up.reserved_slugs.iter().map(|slug| slug.as_str()).eq(["rocket", "launch-pad"]));
    assert_eq!(config.mail_links.sign_up.as_deref(), Some("https://www.example.com/begin#{token}"));
    assert_eq!(server.log_format, LogFormat::Json);
}

#[test]
fn a_lifetime_is_refused_with_its_unit() {
    for name in ["ACCESS_TOKEN_TTL", "LOGIN_WINDOW", "WEBHOOK_TIMEOUT", "REFRESH_GRACE", "WEBHOOK_RETRY_SCHEDULE"] {
        assert!(Env::complete().with(name, "15m").refused_naming(name).contains("seconds"), "{name}");
    }
}

#[test]
fn settings_are_refused_together_also_without_a_public_url() {
    let refused = Env::complete().without("PUBLIC_URL").with("SESSION_TTL", "0").server().map(drop).expect_err("two").to_string();
    assert!(refused.contains("TENANT_AUTH_PUBLIC_URL is missing") && refused.contains("TENANT_AUTH_SESSION_TTL must"), "{refused}");
}

#[test]
fn commands_need_less() {
    let bare = || Env(BTreeMap::new()).with("DATABASE_URL", "postgres://db/auth");
    assert!(for_migrate(&bare().input()).is_ok());
    assert!(for_command(&bare().input(), false).is_err());
    let keyed = || bare().with("MASTER_KEY", &MasterKeys::generate_text());
    assert!(for_command(&keyed().input(), false).is_ok());
    let refused = for_command(&keyed().input(), true).map(drop).expect_err("a link needs a host").to_string();
    assert!(refused.starts_with("TENANT_AUTH_PUBLIC_URL is missing"), "{refused}");
}
