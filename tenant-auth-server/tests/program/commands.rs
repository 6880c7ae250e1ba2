//! The operator's commands, on one SQLite file.

use std::{
    io::Write,
    time::{Duration, Instant},
};

use tenant_auth_conformance::empty_postgres;

use crate::{
    Program,
    admin::Admin,
    error, json,
    running::{DEADLINE, Running, answer},
};

/// A program with an organization, whose admin is invited.
pub(crate) fn with_acme() -> Program {
    let program = Program::new();
    json(&program.run(&["org", "create", "--name", "Acme", "--slug", "acme", "--admin-email", "ada@example.com", "--json"]));
    program
}

#[test]
fn an_organization_is_created_with_an_invite_for_its_admin() {
    let program = Program::new();
    let create =
        ["org", "create", "--name", "Acme", "--slug", "acme", "--admin-email", "ada@example.com", "--plan", "pro", "--json"];
    let created = json(&program.run(&create));
    assert_eq!((&created["org"]["slug"], &created["org"]["plan"]), (&"acme".into(), &"pro".into()));
    assert_eq!((&created["invite"]["email"], &created["invite"]["role"]), (&"ada@example.com".into(), &"org_admin".into()));
    let (token, url) = (created["inviteToken"].as_str().expect("a token"), created["inviteUrl"].as_str().expect("a link"));
    assert!(url.starts_with("http://localhost:8080/") && url.contains(token), "{url}");

    let listed = json(&program.run(&["org", "list", "--json"]));
    assert_eq!(listed["organizations"][0], created["org"]);
    assert!(error(&program.run(&create)).contains("slug"), "the slug is taken");
}

#[test]
fn for_people_it_prints_text() {
    let program = with_acme();
    let said = program.run(&["org", "invite-admin", "--slug", "acme", "--email", "eve@example.com"]);
    let said = String::from_utf8_lossy(&said.stdout).into_owned();
    assert!(said.contains("eve@example.com") && said.contains("http://localhost:8080/"), "{said}");
    let said = program.run(&["org", "list"]);
    assert!(String::from_utf8_lossy(&said.stdout).starts_with("acme "), "{said:?}");
}

#[test]
fn a_pending_invite_of_an_admin_is_replaced() {
    let program = with_acme();
    let invite = |more: &[&str]| {
        let command = ["org", "invite-admin", "--slug", "acme", "--email", "ada@example.com", "--json"];
        program.run(&[&command, more].concat())
    };
    assert!(error(&invite(&[])).contains("pending invite"), "the first admin was invited when the organization was made");
    let (first, second) = (json(&invite(&["--replace"])), json(&invite(&["--replace"])));
    assert_ne!(first["inviteUrl"], second["inviteUrl"]);
    assert_ne!(first["invite"]["id"], second["invite"]["id"]);
    let refused = error(&invite(&[]));
    assert!(refused.contains("pending invite. Give --replace"), "{refused}");
}

/// Whoever only sends a mail again must not make an administrator of a member.
#[test]
fn a_pending_invite_of_a_member_is_not_replaced_by_one_of_an_admin() {
    let program = Program::new();
    let server = Running::start(&program, &["serve"]);
    let admin = Admin::of_new_organization(&program, &server.address);
    let bob = serde_json::json!({ "email": "bob@example.com", "role": "member" });
    let made = admin.data(&server.address, "POST /org/members/invite", &bob);
    for more in [&["--replace"][..], &[]] {
        let command = ["org", "invite-admin", "--org", "acme", "--email", "bob@example.com"];
        let refused = error(&program.run(&[&command, more].concat()));
        let id = made["invite"]["id"].as_str().expect("an id");
        assert!(refused.contains("a pending invite as member") && refused.contains(id), "{refused}");
    }
    let listed = admin.data(&server.address, "GET /org/invites", &serde_json::Value::Null);
    let invites = listed["invites"].as_array().expect("a list");
    assert!(invites.iter().any(|invite| invite["email"] == "bob@example.com" && invite["role"] == "member"), "{listed}");
}

#[test]
fn an_organization_is_suspended_and_reactivated() {
    let program = with_acme();
    for (command, status) in [("suspend", "suspended"), ("reactivate", "active")] {
        let changed = json(&program.run(&["org", command, "--slug", "acme", "--json"]));
        assert_eq!(changed["org"]["status"], status);
    }
    assert!(error(&program.run(&["org", "suspend", "--slug", "nobody"])).contains("org list"));
}

#[test]
fn every_command_takes_the_organization_as_org() {
    let program = Program::new();
    json(&program.run(&["org", "create", "--name", "Acme", "--org", "acme", "--admin-email", "ada@example.com", "--json"]));
    for command in ["suspend", "reactivate", "delete", "cancel-deletion"] {
        assert_eq!(json(&program.run(&["org", command, "--org", "acme", "--json"]))["org"]["slug"], "acme", "{command}");
    }
    json(&program.run(&["org", "invite-admin", "--org", "acme", "--email", "eve@example.com", "--json"]));
    json(&program.run(&["org", "export", "--org", "acme", "--portable", "--out", "acme.ndjson", "--json"]));
    json(&program.run(&["api-key", "create", "--org", "acme", "--name", "Back end", "--json"]));
}

#[test]
fn without_a_wait_a_deletion_says_that_the_organization_is_gone() {
    let program = with_acme().with("PURGE_AFTER", "0");
    let said = program.run(&["org", "delete", "--slug", "acme"]);
    let said = String::from_utf8_lossy(&said.stdout).into_owned();
    assert!(said.contains("'acme' is gone") && !said.contains("cancel-deletion"), "{said}");
    assert!(error(&program.run(&["org", "cancel-deletion", "--slug", "acme"])).contains("org list"));
}

#[test]
fn an_organization_is_deleted_in_time_or_now() {
    let program = with_acme();
    let org = |command: &[&str]| json(&program.run(&[&["org"], command, &["--slug", "acme", "--json"]].concat()))["org"].clone();
    let deleted = org(&["delete"]);
    assert!(deleted["status"] == "suspended" && deleted["deletesAt"].is_string(), "{deleted}");
    assert_eq!(org(&["delete"]), deleted);
    let said = program.run(&["org", "list"]);
    assert!(String::from_utf8_lossy(&said.stdout).contains("  to be deleted at 2"), "{said:?}");
    assert!(error(&program.run(&["org", "reactivate", "--slug", "acme"])).contains("cancel-deletion"));
    let kept = org(&["cancel-deletion"]);
    assert!(kept["status"] == "suspended" && kept["deletesAt"].is_null(), "{kept}");

    error(&program.run(&["org", "delete", "--slug", "acme", "--yes"]));
    let now = ["org", "delete", "--slug", "acme", "--now", "--json"];
    json(&program.run_with_stdin(&now, ""));
    assert!(error(&program.run(&["org", "delete", "--slug", "acme", "--now", "--yes"])).contains("org list"));
    let create = ["org", "create", "--name", "Acme", "--slug", "acme", "--admin-email", "ada@example.com", "--json"];
    assert!(error(&program.run(&create)).contains("taken"));
    json(&program.run(&["org", "release-slug", "--slug", "acme", "--json"]));
    assert!(error(&program.run(&["org", "release-slug", "--slug", "acme"])).contains("acme"));
    json(&program.run(&create));
}

#[test]
fn a_deployment_key_is_made_listed_rotated_and_revoked() {
    let program = with_acme();
    let create = ["deployment-key", "create", "--name", "product", "--scope", "verify,users:read", "--scope", "verify"];
    let created =
        json(&program.run(&[&create[..], &["--expires-at", "2100-01-01T00:00:00Z", "--from", "10.0.0.7/8", "--json"]].concat()));
    let (key, text) = (&created["deploymentKey"], created["key"].as_str().expect("a key"));
    let id = key["id"].as_str().expect("an id");
    assert!(id.starts_with("dpk_") && text.starts_with("dk_live_"), "{created}");
    assert_eq!(key["scopes"], serde_json::json!(["verify", "users:read"]));
    assert_eq!((&key["expiresAt"], &key["networks"][0]), (&"2100-01-01T00:00:00.000Z".into(), &"10.0.0.0/8".into()));
    let said = program.run(&create);
    assert!(String::from_utf8_lossy(&said.stdout).contains("dk_live_"), "{said:?}");

    let rotated = json(&program.run(&["deployment-key", "rotate", "--id", id, "--overlap-seconds", "0", "--json"]));
    let successor = rotated["deploymentKey"]["id"].as_str().expect("an id");
    assert_eq!(rotated["deploymentKey"]["networks"], key["networks"]);
    assert!(
        error(&program.run(&["deployment-key", "rotate", "--id", id])).contains("no such deployment key"),
        "it ended with the overlap"
    );
    let listed = || json(&program.run(&["deployment-key", "list", "--json"]))["deploymentKeys"].as_array().expect("a list").len();
    assert_eq!(listed(), 2);
    json(&program.run(&["deployment-key", "revoke", "--id", successor, "--json"]));
    assert_eq!(listed(), 1);
    assert!(!String::from_utf8_lossy(&program.run(&["deployment-key", "list"]).stdout).contains(text), "never shown again");

    for wrong in [
        &["--name", "x"][..],
        &["--name", "x", "--scope", "proxy"],
        &["--name", "x", "--scope", "verify", "--from", "everywhere"],
        &["--name", "x", "--scope", "verify", "--expires-at", "2020-01-01T00:00:00Z"],
    ] {
        error(&program.run(&[&["deployment-key", "create"][..], wrong].concat()));
    }
    let refused = error(&program.run(&[&create[..4], &["--scope", "owner"]].concat()));
    assert!(refused.contains("verify, users:read, members:read, events:read, organizations, admin"), "{refused}");
    error(&program.run(&["deployment-key", "revoke", "--id", "key_01kaz3vrm0f3k8m2p5q7r9s1t4"]));
    assert_eq!(listed(), 1);
}

#[test]
fn a_key_is_created_with_the_scopes_asked_for() {
    let program = with_acme();
    let created = json(&program.run(&["api-key", "create", "--org", "acme", "--name", "ci", "--json"]));
    assert_eq!(created["apiKey"]["scopes"], serde_json::json!(["verify", "users:read", "members:read"]));
    assert!(created["key"].as_str().is_some_and(|key| key.starts_with("pk_live_")), "{created}");
    let create = ["api-key", "create", "--org", "acme", "--name", "ci", "--scope", "verify", "--scope", "proxy", "--json"];
    assert_eq!(json(&program.run(&create))["apiKey"]["scopes"], serde_json::json!(["verify", "proxy"]));
    assert!(
        error(&program.run(&["api-key", "create", "--org", "acme", "--name", "ci", "--scope", "all"])).contains("members:read")
    );
}

#[test]
fn an_api_key_is_listed_rotated_and_revoked() {
    let program = with_acme();
    let create = ["api-key", "create", "--org", "acme", "--name", "ci", "--expires-at", "2100-01-01T00:00:00Z", "--json"];
    let created = json(&program.run(&create));
    let id = created["apiKey"]["id"].as_str().expect("an id");
    assert_eq!(created["apiKey"]["expiresAt"], "2100-01-01T00:00:00.000Z");
    let listed = || json(&program.run(&["api-key", "list", "--org", "acme", "--json"]))["apiKeys"].clone();
    assert_eq!(listed()[0], created["apiKey"]);
    let rotate = ["api-key", "rotate", "--org", "acme", "--id", id, "--overlap-seconds", "0", "--json"];
    let rotated = json(&program.run(&rotate));
    assert_eq!(rotated["apiKey"]["expiresAt"], created["apiKey"]["expiresAt"]);
    assert!(error(&program.run(&rotate)).contains("no such API key"), "it ended with the overlap");
    let successor = rotated["apiKey"]["id"].as_str().expect("an id");
    let said = program.run(&["api-key", "list", "--org", "acme"]);
    let said = String::from_utf8_lossy(&said.stdout).into_owned();
    let key = rotated["key"].as_str().expect("a key");
    assert!(said.contains(successor) && !said.contains(key), "never shown again: {said}");
    json(&program.run(&["api-key", "revoke", "--org", "acme", "--id", successor, "--json"]));
    assert_eq!(listed().as_array().map(Vec::len), Some(0));
    let said = program.run(&["api-key", "list", "--org", "acme"]);
    assert!(String::from_utf8_lossy(&said.stdout).contains("no API keys"), "{said:?}");
    error(&program.run(&["api-key", "revoke", "--org", "acme", "--id", successor]));
}

#[test]
fn an_organization_is_changed() {
    let program = with_acme();
    let change = |values: &[&str]| program.run(&[&["org", "change", "--org", "acme", "--json"], values].concat());
    let values = ["--name", "Acme Inc.", "--plan", "pro", "--app-url", "https://app.acme.example", "--trusted", "false"];
    let changed = json(&change(&values))["org"].clone();
    assert_eq!((&changed["name"], &changed["plan"]), (&"Acme Inc.".into(), &"pro".into()));
    assert_eq!((&changed["appUrl"], &changed["trusted"]), (&"https://app.acme.example".into(), &false.into()));
    let said = program.run(&["org", "list"]);
    assert!(String::from_utf8_lossy(&said.stdout).contains("  not trusted"), "{said:?}");
    assert!(json(&change(&["--no-app-url"]))["org"]["appUrl"].is_null());
    assert_eq!(change(&[]).status.code(), Some(2), "nothing to change");
    assert_eq!(change(&["--no-app-url", "--app-url", "https://app.acme.example"]).status.code(), Some(2));
}

#[test]
fn sessions_are_revoked_for_exactly_one_scope() {
    let program = with_acme();
    assert_eq!(json(&program.run(&["sessions", "revoke", "--all", "--json"]))["revoked"], 0);
    assert_eq!(json(&program.run(&["sessions", "revoke", "--org", "acme", "--json"]))["revoked"], 0);
    error(&program.run(&["sessions", "revoke"]));
    error(&program.run(&["sessions", "revoke", "--all", "--org", "acme"]));
}

#[test]
fn a_migration_needs_the_database_only() {
    let program = Program::new().without("MASTER_KEY").without("PUBLIC_URL");
    let first = json(&program.run(&["migrate", "--json"]));
    let count = |ran: &serde_json::Value| ran["ran"].as_array().map(Vec::len);
    assert!(first["migrated"] == true && count(&first) > Some(20), "{first}");
    let second = json(&program.run(&["migrate", "--json"]));
    assert_eq!((&second["version"], count(&second)), (&first["version"], Some(0)));
    let said = |program: &Program| String::from_utf8(program.run(&["migrate"]).stdout).expect("text");
    assert_eq!(said(&program), "The database is up to date.\n");
    let said = said(&Program::new());
    assert_eq!(said, format!("The tables are created, of schema version {}.\n", first["version"]));
}

/// A mistyped path, or a volume that is not mounted: an empty database in its place would look like a service that lost everything.
#[test]
fn what_names_what_was_there_makes_no_database() {
    let mut program = Program::new();
    std::fs::write(program.path().join("people.ndjson"), "").expect("written");
    let elsewhere = empty_postgres().map(|url| {
        let (server, database) = url.split_once('?').expect("parameters");
        format!("{server}_missing?{database}")
    });
    let here = format!("sqlite:{}", program.path().join("auth.db").display());
    for url in std::iter::once(here).chain(elsewhere) {
        program = program.with("DATABASE_URL", &url);
        for command in [
            &["org", "suspend", "--org", "acme"][..],
            &["org", "list"],
            &["deployment-key", "list"],
            &["deployment-key", "revoke", "--id", "dpk_00000000000000000000000000"],
            &["api-key", "create", "--org", "acme", "--name", "Backend"],
            &["api-key", "list", "--org", "acme"],
            &["member", "list", "--org", "acme"],
            &["user", "show", "--email", "ada@example.com"],
            &["user", "export", "--email", "ada@example.com"],
            &["user", "delete", "--email", "ada@example.com"],
            &["user", "list", "--without-organization"],
            &["operator", "grant", "--email", "ada@example.com"],
            &["operator", "list"],
            &["sessions", "revoke", "--all"],
            &["keys", "rotate", "--compromised"],
            &["audit", "export", "--deployment", "--out", "-"],
            &["import", "users", "--org", "acme", "--file", "people.ndjson"],
            &["audit", "export", "--org", "acme", "--out", "-"],
        ] {
            let said = error(&program.run(command));
            assert!(said.contains("TENANT_AUTH_DATABASE_URL names a database that is not there"), "{command:?}: {said}");
        }
        let check = json(&program.run(&["serve", "--check", "--json"]));
        assert!(check["parts"].to_string().contains("is not there; a start creates it"), "{check}");
    }
    assert!(!program.path().join("auth.db").exists() && !program.path().join("auth.db.known").exists());
}

/// Changes wait for the largest freshness that any server announced, until it is lowered.
#[test]
fn a_freshness_is_lowered_while_a_server_runs() {
    let program = with_acme().with("MEMORY", "8").with("FRESHNESS", "1000");
    let waits = Duration::from_millis(1_250);
    let waited = || {
        let began = Instant::now();
        json(&program.run(&["sessions", "revoke", "--all", "--json"]));
        began.elapsed()
    };
    let server = remembering(&program, || waited() >= waits);
    for wrong in ["-1", "19", "1001", "soon"] {
        let refused = program.run(&["migrate", &format!("--freshness={wrong}")]);
        assert_eq!(refused.status.code(), Some(2), "{refused:?}");
    }
    let began = Instant::now();
    assert_eq!(json(&program.run(&["migrate", "--freshness", "20", "--json"]))["migrated"], true);
    assert!(began.elapsed() >= waits, "the looks of the running server were not waited for");
    assert!((0..5).any(|_| waited() < waits), "changes still wait for what nobody uses any more");
    drop(server);
    drop(remembering(&program, || waited() >= waits)); // a server that starts with a longer one is believed
}

/// A server that is asked until it remembers.
fn remembering(program: &Program, remembers: impl Fn() -> bool) -> Running {
    let server = Running::start(program, &["serve"]);
    let deadline = Instant::now() + DEADLINE;
    loop {
        let mut stream = server.connect();
        let question = "GET /api/v1/org HTTP/1.1\r\nHost: localhost\r\nX-Org-Slug: acme\r\nConnection: close\r\n\r\n";
        stream.write_all(question.as_bytes()).expect("it reads");
        answer(stream);
        if remembers() {
            return server;
        }
        assert!(Instant::now() < deadline, "it does not remember");
    }
}
