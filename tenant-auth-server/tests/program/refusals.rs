//! A server that should not run does not start, and says on stderr which setting is to blame (behaviour.md, B120).

use std::{ffi::OsStr, os::unix::ffi::OsStrExt};

use tenant_auth_conformance::{as_postgres_administrator, empty_postgres, run_sql};

use crate::{MASTER_KEY, OTHER_KEY, Program, error, json, readiness::until_ready_is, running::Running};

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
    json(&program.run(&["deployment-key", "create", "--name", "product", "--scope", "verify", "--json"])); // seals the signing keys
    let program = program.with("MASTER_KEY", OTHER_KEY);
    is_refused(&program, "MASTER_KEY");
    error(&program.run(&["org", "list"]));
    std::fs::write(program.path().join("keys"), OTHER_KEY).expect("the file can be written");
    let program = program.without("MASTER_KEY").with("MASTER_KEY_FILE", "keys");
    is_refused(&program, "MASTER_KEY_FILE");
    let program = program.without("MASTER_KEY_FILE");
    let both = format!("{OTHER_KEY},{MASTER_KEY}");
    json(&program.with("MASTER_KEY", &both).run(&["org", "list", "--json"]));
}

/// For a pipeline that looks at the settings before it starts anything.
#[test]
fn settings_that_are_refused_are_shown_with_an_exit_code() {
    let program = Program::new();
    json(&program.run(&["settings", "--json"]));
    for wrong in [program.with("SESSION_TTL", "soon"), Program::without_settings()] {
        for (arguments, refused) in [(&["settings"][..], "REFUSED: "), (&["settings", "--json"], "\"refusal\":\"")] {
            let said = wrong.run(arguments);
            let (stdout, stderr) = (String::from_utf8_lossy(&said.stdout), String::from_utf8_lossy(&said.stderr));
            assert!(said.status.code() == Some(1) && stderr.contains("would not start"), "{stdout}{stderr}");
            assert!(stdout.contains(refused) && stdout.contains("TENANT_AUTH_LISTEN"), "{stdout}");
        }
    }
    assert!(Program::without_settings().run(&["settings", "--example"]).status.success(), "it shows no value");
}

#[test]
fn with_json_lines_a_refusal_is_one_too() {
    let program = Program::new().with("LOG_FORMAT", "json").without("PUBLIC_URL").without("MASTER_KEY");
    let said = error(&program.run(&["serve"]));
    let lines: Vec<serde_json::Value> = said.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert_eq!(lines.len(), 2, "{said}");
    let message = lines[0]["fields"]["message"].as_str().expect("words");
    assert!(message.starts_with("TENANT_AUTH_MASTER_KEY ") || message.starts_with("TENANT_AUTH_PUBLIC_URL "), "{said}");
    std::fs::write(program.path().join("settings.toml"), "log_format = 'json'").expect("the file can be written");
    json_lines(&error(&program.without("LOG_FORMAT").run(&["serve", "--config", "settings.toml"])));
}

#[test]
fn with_json_lines_a_file_that_cannot_be_read_is_told_so() {
    let program = Program::new().with("LOG_FORMAT", "json");
    json_lines(&error(&program.run(&["serve", "--config", "missing.toml"])));
    let mut not_text = program.command(&["serve"]);
    let not_text = not_text.env("TENANT_AUTH_LISTEN", OsStr::from_bytes(&[0xff])).output().expect("it runs");
    json_lines(&error(&not_text));
    std::fs::write(program.path().join("broken.toml"), "log_format = 'json'\nlisten =").expect("the file can be written");
    json_lines(&error(&program.without("LOG_FORMAT").run(&["serve", "--config", "broken.toml"])));
}

#[track_caller]
fn json_lines(said: &str) {
    assert!(!said.is_empty() && said.lines().all(|line| serde_json::from_str::<serde_json::Value>(line).is_ok()), "{said}");
}

#[test]
fn a_schema_that_cannot_be_used_is_told_with_what_to_do() {
    let Some(url) = empty_postgres() else { return };
    let name = url.split(['/', '?']).find(|part| part.starts_with("empty_")).expect("a name");
    as_postgres_administrator(&format!("CREATE ROLE stranger_{name} LOGIN"));
    let stranger = Program::new().with("DATABASE_URL", &url.replace("user=postgres", &format!("user=stranger_{name}")));
    for command in [&["migrate"][..], &["serve"]] {
        let said = error(&stranger.run(command));
        assert!(said.contains("TENANT_AUTH_DATABASE_URL ") && said.contains("GRANT USAGE, CREATE ON SCHEMA public"), "{said}");
    }
}

#[test]
fn a_migrated_database_needs_no_right_to_create_tables() {
    let Some(url) = empty_postgres() else { return };
    let name = url.split(['/', '?']).find(|part| part.starts_with("empty_")).expect("a name");
    json(&Program::new().with("DATABASE_URL", &url).run(&["migrate", "--json"]));
    as_postgres_administrator(&format!("CREATE ROLE user_{name} LOGIN"));
    run_sql(&url, &format!("GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO user_{name}"));
    let program = Program::new().with("DATABASE_URL", &url.replace("user=postgres", &format!("user=user_{name}")));
    let create = ["org", "create", "--name", "Acme", "--slug", "acme", "--admin-email", "ada@example.com", "--json"];
    for command in [&["migrate", "--json"][..], &create] {
        json(&program.run(command));
    }
    let server = Running::start(&program, &["serve"]);
    until_ready_is(&server, 200);

    // Another's table beside ours, and a restore that left the rights of ours behind: whatever needs those would be answered 500.
    run_sql(&url, "CREATE TABLE tenant_auth_of_the_host (id INT)");
    json(&program.run(&["org", "list", "--json"]));
    run_sql(&url, &format!("REVOKE ALL ON tenant_auth_sessions, tenant_auth_changes FROM user_{name}"));
    drop(server);
    for command in [&["serve"][..], &["org", "list"], &["migrate"]] {
        let said = error(&program.run(command));
        assert!(said.contains("may not read and write the tables tenant_auth_changes, tenant_auth_sessions"), "{said}");
    }
    run_sql(&url, &format!("GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO user_{name}"));
    run_sql(&url, &format!("REVOKE SELECT ON tenant_auth_migrations FROM user_{name}"));
    for command in [&["migrate"][..], &["serve"], &["org", "list"]] {
        let said = error(&program.run(command));
        assert!(said.contains("not read which there are"), "{command:?}: {said}");
    }
}

/// A database of another deployment lies further along the search path.
#[test]
fn only_the_tables_of_the_first_schema_count_as_migrated() {
    let Some(url) = empty_postgres() else { return };
    json(&Program::new().with("DATABASE_URL", &url).run(&["migrate", "--json"]));
    run_sql(&url, "CREATE SCHEMA inner_one");
    let name = url.split(['/', '?']).find(|part| part.starts_with("empty_")).expect("a name");
    as_postgres_administrator(&format!("CREATE ROLE inner_{name} LOGIN"));
    run_sql(&url, &format!("GRANT USAGE, CREATE ON SCHEMA inner_one TO inner_{name}"));
    let own = url.replace("user=postgres", &format!("user=inner_{name}"));
    let inner = Program::new().with("DATABASE_URL", &format!("{own}&options[search_path]=inner_one,public"));
    let check = || json(&inner.run(&["serve", "--check", "--json"]))["parts"].to_string();
    assert!(check().contains("is there, without tables"), "{}", check());
    let ran = json(&inner.run(&["migrate", "--json"]));
    assert_ne!(ran["ran"], serde_json::json!([]));
    assert!(check().contains("a start changes nothing"), "{}", check());
    run_sql(&url, "SELECT id FROM inner_one.tenant_auth_organizations");
}

#[test]
fn a_database_of_a_newer_version_is_told_with_what_to_do() {
    let program = Program::new();
    let sqlite = format!("sqlite:{}", program.path().join("auth.db").display());
    for url in [Some(sqlite), empty_postgres()].into_iter().flatten() {
        let program = Program::new().with("DATABASE_URL", &url);
        json(&program.run(&["migrate", "--json"]));
        let later = "INSERT INTO tenant_auth_migrations (version, description, success, checksum, execution_time)
                     SELECT 99, description, success, checksum, execution_time FROM tenant_auth_migrations WHERE version = 1";
        run_sql(&url, later);
        for command in [&["migrate"][..], &["serve"]] {
            let said = error(&program.run(command));
            assert!(said.contains("TENANT_AUTH_DATABASE_URL ") && said.contains("newer version") && said.contains("99"), "{said}");
        }
    }
}

#[test]
fn a_settings_file_with_an_unknown_key() {
    let program = Program::new();
    std::fs::write(program.path().join("settings.toml"), "lissten = '127.0.0.1:1'").expect("the file can be written");
    let said = error(&program.run(&["serve", "--config", "settings.toml"]));
    assert!(said.contains("lissten"), "{said}");
    assert!(error(&program.run(&["--config", "missing.toml", "serve"])).contains("missing.toml"));
}
