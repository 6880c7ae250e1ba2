//! `audit export` and `audit verify` from outside: files, exit codes, and what stderr says of a file that was changed.

use std::{fs, path::PathBuf, process::Output};

use tenant_auth_conformance::hold_sql;

use crate::{Program, error, json, running::Running};

/// The public key of RFC 8037, appendix A.2, which signed nothing here.
const ANOTHER_KEY: &str = r#"{"keys":[{"kty":"OKP","crv":"Ed25519","alg":"EdDSA","use":"sig",
    "x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo","kid":"kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k"}]}"#;
const EXPORT: [&str; 7] = ["audit", "export", "--org", "acme", "--out", "acme.ndjson", "--json"];

/// A deployment with an organization and a server that publishes the keys.
struct Deployment {
    program: Program,
    server: Running,
}

impl Deployment {
    fn start() -> Self {
        let program = Program::new();
        json(&program.run(&["org", "create", "--name", "Acme", "--slug", "acme", "--admin-email", "ada@example.com", "--json"]));
        json(&program.run(&[
            "org",
            "create",
            "--name",
            "Globex",
            "--slug",
            "globex",
            "--admin-email",
            "eve@example.com",
            "--json",
        ]));
        for _ in 0..2 {
            for status in ["suspend", "reactivate"] {
                json(&program.run(&["org", status, "--slug", "acme", "--json"]));
            }
        }
        let server = Running::start(&program, &["serve"]);
        Self { program, server }
    }

    fn keys(&self) -> String {
        format!("http://{}/api/v1/.well-known/audit-keys.json", self.server.address)
    }

    fn verify(&self, arguments: &[&str]) -> Output {
        // Nothing of the deployment is at hand where a file is verified.
        let keys = self.keys();
        let stranger = Program::new().without("DATABASE_URL").without("MASTER_KEY").without("PUBLIC_URL");
        let paths: Vec<String> = arguments
            .iter()
            .map(|word| match self.path(word) {
                path if path.exists() => path.display().to_string(),
                _ => (*word).to_owned(),
            })
            .collect();
        let words: Vec<&str> = ["audit", "verify", "--keys", &keys].into_iter().chain(paths.iter().map(String::as_str)).collect();
        stranger.run(&words)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.program.path().join(name)
    }

    fn keep(&self, name: &str, lines: &[String]) {
        fs::write(self.path(name), lines.concat()).expect("the directory is there");
    }
}

fn said(output: &Output) -> (Option<i32>, String) {
    (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
}

#[test]
fn a_log_with_a_hole_is_told_as_such() {
    let deployment = Deployment::start();
    let url = format!("sqlite:{}", deployment.program.path().join("auth.db").display());
    drop(hold_sql(&url, "DELETE FROM tenant_auth_events WHERE sequence = 2").expect("it is removed"));
    let said = error(&deployment.program.run(&EXPORT));
    assert!(said.contains("entry 2 is missing") && !said.contains("DATABASE_URL"), "{said}");

    let last = "DELETE FROM tenant_auth_events AS e WHERE sequence = (SELECT max(sequence) FROM tenant_auth_events WHERE org_id = e.org_id)";
    drop(hold_sql(&url, last).expect("it is removed"));
    let later = ["audit", "export", "--org", "acme", "--from", "2099-01-01T00:00:00Z", "--out", "later.ndjson"];
    let said = error(&deployment.program.run(&later));
    assert!(said.contains("on which the range rests, is missing"), "{said}");
}

#[test]
fn a_file_is_verified_and_each_change_is_named() {
    let deployment = Deployment::start();
    let exported = json(&deployment.program.run(&EXPORT));
    let good = deployment.verify(&["acme.ndjson", "--json"]);
    let told = json(&good);
    assert_eq!((&told["good"], &told["entries"]), (&true.into(), &exported["entries"]));
    let text = fs::read_to_string(deployment.path("acme.ndjson")).expect("it is there");
    let lines: Vec<String> = text.split_inclusive('\n').map(str::to_owned).collect();
    assert_eq!(lines.len() as u64, exported["entries"].as_u64().expect("a number") + 2);

    deployment.keep("changed", &lines.iter().map(|line| line.replace("org.suspended", "org.suspendeb")).collect::<Vec<_>>());
    let (code, stderr) = said(&deployment.verify(&["changed"]));
    assert_eq!(code, Some(1));
    assert!(stderr.starts_with("line 3 (sequence 2): was changed"), "{stderr}");
    deployment.keep("removed", &[&lines[..2], &lines[3..]].concat());
    let (code, stderr) = said(&deployment.verify(&["removed"]));
    assert!(code == Some(1) && stderr.starts_with("line 3 (sequence 3): before it the entries 2 to 2 are missing"), "{stderr}");
    deployment.keep("cut", &lines[..3]);
    let (code, stderr) = said(&deployment.verify(&["cut"]));
    assert!(code == Some(1) && stderr.starts_with("line 4 (sequence 3): is missing: the file is cut off"), "{stderr}");
    deployment.keep("odd", &[lines[0].clone(), "not json\n".to_owned()]);
    let (code, stderr) = said(&deployment.verify(&["odd"]));
    assert!(code == Some(1) && stderr.starts_with("line 2: is no entry"), "{stderr}");
}

#[test]
fn an_earlier_file_is_compared() {
    let deployment = Deployment::start();
    json(&deployment.program.run(&EXPORT));
    json(&deployment.program.run(&["audit", "export", "--org", "acme", "--out", "later.ndjson", "--json"]));
    assert_eq!(said(&deployment.verify(&["later.ndjson", "--since", "acme.ndjson"])).0, Some(0));
    let (code, stderr) = said(&deployment.verify(&["acme.ndjson", "--since", "later.ndjson"]));
    assert!(code == Some(1) && stderr.contains("of the earlier file are missing"), "{stderr}");
    let none = ["audit", "export", "--org", "acme", "--from", "2099-01-01T00:00:00Z", "--out", "none.ndjson", "--json"];
    json(&deployment.program.run(&none));
    let apart = deployment.verify(&["none.ndjson", "--since", "acme.ndjson", "--json"]);
    let told: serde_json::Value = serde_json::from_slice(&apart.stdout).expect("a report");
    assert!(told["good"] == false && told["findings"] == serde_json::json!([]) && told["uncompared"] != told["findings"], "{told}");
    let (code, stderr) = said(&apart);
    assert!(
        code == Some(2) && stderr.contains("not in the earlier one") && stderr.contains("neither overlap nor adjoin"),
        "{stderr}"
    );
    json(&deployment.program.run(&["audit", "export", "--org", "globex", "--out", "other.ndjson", "--json"]));
    let (code, stderr) = said(&deployment.verify(&["other.ndjson", "--since", "acme.ndjson"]));
    assert!(code == Some(1) && stderr.contains("another organization"), "{stderr}");
    let (code, stderr) = said(&deployment.verify(&["acme.ndjson", "--checkpoint", "x.y.z"]));
    assert!(code == Some(1) && stderr.contains("checkpoint: the signature is none of an audit key"), "{stderr}");
}

#[test]
fn a_verdict_that_cannot_be_printed_is_never_taken_for_another() {
    let deployment = Deployment::start();
    json(&deployment.program.run(&EXPORT));
    let text = fs::read_to_string(deployment.path("acme.ndjson")).expect("it is there");
    fs::write(deployment.path("changed"), text.replace("org.suspended", "org.suspendeb")).expect("written");
    let full = || fs::File::options().write(true).open("/dev/full").expect("Linux has one");
    let keys = deployment.keys();
    let code = |file: &str| {
        let mut command = deployment.program.command(&["audit", "verify", "--keys", &keys, file]);
        command.stdout(full()).stderr(full()).status().expect("it runs").code()
    };
    assert_eq!((code("acme.ndjson"), code("changed"), code("nowhere.ndjson")), (Some(2), Some(1), Some(2)));
}

#[test]
fn what_cannot_be_verified_has_an_exit_code_of_its_own() {
    let deployment = Deployment::start();
    json(&deployment.program.run(&EXPORT));
    fs::write(deployment.path("picture"), "GIF89a").expect("written");
    fs::write(deployment.path("empty-keys"), "{\"keys\":[]}").expect("written");
    fs::write(deployment.path("nothing"), "").expect("written");
    fs::write(deployment.path("other-keys"), ANOTHER_KEY).expect("written");
    for (arguments, why) in [
        (["picture"].as_slice(), "no audit file"),
        (&["nothing"], "no audit file"),
        (&["nowhere.ndjson"], "nowhere.ndjson"),
        (&["acme.ndjson", "--since", "nowhere.ndjson"], "nowhere.ndjson"),
    ] {
        let (code, stderr) = said(&deployment.verify(arguments));
        assert!(code == Some(2) && stderr.contains(why), "{arguments:?}: {stderr}");
    }
    let (code, stderr) = said(&deployment.program.run(&["audit", "verify", "acme.ndjson", "--keys", "other-keys"]));
    assert!(code == Some(2) && stderr.contains("a key that is not among the keys"), "{stderr}");
    for keys in ["empty-keys", "no-such-keys", "http://192.0.2.1/keys.json", "https://127.0.0.1:1/keys.json"] {
        let (code, stderr) = said(&deployment.program.run(&["audit", "verify", "acme.ndjson", "--keys", keys]));
        assert!(code == Some(2) && stderr.contains(keys), "{keys}: {stderr}");
    }
}

#[test]
fn an_export_can_go_to_stdout_and_takes_no_files_place() {
    let deployment = Deployment::start();
    let piped = deployment.program.run(&["audit", "export", "--org", "acme", "--out", "-"]);
    assert!(piped.status.success());
    fs::write(deployment.path("piped"), &piped.stdout).expect("written");
    assert_eq!(said(&deployment.verify(&["piped"])).0, Some(0));
    let as_json = deployment.program.run(&["audit", "export", "--org", "acme", "--json"]);
    fs::write(deployment.path("as_json"), &as_json.stdout).expect("written");
    assert_eq!(said(&deployment.verify(&["as_json"])).0, Some(0), "lines of JSON are all that there is");
    json(&deployment.program.run(&EXPORT));
    assert!(error(&deployment.program.run(&EXPORT)).contains("is there already"));
    assert!(error(&deployment.program.run(&["audit", "export", "--org", "nobody", "--out", "nobody"])).contains("org list"));
    assert!(!deployment.path("nobody").exists());
    let range = ["audit", "export", "--org", "acme", "--from", "2099-01-01T00:00:00Z", "--out", "none", "--json"];
    assert_eq!(json(&deployment.program.run(&range))["entries"], 0);
}

#[test]
fn the_deployments_own_log_is_a_file_too() {
    let deployment = Deployment::start();
    json(&deployment.program.run(&["deployment-key", "create", "--name", "Product", "--scope", "verify", "--json"]));
    let exported = json(&deployment.program.run(&["audit", "export", "--deployment", "--out", "deployment.ndjson", "--json"]));
    assert_eq!(exported["entries"], 7, "two organizations, one of them suspended and opened twice, and a key");
    let found = json(&deployment.verify(&["deployment.ndjson", "--json"]));
    assert_eq!((&found["good"], &found["org"]), (&true.into(), &"deployment".into()));
    let text = fs::read_to_string(deployment.path("deployment.ndjson")).expect("it is there");
    assert!(text.contains("deployment_key.created") && !text.contains("acme"));
    for wrong in [&["audit", "export", "--out", "x"][..], &["audit", "export", "--deployment", "--org", "acme", "--out", "x"]] {
        let refused = deployment.program.run(wrong);
        assert!(!refused.status.success() && String::from_utf8_lossy(&refused.stderr).contains("--org"), "{refused:?}");
    }
}
