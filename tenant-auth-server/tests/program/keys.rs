//! The command `keys rotate`, on one SQLite file.

use tenant_auth_conformance::run_sql;

use crate::commands::with_acme;

#[test]
fn a_sealed_value_that_no_master_key_opens_is_named_and_fails_the_rotation_alone() {
    let program = with_acme();
    let url = format!("sqlite:{}", program.path().join("auth.db").display());
    run_sql(&url, "UPDATE tenant_auth_mails SET content = 'v1.gone.AA.AA'"); // the invite's, which waits
    let output = program.run(&["keys", "rotate"]);
    let (said, complained) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert_eq!(output.status.code(), Some(1), "{said}{complained}");
    assert!(said.contains("The signing keys were rotated. Everything else that is sealed was under the first"), "{said}");
    assert!(
        complained.contains("tenant_auth_mails.content of row ") && complained.contains(" of organization org_"),
        "{complained}"
    );
    let output = program.run(&["keys", "rotate", "--json"]);
    let data: serde_json::Value = serde_json::from_slice(&output.stdout).expect("one object");
    assert_eq!((output.status.code(), &data["unopened"]), (Some(1), &1.into()), "{data}");
    assert_eq!(data["unopenedAt"][0]["table"], "tenant_auth_mails");
}
