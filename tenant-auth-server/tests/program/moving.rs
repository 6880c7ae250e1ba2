//! `import users` and `org export` from outside: what they print, where, and with which exit code. The commands of the guide run here.

use std::{fs, process::Output};

use serde_json::{Value, json as value};

use crate::{Program, error, json};

const HASH: &str = "$2b$06$T5r16lmVmHnQL5XO3.umcuiP83iRsh1pBV/d9TGjwF1MsINiFNNvG";

fn with_acme() -> Program {
    let program = Program::new();
    json(&program.run(&["org", "create", "--name", "Acme", "--slug", "acme", "--admin-email", "ada@example.com", "--json"]));
    program
}

fn with_file(text: &str) -> Program {
    let program = with_acme();
    fs::write(program.path().join("users.ndjson"), text).expect("the directory is there");
    program
}

const IMPORT: [&str; 7] = ["import", "users", "--org", "acme", "--file", "users.ndjson", "--json"];
const EXPORT: [&str; 7] = ["org", "export", "--slug", "acme", "--portable", "--out", "acme.ndjson"];

#[test]
fn people_are_imported_and_a_second_run_refuses_them() {
    let rows: String =
        (0..500).map(|n| format!("{{\"email\":\"p{n}@example.com\",\"name\":\"P {n}\",\"hash\":\"{HASH}\"}}\n")).collect();
    let program = with_file(&rows);
    assert_eq!(json(&program.run(&IMPORT)), value!({ "imported": 500, "invited": 0, "refused": 0 }));
    let again = program.run(&IMPORT);
    assert_eq!(again.status.code(), Some(1));
    let outcome: Value = serde_json::from_slice(&again.stdout).expect("an object");
    assert_eq!(outcome, value!({ "imported": 0, "invited": 0, "refused": 500 }));
    let said = String::from_utf8_lossy(&again.stderr).into_owned();
    assert!(said.starts_with("line 1: account_exists"), "{said}");
    assert!(said.contains("\nline 500: account_exists") && !said.contains('\r') && !said.contains(HASH), "{said}");
}

#[test]
fn refused_rows_fail_the_command_and_hinder_no_other() {
    let program = with_file("{\"email\":\"p@example.com\",\"name\":\"P\"}\n{\"email\":\"q\",\"name\":\"Q\"}\n");
    let said = program.run(&IMPORT[..6]);
    assert_eq!(said.status.code(), Some(1));
    assert_eq!(String::from_utf8_lossy(&said.stdout), "People imported: 1, with an account and invited: 0, rows refused: 1.\n");
    let stderr = String::from_utf8_lossy(&said.stderr).into_owned();
    assert!(stderr.starts_with("line 2: email: must be an email address\n"), "{stderr}");
}

#[test]
fn with_json_lines_whatever_a_command_says_is_one() {
    let program =
        with_file("{\"email\":\"p@example.com\",\"name\":\"P\"}\n{\"email\":\"q\",\"name\":\"Q\"}\n").with("LOG_FORMAT", "json");
    let messages = |output: &Output| {
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        let lines = said.lines().map(|line| serde_json::from_str::<Value>(line).unwrap_or_else(|error| panic!("{error}: {said}")));
        lines.map(|line| line["fields"]["message"].to_string()).collect::<Vec<_>>().join("\n")
    };
    assert!(messages(&program.run(&IMPORT)).contains("line 2: email"));
    let sealed = program.run(&["org", "export", "--slug", "acme", "--out", "acme.taex"]);
    assert!(messages(&sealed).contains("shown once"));
    let nobody = program.run(&["user", "export", "--email", "nobody@example.com"]);
    assert!(messages(&nobody).contains("no account"));
}

#[test]
fn somebody_of_another_organization_is_invited_where_that_is_asked_for() {
    let program = with_file("{\"email\":\"p@example.com\",\"name\":\"P\",\"emailVerified\":true}\n");
    json(&program.run(&["org", "create", "--name", "Globex", "--slug", "globex", "--admin-email", "ada@example.com", "--json"]));
    json(&program.run(&[IMPORT.as_slice(), &["--trust"]].concat()));
    let there: Vec<&str> = IMPORT.iter().map(|word| if *word == "acme" { "globex" } else { word }).collect();
    let refused = program.run(&there);
    assert!(String::from_utf8_lossy(&refused.stderr).starts_with("line 1: account_exists"), "{refused:?}");
    let invited = json(&program.run(&[there.as_slice(), &["--existing", "invite"]].concat()));
    assert_eq!(invited, value!({ "imported": 0, "invited": 1, "refused": 0 }));
    assert!(error(&program.run(&[there.as_slice(), &["--existing", "link"]].concat())).contains("refuse, invite"));
}

#[test]
fn a_file_that_is_not_there_is_named() {
    let program = with_file("");
    let said = error(&program.run(&["import", "users", "--org", "acme", "--file", "nothing.ndjson"]));
    assert!(said.contains("nothing.ndjson"), "{said}");
    assert_eq!(json(&program.run(&IMPORT)), value!({ "imported": 0, "invited": 0, "refused": 0 }));
}

#[test]
fn an_export_is_for_its_owner_and_takes_no_files_place() {
    let program = with_acme();
    let path = program.path().join("acme.ndjson");
    let exported = json(&program.run(&[EXPORT.as_slice(), &["--json"]].concat()));
    assert_eq!(exported["exported"], value!({ "members": 0, "invites": 1, "apiKeys": 0, "webhooks": 0, "entries": 1 }));
    let text = fs::read_to_string(&path).expect("it is there");
    assert!(text.starts_with("{\"head\":") && text.lines().last().is_some_and(|line| line.starts_with("{\"end\":")), "{text}");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = fs::metadata(&path).expect("it is there").permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }
    assert!(error(&program.run(&EXPORT)).contains("is there already"));
    assert_eq!(fs::read_to_string(&path).expect("it is there"), text, "as it was");
}

#[test]
fn an_export_that_fails_leaves_no_file() {
    let program = with_acme();
    assert!(
        error(&program.run(&["org", "export", "--slug", "nobody", "--portable", "--out", "nobody.ndjson"])).contains("org list")
    );
    assert!(!program.path().join("nobody.ndjson").exists());
    assert!(error(&program.run(&["org", "export", "--slug", "acme", "--portable", "--out", "no/acme.ndjson"])).contains("no/acme"));
    let both = ["org", "export", "--slug", "acme", "--portable", "--key-file", "acme.key", "--out", "acme.ndjson"];
    assert!(error(&program.run(&both)).contains("--key-file"));
    assert!(!program.path().join("acme.ndjson").exists());
}

const SEALED: [&str; 9] = ["org", "export", "--slug", "acme", "--out", "acme.taex", "--key-file", "acme.key", "--json"];

#[test]
fn an_organization_moves_from_one_deployment_to_another() {
    let source = with_file("{\"email\":\"p@example.com\",\"name\":\"P\"}\n");
    json(&source.run(&IMPORT));
    let exported = json(&source.run(&SEALED));
    assert_eq!(exported["exported"]["members"], 1);
    let target = Program::new();
    for name in ["acme.taex", "acme.key"] {
        fs::copy(source.path().join(name), target.path().join(name)).expect("both are there");
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let mode = fs::metadata(source.path().join(name)).expect("it is there").permissions().mode();
            assert_eq!(mode & 0o777, 0o600, "{name}");
        }
    }
    let import = ["org", "import", "--in", "acme.taex", "--key-file", "acme.key", "--json"];
    let tried = target.run(&[import.as_slice(), &["--dry-run"]].concat());
    let said = String::from_utf8_lossy(&tried.stderr);
    assert!(said.contains("was not suspended"), "{said}");
    assert!(said.contains("No member would be an active org_admin: after the import 'org invite-admin --org acme'"), "{said}");
    assert_eq!(json(&tried)["dryRun"], true);
    assert_eq!(json(&target.run(&["org", "list", "--json"]))["organizations"], value!([]));
    let unvouched = error(&target.run(&[import.as_slice(), &["--existing", "join"]].concat()));
    assert!(unvouched.contains("--existing join needs --trust"), "{unvouched}");
    let done = json(&target.run(&import));
    assert_eq!(
        (&done["org"]["slug"], &done["imported"]["members"], &done["sourceLives"]),
        (&value!("acme"), &value!(1), &value!(true))
    );
    let again = error(&target.run(&import));
    assert!(again.contains("Nothing was imported:") && again.contains("organization: it is here already"), "{again}");
    assert!(error(&target.run(&["org", "import", "--in", "acme.key", "--key-file", "acme.key"])).contains("TAEX"));
}

#[test]
fn an_export_that_fails_leaves_no_key_behind() {
    let program = with_acme();
    let nobody: Vec<&str> = SEALED.iter().map(|word| if *word == "acme" { "nobody" } else { word }).collect();
    assert!(error(&program.run(&nobody)).contains("org list"));
    assert!(!program.path().join("acme.key").exists() && !program.path().join("acme.taex").exists());
    json(&program.run(&SEALED));
    let kept = fs::read(program.path().join("acme.key")).expect("it is there");
    assert!(error(&program.run(&nobody)).contains("is there already"));
    let other: Vec<&str> = nobody.iter().map(|word| if *word == "acme.taex" { "other.taex" } else { word }).collect();
    assert!(error(&program.run(&other)).contains("org list"));
    assert_eq!(
        fs::read(program.path().join("acme.key")).expect("it is there"),
        kept,
        "a key that was there before is another file's"
    );
}

#[test]
fn a_key_without_a_file_is_printed_once() {
    let program = with_acme();
    let said = program.run(&SEALED[..6]);
    let stderr = String::from_utf8_lossy(&said.stderr).into_owned();
    let key = stderr.trim().rsplit(' ').next().expect("a key");
    assert!(said.status.success() && stderr.contains("shown once") && key.len() == 44, "{stderr}");
    assert!(!String::from_utf8_lossy(&said.stdout).contains(key));
    fs::write(program.path().join("acme.key"), key).expect("the directory is there");
    let import = ["org", "import", "--in", "acme.taex", "--key-file", "acme.key"];
    assert!(error(&program.run(&import)).contains("here already"), "the key opens the file");
}

#[test]
fn the_guide_describes_each_field_of_what_is_kept_about_a_person() {
    let program = with_file("{\"email\":\"p@example.com\",\"name\":\"P\"}\n");
    json(&program.run(&IMPORT));
    let export = |email: &str| program.run(&["user", "export", "--email", email, "--json"]);
    let document = json(&export("p@example.com"));
    assert_eq!((&document["account"]["name"], &document["account"]["hasPassword"]), (&value!("P"), &value!(false)));
    let table = include_str!("../../guides/move.md").split("## Give a person").nth(1).expect("a section");
    for field in document.as_object().expect("an object").keys() {
        assert!(table.contains(&format!("`{field}`")), "{field}");
    }
    let nobody = export("nobody@example.com");
    assert!(String::from_utf8_lossy(&nobody.stderr).contains("no account"), "{nobody:?}");
    assert_eq!(json(&nobody)["account"], Value::Null);
}

/// The blocks of the guide between fences of a language.
fn blocks<'a>(guide: &'a str, language: &str) -> Vec<&'a str> {
    let fence = format!("```{language}\n");
    guide.split(fence.as_str()).skip(1).filter_map(|rest| rest.split("```").next()).collect()
}

#[test]
fn the_commands_of_the_guide_do_what_the_guide_says() {
    let guide = include_str!("../../guides/move.md");
    let program = Program::new();
    fs::write(program.path().join("users.ndjson"), blocks(guide, "json").concat()).expect("the directory is there");
    let commands: Vec<&str> = blocks(guide, "sh").into_iter().flat_map(str::lines).collect();
    assert_eq!(commands.len(), 5, "{commands:?}");
    for command in commands {
        let words: Vec<&str> = command.split_whitespace().skip(1).collect();
        let said = program.run(&words);
        assert!(said.status.success(), "{command}: {said:?}");
    }
    let target = Program::new();
    for name in ["acme.taex", "acme.key"] {
        fs::copy(program.path().join(name), target.path().join(name)).expect("the guide wrote both");
    }
    for command in blocks(guide, "console").into_iter().flat_map(str::lines) {
        let words: Vec<&str> = command.trim_start_matches("$ ").split_whitespace().skip(1).collect();
        let said = target.run(&words);
        assert!(said.status.success() && !String::from_utf8_lossy(&said.stderr).contains("not suspended"), "{command}: {said:?}");
    }
    assert_eq!(json(&target.run(&["org", "list", "--json"]))["organizations"][0]["status"], "active");
    let text = fs::read_to_string(program.path().join("acme.ndjson")).expect("the guide wrote it");
    let members: Vec<Value> =
        text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok()?.get_mut("member").map(Value::take)).collect();
    assert_eq!(members.len(), 2);
    let ada = members.iter().find(|member| member["user"]["email"] == "ada@example.com").expect("Ada");
    assert_eq!((&ada["user"]["isEmailVerified"], &ada["membership"]["role"]), (&value!(true), &value!("org_admin")));
    let max = members.iter().find(|member| member["user"]["email"] == "max@example.com").expect("Max");
    assert_eq!(
        (&max["user"]["isEmailVerified"], &max["membership"]["metadata"]),
        (&value!(false), &value!({ "team": "research" }))
    );
}
