//! What is made of the table: the kept documents, the example file, and the list of what is in force.

use std::collections::BTreeMap;

use super::{
    super::{Effective, Input, example, for_server, reference, table},
    Env,
};

const KEPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/guides/");
const REFRESH: &str = "Refresh it:\n  TENANT_AUTH_REFRESH_GUIDES=1 cargo test -p tenant-auth-server kept_documents";

#[test]
fn the_kept_documents_are_the_current_ones() {
    for (name, current) in [("settings.md", reference::reference()), ("tenant-auth.example.toml", example())] {
        let path = format!("{KEPT}{name}");
        if std::env::var_os("TENANT_AUTH_REFRESH_GUIDES").is_some() {
            std::fs::write(&path, &current).expect("the guide can be written");
        }
        let kept = std::fs::read_to_string(&path).unwrap_or_default();
        assert!(kept == current, "tenant-auth-server/guides/{name} is stale. {REFRESH}");
    }
}

#[test]
fn the_example_file_changes_nothing() {
    let with_all = example().lines().map(uncommented).collect::<Vec<_>>().join("\n");
    let keys: toml::Table = with_all.parse().expect("TOML");
    assert_eq!(keys.len(), table::rows().count(), "every setting stands in it");
    assert_eq!(example().parse::<toml::Table>().expect("TOML"), toml::Table::new(), "as it is, it holds comments only");
    let env = Env::complete().input().env;
    let server = |file| {
        let input = Input { file, env: env.clone(), ..Env::complete().input() };
        format!("{:?}", for_server(&input).expect("starts"))
    };
    assert_eq!(server(Some(with_all)), server(None));
}

/// A setting's line without its comment sign; other comments stay.
fn uncommented(line: &str) -> &str {
    line.strip_prefix('#').filter(|rest| rest.starts_with(|c: char| c.is_ascii_lowercase())).unwrap_or(line)
}

#[test]
fn what_is_in_force_is_shown_without_secrets() {
    let env = Env::complete()
        .with("DATABASE_URL", "postgres://ada:hunter2@db:5432/auth?password=hunter2")
        .with("SMTP_URL", "smtps://key-hunter2:hunter2@mail.example.com")
        .with("PASSWORD_PEPPER", "hunter2")
        .with("PUBLIC_URL", "https://ada:hunter2@auth.example.com")
        .with("OTLP_ENDPOINT", "http://ada:hunter2@collector:4318")
        .with("LISTEN", "nowhere")
        .with("LISSTEN", "x");
    let input = Input { file: Some("session_ttl = 60\nunknown = 1".to_owned()), ..env.input() };
    let effective = Effective::of(&input);
    let (text, json) = (effective.to_text(), serde_json::to_value(&effective).expect("JSON"));
    for shown in [&text, &json.to_string()] {
        assert!(!shown.contains("hunter2") && !shown.contains(input.env["TENANT_AUTH_MASTER_KEY"].as_str()), "{shown}");
        assert!(shown.contains("postgres://***@db:5432/auth"), "{shown}");
        assert!(shown.contains("'unknown'") && shown.contains("did you mean TENANT_AUTH_LISTEN?"), "{shown}");
    }
    let entry = |name: &str| {
        let entries = json["settings"].as_array().expect("a list");
        entries.iter().find(|entry| entry["name"] == name).cloned().unwrap_or_else(|| panic!("{name} is shown"))
    };
    assert_eq!((&entry("session_ttl")["value"], &entry("session_ttl")["source"]), (&"60".into(), &"file".into()));
    assert_eq!((&entry("listen")["value"], &entry("listen")["source"]), (&"nowhere".into(), &"environment".into()));
    assert!(entry("listen")["refusal"].as_str().is_some_and(|reason| reason.starts_with("must be an address and a port")));
    assert_eq!((&entry("invite_ttl")["value"], &entry("invite_ttl")["source"]), (&"604800".into(), &"default".into()));
}

#[test]
fn a_mistyped_url_is_not_shown_with_its_password_as_a_path() {
    for mistyped in ["postgres://ada:12/hunter2@db/auth", "http:p://:hunter2@", "smtp://ada/hunter2@mail.example.com"] {
        for name in ["DATABASE_URL", "SMTP_URL", "PUBLIC_URL"] {
            let shown = Effective::of(&Env::complete().with(name, mistyped).input()).to_text();
            assert!(!shown.contains("hunter2"), "{shown}");
        }
    }
}

#[test]
fn nothing_is_needed_to_show_what_is_in_force() {
    let text = Effective::of(&Env(BTreeMap::new()).input()).to_text();
    assert!(text.contains("REFUSED: is missing: give sqlite:"), "{text}");
    assert_eq!(text.lines().filter(|line| line.starts_with("TENANT_AUTH_")).count(), table::rows().count());
}
