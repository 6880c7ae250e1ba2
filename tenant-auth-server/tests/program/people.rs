//! The commands about people, `user` and `operator`, on one SQLite file.

use tenant_auth_conformance::hold_sql;

use crate::{Program, commands::with_acme, error, json};

#[test]
fn a_user_is_created_with_the_password_on_stdin() {
    let program = with_acme();
    let create = ["user", "create", "--org", "acme", "--email", "bob@example.com", "--name", "Bob", "--json"];
    let created = json(&program.run_with_stdin(&create, "mauve-otter-plinth-42\n"));
    assert_eq!(created["user"]["isEmailVerified"], false);
    assert_eq!((&created["membership"]["role"], &created["membership"]["status"]), (&"member".into(), &"active".into()));
    let reset = error(&program.run(&["user", "reset-2fa", "--email", "bob@example.com"]));
    assert!(reset.contains("bob@example.com has no second factor in force. There is nothing to remove."), "{reset}");
    assert!(error(&program.run_with_stdin(&create, "")).contains("stdin"));
    let weak = ["user", "create", "--org", "acme", "--email", "eve@example.com", "--name", "Eve"];
    assert!(error(&program.run_with_stdin(&weak, "short\n")).contains("at least 8"));
}

#[test]
fn an_account_that_was_taken_over_gets_another_address() {
    let program = with_acme();
    let create = ["user", "create", "--org", "acme", "--email", "bob@example.com", "--name", "Bob", "--json"];
    let id = json(&program.run_with_stdin(&create, "mauve-otter-plinth-42\n"))["user"]["id"].clone();
    let give = ["user", "set-email", "--email", "bob@example.com", "--to", "robert@example.com"];
    let given = json(&program.run(&[&give[..], &["--json"]].concat()));
    assert_eq!((&given["user"]["id"], &given["user"]["email"]), (&id, &"robert@example.com".into()));
    assert_eq!((&given["user"]["isEmailVerified"], &given["linkMailed"]), (&false.into(), &true.into()));
    assert!(error(&program.run(&give)).contains("account"), "the former address has none any more");
    json(&program.run(&["org", "suspend", "--org", "acme", "--json"]));
    let give = ["user", "set-email", "--email", "robert@example.com", "--to", "rob@example.com"];
    let output = program.run(&give);
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && said.contains("No link is mailed"), "{output:?}");
}

/// Piped, as here, nothing is asked.
#[test]
fn a_person_is_deleted_and_an_address_that_was_only_invited() {
    let program = with_acme();
    let create =
        ["user", "create", "--org", "acme", "--email", "bob@example.com", "--name", "Bob", "--role", "org_admin", "--json"];
    let id = json(&program.run_with_stdin(&create, "mauve-otter-plinth-42\n"))["user"]["id"].clone();
    let deleted = json(&program.run(&["user", "delete", "--email", "bob@example.com", "--json"]));
    assert_eq!((&deleted["user"]["id"], &deleted["organizationsWithoutAdmin"]), (&id, &serde_json::json!(["acme"])));
    json(&program.run_with_stdin(&create, "mauve-otter-plinth-42\n"));
    let said = program.run(&["user", "delete", "--email", "bob@example.com", "--yes"]);
    let said = String::from_utf8_lossy(&said.stdout).into_owned();
    assert!(said.contains("are deleted") && said.contains("org invite-admin --org acme --email"), "{said}");

    let ada = ["user", "delete", "--email", "ada@example.com"];
    let said = program.run_with_stdin(&ada, "");
    let said = String::from_utf8_lossy(&said.stdout).into_owned();
    assert!(said.contains("ada@example.com has no account") && !said.contains("org_admin"), "{said}");
    assert!(error(&program.run(&ada)).contains("account"), "nothing is left of the address");
    json(&program.run(&["org", "invite-admin", "--org", "acme", "--email", "ada@example.com", "--json"]));
}

/// The database does not delete one of the things that are deleted after the account.
#[test]
fn a_deletion_that_leaves_something_says_so_and_loses_nothing() {
    let program = with_acme();
    let create =
        ["user", "create", "--org", "acme", "--email", "bob@example.com", "--name", "Bob", "--role", "org_admin", "--json"];
    let id = json(&program.run_with_stdin(&create, "mauve-otter-plinth-42\n"))["user"]["id"].clone();
    let url = format!("sqlite:{}", program.path().join("auth.db").display());
    let wish = "INSERT INTO tenant_auth_sign_up_requests (id, email, email_key, attempts, next_attempt_at, created_at)
                VALUES ('wish', 'bob@example.com', 'bob@example.com', 0, 0, 0)";
    let refusal = "CREATE TRIGGER refuse BEFORE DELETE ON tenant_auth_sign_up_requests BEGIN SELECT RAISE(ABORT, 'refused'); END";
    for statement in [wish, refusal] {
        drop(hold_sql(&url, statement).expect("it is done"));
    }
    let delete = ["user", "delete", "--email", "bob@example.com", "--json"];
    let output = program.run(&delete);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && said.contains("Give the command again."), "{output:?}");
    let deleted: serde_json::Value = serde_json::from_slice(&output.stdout).expect("what is deleted");
    assert_eq!((&deleted["user"]["id"], &deleted["organizationsWithoutAdmin"]), (&id, &serde_json::json!(["acme"])));
    assert_eq!(deleted["isComplete"], false);
    drop(hold_sql(&url, "DROP TRIGGER refuse").expect("it is done"));
    let again = json(&program.run(&delete));
    assert_eq!((&again["user"], &again["isComplete"]), (&serde_json::Value::Null, &true.into()));
}

#[test]
fn accounts_that_belong_to_no_organization_are_listed() {
    let program = with_acme();
    let list = ["user", "list", "--without-organization"];
    let said = |program: &Program| String::from_utf8_lossy(&program.run(&list).stdout).into_owned();
    let create = ["user", "create", "--org", "acme", "--email", "bob@example.com", "--name", "Bob", "--json"];
    let id = json(&program.run_with_stdin(&create, "mauve-otter-plinth-42\n"))["user"]["id"].clone();
    assert!(said(&program).contains("Every account belongs to an organization"), "{}", said(&program));
    let url = format!("sqlite:{}", program.path().join("auth.db").display());
    drop(hold_sql(&url, "DELETE FROM tenant_auth_memberships").expect("they are removed"));
    let listed = json(&program.run(&[&list[..], &["--json"]].concat()))["accounts"].clone();
    assert_eq!((listed.as_array().map(Vec::len), &listed[0]["user"]["id"]), (Some(1), &id));
    assert!(listed[0]["isInvited"] == false && listed[0]["createdAt"].is_string(), "{listed}");
    assert!(said(&program).starts_with("bob@example.com ") && said(&program).trim_end().ends_with("  Bob"), "{}", said(&program));
    assert!(error(&program.run(&["user", "list"])).contains("--without-organization"));
}

#[test]
fn a_member_is_managed_by_address() {
    let program = with_acme();
    for (email, name, role) in [("bob@example.com", "Bob", "member"), ("cora@example.com", "Cora", "org_admin")] {
        let create = ["user", "create", "--org", "acme", "--email", email, "--name", name, "--role", role, "--json"];
        json(&program.run_with_stdin(&create, "mauve-otter-plinth-42\n"));
    }
    let member = |command: &str, more: &[&str]| {
        let command = ["member", command, "--org", "acme", "--email", "bob@example.com", "--json"];
        program.run(&[&command, more].concat())
    };
    let listed = || json(&program.run(&["member", "list", "--org", "acme", "--json"]))["members"].clone();
    assert_eq!(listed().as_array().map(Vec::len), Some(2));
    for (command, status) in [("suspend", "suspended"), ("reactivate", "active")] {
        assert_eq!(json(&member(command, &[]))["membership"]["status"], status);
    }
    assert_eq!(json(&member("role", &["--role", "org_admin"]))["membership"]["role"], "org_admin");
    let shown = json(&program.run(&["user", "show", "--email", "BOB@example.com", "--json"]));
    assert_eq!((&shown["memberships"][0]["org"]["slug"], &shown["memberships"][0]["role"]), (&"acme".into(), &"org_admin".into()));
    assert_eq!((&shown["secondFactor"], &shown["sessions"], &shown["blocks"]), (&false.into(), &0.into(), &serde_json::json!([])));
    assert_eq!(json(&member("remove", &[]))["member"]["email"], "bob@example.com");
    assert!(error(&member("remove", &[])).contains("bob@example.com is no member"));
    assert_eq!(listed()[0]["email"], "cora@example.com");
    assert!(error(&program.run(&["member", "suspend", "--org", "acme", "--email", "cora@example.com"])).contains("last"));

    let said = program.run(&["user", "show", "--email", "bob@example.com"]);
    let said = String::from_utf8_lossy(&said.stdout).into_owned();
    assert!(said.contains("Second factor: none") && said.contains("No organization"), "{said}");
    json(&program.run(&["user", "unlock", "--email", "bob@example.com", "--json"]));
    assert!(error(&program.run(&["user", "unlock", "--email", "nobody@example.com"])).contains("account"));
}

#[test]
fn an_operator_is_appointed_and_dismissed() {
    let program = with_acme();
    let create = ["user", "create", "--org", "acme", "--email", "bob@example.com", "--name", "Bob", "--json"];
    json(&program.run_with_stdin(&create, "mauve-otter-plinth-42\n"));
    let (grant, revoke) = (
        ["operator", "grant", "--email", "bob@example.com", "--json"],
        ["operator", "revoke", "--email", "bob@example.com", "--json"],
    );
    assert!(error(&program.run(&grant)).contains("TENANT_AUTH_OPERATOR_ORG must name"));
    let program = program.with("OPERATOR_ORG", "nowhere");
    assert!(error(&program.run(&grant)).contains("TENANT_AUTH_OPERATOR_ORG names"));
    let program = program.with("OPERATOR_ORG", "acme");
    let shown = |program: &Program| String::from_utf8(program.run(&["operator", "list"]).stdout).expect("text");
    assert!(shown(&program).contains("no operators"), "{}", shown(&program));
    for _ in 0..2 {
        assert_eq!(json(&program.run(&grant))["user"]["role"], "admin");
    }
    let listed = json(&program.run(&["operator", "list", "--json"]))["operators"].clone();
    assert_eq!((listed.as_array().map(Vec::len), &listed[0]["email"]), (Some(1), &"bob@example.com".into()));
    assert!(
        shown(&program).starts_with("bob@example.com ") && shown(&program).trim_end().ends_with("  Bob"),
        "{}",
        shown(&program)
    );
    json(&program.run(&["org", "create", "--name", "Ops", "--slug", "ops", "--admin-email", "ops@example.com", "--json"]));
    let program = program.with("OPERATOR_ORG", "ops");
    assert_eq!(json(&program.run(&revoke))["user"]["role"], "user", "whoever left the operators' organization, too");
    assert!(shown(&program).contains("no operators"), "{}", shown(&program));
    assert!(error(&program.run(&grant)).contains("not a member"));
    assert!(error(&program.run(&["operator", "grant", "--email", "nobody@example.com"])).contains("account"));
    assert!(error(&program.run(&["org", "suspend", "--slug", "ops"])).contains("locked out"));
}
