//! The guide's verifier: it takes a file as the service writes it, and no file in which a line was changed.

use std::{
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use tenant_auth_conformance::{
    Adapter, Caller, Neighbours, PASSWORD,
    walks::{blocks, printed},
};
use tenant_auth_core::audit::{AuditKeySet, AuditVerifier};

/// Prints the names of those files that the verifier takes.
const JUDGE: &str = "
import json, os, sys
sys.path.insert(0, sys.argv[1])
import verify_audit
keys = verify_audit.usable(json.load(open(sys.argv[3])))
for name in sorted(os.listdir(sys.argv[2])):
    try:
        verify_audit.verify(os.path.join(sys.argv[2], name), keys)
        print(name)
    except (verify_audit.Tampered, verify_audit.NotVerified):
        pass
";

/// The public key of RFC 8037, appendix A.2, which signed nothing here.
const ANOTHER_KEY: &str = r#"{"keys":[{"kty":"OKP","crv":"Ed25519","alg":"EdDSA","use":"sig",
    "x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo","kid":"kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k"}]}"#;

fn of_the_repository(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path)
}

#[test]
fn the_guide_prints_the_program_that_verifies() {
    let program = std::fs::read_to_string(of_the_repository("examples/guides/auditing/verify_audit.py")).expect("a program");
    let printed = blocks(&of_the_repository("tenant-auth-core/guides/audit.md"), "python");
    assert_eq!(printed, [program], "audit.md does not print verify_audit.py as it is");
}

/// The file in every way in which a line can be wrong, by a name for each; and bytes here and there.
fn tampered(file: &str) -> Vec<(String, Vec<u8>)> {
    let lines: Vec<&str> = file.split_inclusive('\n').collect();
    let mut wrong = Vec::new();
    for n in 0..lines.len() {
        let mut removed = lines.clone();
        removed.remove(n);
        wrong.push((format!("removed-{n}"), removed.concat().into_bytes()));
        let mut twice = lines.clone();
        twice.insert(n, lines[n]);
        wrong.push((format!("twice-{n}"), twice.concat().into_bytes()));
        if n + 1 < lines.len() {
            let mut swapped = lines.clone();
            swapped.swap(n, n + 1);
            wrong.push((format!("swapped-{n}"), swapped.concat().into_bytes()));
        }
        wrong.push((format!("cut-{n}"), lines[..n].concat().into_bytes()));
    }
    for at in (0..file.len()).step_by(23).chain(file.len() - 100..file.len()) {
        let mut changed = file.as_bytes().to_vec();
        changed[at] ^= 1;
        wrong.push((format!("byte-{at}"), changed));
    }
    wrong
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_verifier_takes_a_file_as_it_is_and_no_other() {
    let import = Command::new("python3").args(["-c", "import cryptography"]).stdout(Stdio::null()).stderr(Stdio::null()).status();
    if !import.is_ok_and(|status| status.success()) {
        assert!(
            std::env::var_os("TENANT_AUTH_REQUIRE_LANGUAGES").is_none(),
            "python3 with cryptography does not run verify_audit.py"
        );
        return eprintln!("python3 with cryptography does not run verify_audit.py here: skipped");
    }
    let neighbours = Neighbours::start(Adapter::Axum).await;
    let admin = Caller::at(neighbours.address(), "acme");
    admin.login_with("olga@acme.example", PASSWORD).await.expect(200);
    for name in ["Ümläut \"quoted\" \\ \u{1f600}", "Plain"] {
        admin.patch("/org", serde_json::json!({ "name": name })).await.expect(200);
    }
    let file = admin.post("/org/audit/export", serde_json::json!({})).await.expect(200).body;
    let until = serde_json::json!({ "to": "9999-12-31T23:59:59.999Z" });
    let until_the_end_of_time = admin.post("/org/audit/export", until).await.expect(200).body;
    let keys = admin.get("/.well-known/audit-keys.json").await.expect(200).body;
    let set = AuditKeySet::parse(&keys).expect("keys");
    assert!(AuditVerifier::new(&set).verify(file.as_bytes()).expect("an audit file").is_good());

    let directory = tempfile::tempdir().expect("a directory");
    let (files, keys_path) = (directory.path().join("files"), directory.path().join("keys.json"));
    std::fs::create_dir(&files).expect("a directory");
    std::fs::write(&keys_path, keys).expect("written");
    std::fs::write(files.join("good"), &file).expect("written");
    std::fs::write(files.join("good-until"), until_the_end_of_time).expect("written");
    for (name, bytes) in tampered(&file) {
        assert!(!AuditVerifier::new(&set).verify(&*bytes).is_ok_and(|found| found.is_good()), "{name}");
        std::fs::write(files.join(name), bytes).expect("written");
    }
    let program = of_the_repository("examples/guides/auditing");
    let judge = |files: &Path| {
        let mut command = Command::new("python3");
        command.env("PYTHONDONTWRITEBYTECODE", "1");
        printed(command.args(["-c", JUDGE]).arg(&program).arg(files).arg(&keys_path))
    };
    assert_eq!(judge(&files), "good\ngood-until\n");
    let run = |name: &str, keys: &Path| {
        let status = Command::new("python3").arg(program.join("verify_audit.py")).arg(files.join(name)).arg(keys).status();
        status.expect("it runs").code()
    };
    let codes = ["good", "cut-2", "cut-0", "nowhere"].map(|name| run(name, &keys_path));
    assert_eq!(codes, [Some(0), Some(1), Some(2), Some(2)], "an empty file is none");
    for (name, document) in [("another", ANOTHER_KEY.to_owned()), ("renamed", renamed(&set))] {
        let path = directory.path().join(name);
        std::fs::write(&path, &document).expect("written");
        assert_eq!(run("good", &path), Some(2), "{name}");
        let other = AuditKeySet::parse(&document);
        assert!(other.is_none_or(|other| AuditVerifier::new(&other).verify(file.as_bytes()).is_err()), "{name}");
    }
}

/// The keys under the name of another: what is verified with them must not be taken for that one's.
fn renamed(set: &AuditKeySet) -> String {
    let mut document: serde_json::Value = serde_json::from_str(&set.to_json().expect("JSON")).expect("JSON");
    let another: serde_json::Value = serde_json::from_str(ANOTHER_KEY).expect("JSON");
    document["keys"][0]["x"] = another["keys"][0]["x"].clone();
    document.to_string()
}
