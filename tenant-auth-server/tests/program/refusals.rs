//! A server that should not run does not start, and says on stderr which setting is to blame (behaviour.md, B120).

use crate::{MASTER_KEY, OTHER_KEY, Program, error, json};

#[track_caller]
fn is_refused(program: &Program, setting: &str) {
    let said = error(&program.run(&["serve"]));
    assert!(said.contains(&format!("TENANT_AUTH_{setting} ")), "{said}");
    assert!(!said.contains(MASTER_KEY), "{said}");
}

#[test]
fn missing_settings() {
    for name in ["DATABASE_URL", "MASTER_KEY", "PUBLIC_URL"] {
        is_refused(&Program::new().without(name), name);
    }
}

#[test]
fn unusable_settings() {
    let bad = [
        ("MASTER_KEY", "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="),
        ("MASTER_KEY", "c2hvcnQ="),
        ("PUBLIC_URL", "http://auth.example.com"),
        ("ACCESS_TOKEN_TTL", "0"),
        ("REFRESH_GRACE", "61"),
        ("TRUSTED_PROXIES", "10.0.0.0/99"),
        ("LISTEN", "8080"),
        ("METRICS_LISTEN", "9464"),
        ("DATABASE_URL", "mysql://localhost/auth"),
        ("DATABASE_CONNECTIONS", "many"),
        ("LOG", "=?="),
        ("SMTP_URL", "http://localhost"),
    ];
    for (name, value) in bad {
        is_refused(&Program::new().with(name, value), name);
    }
    is_refused(&Program::new().with("SMTP_URL", "smtp://localhost").with("MAIL_FROM", "nobody"), "MAIL_FROM");
}

#[test]
fn an_https_public_url_without_a_word_about_proxies() {
    is_refused(&Program::new().with("PUBLIC_URL", "https://auth.example.com"), "TRUSTED_PROXIES");
}

#[test]
fn a_database_that_cannot_be_opened() {
    is_refused(&Program::new().with("DATABASE_URL", "sqlite:no/such/directory/auth.db"), "DATABASE_URL");
}

#[test]
fn a_master_key_that_opens_nothing_of_what_is_sealed() {
    let program = Program::new();
    json(&program.run(&["org", "list", "--json"])); // seals the signing keys
    let program = program.with("MASTER_KEY", OTHER_KEY);
    is_refused(&program, "MASTER_KEY");
    error(&program.run(&["org", "list"]));
    let both = format!("{OTHER_KEY},{MASTER_KEY}");
    json(&program.with("MASTER_KEY", &both).run(&["org", "list", "--json"]));
}

#[test]
fn a_settings_file_with_an_unknown_key() {
    let program = Program::new();
    std::fs::write(program.path().join("settings.toml"), "lissten = '127.0.0.1:1'").expect("the file can be written");
    let said = error(&program.run(&["serve", "--config", "settings.toml"]));
    assert!(said.contains("lissten"), "{said}");
    assert!(error(&program.run(&["--config", "missing.toml", "serve"])).contains("missing.toml"));
}
