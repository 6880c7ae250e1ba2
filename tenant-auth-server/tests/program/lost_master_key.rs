//! What is left when the master key is gone for good. The statements and commands are those of the guide for operators, as they stand
//! there.

use std::fs;

use serde_json::json;
use tenant_auth_conformance::{empty_postgres, run_sql};

use crate::{OTHER_KEY, Program, admin::Admin, json, running::Running};

/// The transaction that the guide gives.
fn statements() -> String {
    let guide = concat!(env!("CARGO_MANIFEST_DIR"), "/guides/operations.md");
    let guide = fs::read_to_string(guide).expect("the guide");
    let blocks = guide.split("```sql\n").skip(1).filter_map(|rest| rest.split("```").next());
    let block = blocks.into_iter().find(|block| block.contains("DELETE FROM tenant_auth_signing_keys"));
    block.expect("the guide has the statements").to_owned()
}

/// Nobody answers there.
const NOBODY: &str = "http://127.0.0.1:9/hook";

fn what_was_not_sealed_is_kept(program: Program, url: &str) {
    let program = program.with("WEBHOOK_ALLOW_PRIVATE_NETWORKS", "true");
    let mut server = Running::start(&program, &["serve"]);
    let admin = Admin::of_new_organization(&program, &server.address);
    let hook = admin.data(&server.address, "POST /org/webhooks", &json!({ "url": NOBODY, "events": ["*"] }));
    let hook = format!("/org/webhooks/{}", hook["webhook"]["id"].as_str().expect("an id"));
    admin.data(&server.address, &format!("POST {hook}/test"), &json!({}));
    json(&program.run(&["audit", "export", "--org", "acme", "--out", "before.ndjson", "--json"]));
    server.terminate();
    assert!(server.ended().success());

    run_sql(url, &statements());
    let program = program.with("MASTER_KEY", OTHER_KEY);
    for command in [["sessions", "revoke", "--all", "--json"].as_slice(), &["keys", "rotate", "--json"]] {
        json(&program.run(command));
    }
    let server = Running::start(&program, &["serve"]);
    json(&program.run(&["audit", "export", "--org", "acme", "--out", "after.ndjson", "--json"]));
    let keys = format!("http://{}/api/v1/.well-known/audit-keys.json", server.address);
    for file in ["before.ndjson", "after.ndjson"] {
        let verified = json(&program.run(&["audit", "verify", file, "--keys", &keys, "--json"]));
        assert_eq!(verified["good"], true, "{file}: {verified}");
    }

    let (status, _) = admin.ask(&server.address, "GET /org", &json!({})).expect("it answers");
    assert_eq!(status, 401, "sessions are over");
    let admin = admin.logged_in_again(&server.address);
    let shown = admin.data(&server.address, &format!("GET {hook}/deliveries"), &json!({}));
    for delivery in shown["deliveries"].as_array().expect("a list") {
        assert!(delivery["status"] == "cancelled" && delivery["nextAttemptAt"].is_null(), "{delivery}");
    }
    assert_eq!(admin.data(&server.address, &format!("GET {hook}"), &json!({}))["webhook"]["status"], "disabled");
    admin.data(&server.address, &format!("POST {hook}/rotate-secret"), &json!({ "overlapSeconds": 0 }));
    admin.data(&server.address, &format!("PATCH {hook}"), &json!({ "status": "active" }));
    admin.data(&server.address, &format!("POST {hook}/test"), &json!({}));
    assert!(!server.log().contains("opens none") && !server.log().contains("ERROR"), "{}", server.log());
}

#[test]
fn what_was_not_sealed_is_kept_on_sqlite() {
    let program = Program::new();
    let url = format!("sqlite:{}", program.path().join("auth.db").display());
    what_was_not_sealed_is_kept(program, &url);
}

#[test]
fn what_was_not_sealed_is_kept_on_postgresql() {
    let Some(url) = empty_postgres() else { return };
    what_was_not_sealed_is_kept(Program::new().with("DATABASE_URL", &url), &url);
}
