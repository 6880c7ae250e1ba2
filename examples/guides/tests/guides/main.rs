//! A stranger's path through each guide: the programs printed there are these, are short, and do what the guide says.

mod backends;
mod browsers;
mod remembering;

use std::{
    io::{Read, Write},
    net::TcpStream,
    path::{Path, PathBuf},
    process::Command,
};

use tenant_auth_conformance::{
    PASSWORD, Process, empty_postgres, production,
    walks::{self, Deployed, SharedFile, between, blocks, pasted, printed},
};
use tenant_auth_core::ports::{Clock, SystemClock};

/// The most lines of code a stranger should have to write.
const LINES: usize = 30;
/// The most with two rights of one's own.
const LINES_WITH_RIGHTS: usize = 40;
/// The most for an application with routes of every kind and its test.
const LINES_OF_AN_APPLICATION: usize = 100;
/// The most for a program as it runs in production.
const LINES_IN_PRODUCTION: usize = 105;

fn of_the_repository(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path)
}

#[track_caller]
fn assert_printed(guide: &str, programs: &[&str]) {
    let printed = blocks(&of_the_repository("tenant-auth-core/guides").join(guide), "rust");
    for name in programs {
        let path = of_the_repository("examples/guides/src/bin").join(name);
        let program = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        assert!(printed.contains(&program), "{guide} does not print {name} as it is");
        let code = program.lines().filter(|line| !line.trim().is_empty() && !line.trim_start().starts_with("//")).count();
        let most = match name.split('-').next() {
            Some("production") => LINES_IN_PRODUCTION,
            _ if name.contains("rights") || name.contains("again") => LINES_WITH_RIGHTS,
            _ if name.contains("routes") => LINES_OF_AN_APPLICATION,
            _ => LINES,
        };
        assert!(code < most, "{name} has {code} lines");
    }
}

fn embedding(program: &str, file: &SharedFile) -> Process {
    let mut command = Command::new(program);
    command.env("LISTEN", "127.0.0.1:0").env("PUBLIC_URL", "http://127.0.0.1:3000");
    command.env("DATABASE", file.path()).env("MASTER_KEY", &file.master_key);
    Process::start(&mut command, "http://")
}

fn asking(program: &str, deployed: &Deployed) -> Process {
    let mut command = Command::new(program);
    command.env("LISTEN", "127.0.0.1:0").env("AUTH_URL", deployed.url()).env("API_KEY", &deployed.api_key);
    Process::start(&mut command, "http://")
}

/// The commands that a guide has its reader paste once the program runs.
fn commands(guide: &str) -> String {
    let blocks = blocks(&of_the_repository("tenant-auth-core/guides").join(guide), "sh");
    blocks.into_iter().find(|block| block.contains("curl -i")).expect("a block of commands")
}

/// Where the guides have the program listen.
const LISTENS: &str = "127.0.0.1:3000";

#[test]
fn the_guides_print_these_programs() {
    assert_printed("embed.md", &["embed-axum.rs", "embed-actix.rs", "embed-routes.rs", "administer.rs"]);
    assert_printed("embed.md", &["production-axum.rs", "production-actix.rs"]);
    assert_printed("deploy.md", &["deploy-axum.rs", "deploy-actix.rs", "deploy-rights.rs"]);
    assert_printed("call.md", &["call.rs", "call-again.rs"]);
    assert_printed("sign-up.md", &["sign-up.rs"]);
}

#[test]
fn the_guide_says_every_variable_that_its_programs_read() {
    let guide = of_the_repository("tenant-auth-core/guides/embed.md");
    let exported = blocks(&guide, "sh").concat();
    let programs = blocks(&guide, "rust").concat();
    for name in programs.split("var(\"").skip(1).filter_map(|rest| rest.split('"').next()) {
        assert!(exported.contains(&format!(" {name}=")), "nothing exports {name}");
    }
}

#[tokio::test]
async fn embed_it_on_axum() {
    let file = SharedFile::new();
    let process = embedding(env!("CARGO_BIN_EXE_embed-axum"), &file);
    walks::embedded(&process, &file, between(&process.printed, "invite: ", "\n"), "/reports").await;
}

#[tokio::test]
async fn embed_it_on_actix() {
    let file = SharedFile::new();
    let process = embedding(env!("CARGO_BIN_EXE_embed-actix"), &file);
    walks::embedded(&process, &file, between(&process.printed, "invite: ", "\n"), "/reports").await;
}

// The mail server answers on this runtime while the program is waited for; so below.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn embed_it_in_production_on_axum() {
    in_production(env!("CARGO_BIN_EXE_production-axum")).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn embed_it_in_production_on_actix() {
    in_production(env!("CARGO_BIN_EXE_production-actix")).await;
}

async fn in_production(program: &str) {
    let file = SharedFile::new();
    production::walked(program, &format!("sqlite:{}", file.path().display())).await;
    if let Some(url) = empty_postgres() {
        production::walked(program, &url).await;
    }
}

#[tokio::test]
async fn deploy_it_and_ask_from_axum() {
    let deployed = Deployed::start().await;
    let process = asking(env!("CARGO_BIN_EXE_deploy-axum"), &deployed);
    walks::remote(&deployed, &process, "/reports").await;
}

#[tokio::test]
async fn deploy_it_and_ask_from_actix() {
    let deployed = Deployed::start().await;
    let process = asking(env!("CARGO_BIN_EXE_deploy-actix"), &deployed);
    walks::remote(&deployed, &process, "/reports").await;
}

#[tokio::test]
async fn rights_of_ones_own_over_a_deployed_server() {
    let deployed = Deployed::start().await;
    let process = asking(env!("CARGO_BIN_EXE_deploy-rights"), &deployed);
    walks::rights_of_ones_own(&deployed, &process).await;
}

/// The programs in other languages, where what runs them is installed.
const REMEMBERING: [(&str, &str, &str); 2] = [("python", "python3", "remembering.py"), ("ts", "node", "remembering.ts")];

#[test]
fn the_guide_prints_the_programs_that_remember() {
    for (language, _, name) in REMEMBERING {
        let program = std::fs::read_to_string(of_the_repository("examples/guides/remembering").join(name)).expect("a program");
        let printed = blocks(&of_the_repository("tenant-auth-core/guides/remember.md"), language);
        assert_eq!(printed, [program], "remember.md does not print {name} as it is");
    }
}

/// Whether a program in this language can be run as it stands; CI says that it must.
fn is_runnable(interpreter: &str, name: &str) -> bool {
    let probe = match interpreter {
        "node" => Command::new(interpreter).args(["-e", "process.exit(process.features.typescript ? 0 : 1)"]).status(),
        _ => Command::new(interpreter).arg("--version").status(),
    };
    let is_there = probe.is_ok_and(|status| status.success());
    let is_required = std::env::var_os("TENANT_AUTH_REQUIRE_LANGUAGES").is_some();
    assert!(is_there || !is_required, "{interpreter} does not run {name}");
    if !is_there {
        eprintln!("{interpreter} does not run {name} here: skipped");
    }
    is_there
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn remember_in_other_languages() {
    for (_, interpreter, name) in REMEMBERING {
        if !is_runnable(interpreter, name) {
            continue;
        }
        let deployed = Deployed::start().await;
        let mut command = Command::new(interpreter);
        command.arg(of_the_repository("examples/guides/remembering").join(name));
        command.env("PORT", "0").env("AUTH_URL", deployed.url()).env("API_KEY", &deployed.api_key);
        let process = Process::start(&mut command, "http://");
        walks::remembering(&deployed, &process).await;
    }
}

#[test]
fn a_receiver_in_python_takes_what_is_genuine_once() {
    let program = of_the_repository("examples/guides/receiving/receiving.py");
    let text = std::fs::read_to_string(&program).expect("a program");
    assert_eq!(blocks(&of_the_repository("tenant-auth-core/guides/webhooks.md"), "python"), [text]);
    if !is_runnable("python3", "receiving.py") {
        return;
    }
    let secret = "MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE=";
    let mut command = Command::new("python3");
    let process = Process::start(command.arg(program).env("PORT", "0").env("WEBHOOK_SECRET", format!("whs_{secret}")), "http://");
    let webhook = standardwebhooks::Webhook::new(&format!("whsec_{secret}")).expect("a secret");
    let body = br#"{"type":"member.removed","sequence":42}"#;
    let now = SystemClock.now().millis() / 1_000;
    let deliver = |at: i64, body: &[u8]| {
        let signature = webhook.sign("evt_1", at, br#"{"type":"member.removed","sequence":42}"#).expect("a signature");
        let mut stream = TcpStream::connect(process.address).expect("it listens");
        let head = format!(
            "POST / HTTP/1.0\r\nContent-Length: {}\r\nwebhook-id: evt_1\r\nwebhook-timestamp: {at}\r\nwebhook-signature: v1,other {signature}\r\n\r\n",
            body.len()
        );
        stream.write_all(&[head.as_bytes(), body].concat()).expect("sent");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("an answer");
        answer.split(' ').nth(1).expect("a status").to_owned()
    };
    assert_eq!(deliver(now, br#"{"type":"member.removed","sequence":43}"#), "400", "another body");
    assert_eq!(deliver(now - 301, body), "400", "too old");
    assert_eq!((deliver(now, body), deliver(now, body)), ("204".to_owned(), "204".to_owned()));
}

#[test]
fn administer_it() {
    let file = SharedFile::new();
    let mut command = Command::new(env!("CARGO_BIN_EXE_administer"));
    let text = printed(command.env("DATABASE", file.path()).env("MASTER_KEY", &file.master_key));
    let kinds = ["invite.created", "org.updated", "invite.created"];
    assert_eq!(text, kinds.map(|kind| format!("{kind} by the system\n")).concat());
    let guide = std::fs::read_to_string(of_the_repository("tenant-auth-core/guides/embed.md")).expect("a guide");
    assert!(guide.contains(&format!("```text\n{text}```")), "embed.md does not show what administer.rs prints");
}

#[test]
fn sign_up_by_it() {
    let file = SharedFile::new();
    let mut command = Command::new(env!("CARGO_BIN_EXE_sign-up"));
    let text = printed(command.env("DATABASE", file.path()).env("MASTER_KEY", &file.master_key));
    let guide = std::fs::read_to_string(of_the_repository("tenant-auth-core/guides/sign-up.md")).expect("a guide");
    assert!(guide.contains(&format!("```text\n{text}```")), "sign-up.md does not show what sign-up.rs prints: {text}");
}

#[test]
fn call_it() {
    let file = SharedFile::new();
    let mut command = Command::new(env!("CARGO_BIN_EXE_call"));
    let text = printed(command.env("DATABASE", file.path()).env("MASTER_KEY", &file.master_key));
    let lines: Vec<&str> = text.lines().collect();
    assert!(
        matches!(lines[..], [ok, suspended, over]
        if ok == r#"(200, "Reports for Ada")"# && suspended.starts_with("(403,") && over.starts_with("(401,")),
        "{text}"
    );
    let mut again = Command::new(env!("CARGO_BIN_EXE_call-again"));
    let text = printed(again.env("DATABASE", file.path()).env("MASTER_KEY", &file.master_key));
    let guide = std::fs::read_to_string(of_the_repository("tenant-auth-core/guides/call.md")).expect("a guide");
    assert!(guide.contains(&format!("```text\n{text}```")), "call.md does not show what call-again.rs prints: {text}");
}

#[test]
fn a_program_in_production_names_what_is_wrong_in_its_environment() {
    let right = [
        ("PUBLIC_URL", "https://app.example.com"),
        ("TRUSTED_PROXIES", "none"),
        ("MASTER_KEY", "Jm8nYcT5v0qLrZ2eXw7uHs4kDp1aBg9iMf3oNlK6QyE="),
        ("MAIL_FROM", "Acme <no-reply@example.com>"),
        ("SMTP_URL", "smtp://127.0.0.1:1"),
        ("ADMIN_EMAIL", "ada@example.com"),
        ("LISTEN", "127.0.0.1:0"),
        ("DATABASE_URL", "sqlite:/nowhere/auth.db"),
    ];
    let wrong = [
        ("PUBLIC_URL", "app.example.com"),
        ("TRUSTED_PROXIES", "10.0.0.0/33"),
        ("MASTER_KEY", "abc"),
        ("SMTP_URL", "smtp.example.com"),
        ("ADMIN_EMAIL", "x"),
        ("LISTEN", "3000"),
        ("MAIL_FROM", "nobody"),
        ("DATABASE_URL", "sqlite:/nowhere/auth.db"),
    ];
    for program in [env!("CARGO_BIN_EXE_production-axum"), env!("CARGO_BIN_EXE_production-actix")] {
        for (name, value) in wrong {
            let ended = Command::new(program).envs(right).env(name, value).output().expect("it starts");
            let said = String::from_utf8_lossy(&ended.stdout);
            assert!(!ended.status.success() && said.contains(&format!("{name}: ")), "{name}={value}: {said}");
        }
        for (name, _) in right {
            let ended = Command::new(program).envs(right).env_remove(name).output().expect("it starts");
            let said = String::from_utf8_lossy(&ended.stdout);
            assert!(!ended.status.success() && said.contains(&format!("{name}: is not set")), "{name}: {said}");
        }
        let ended = Command::new(program).envs(right).output().expect("it starts");
        let said = String::from_utf8_lossy(&ended.stdout);
        assert!(!ended.status.success() && said.contains("unable to open database file"), "the cause is named: {said}");
        let away = Command::new(program).envs(right).env("DATABASE_URL", "postgres://app:secret@127.0.0.1:9/app").output();
        let away = away.expect("it starts");
        let said = String::from_utf8_lossy(&[away.stdout, away.stderr].concat()).into_owned();
        assert!(said.contains("Connection refused") && !said.contains("secret"), "so is that of PostgreSQL: {said}");
    }
}

#[test]
fn the_commands_of_embed_can_be_pasted() {
    let file = SharedFile::new();
    let process = embedding(env!("CARGO_BIN_EXE_embed-axum"), &file);
    let (address, invite) = (process.address.to_string(), format!("'{}'", between(&process.printed, "invite: ", "\n")));
    let statuses = pasted(&commands("embed.md"), &[(LISTENS, &address), ("'…'", &invite)], &[]);
    assert_eq!(statuses, [200, 401]);
}

// The service answers on this runtime while the shell is waited for.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_commands_of_deploy_can_be_pasted() {
    let deployed = Deployed::start().await;
    let process = asking(env!("CARGO_BIN_EXE_deploy-axum"), &deployed);
    let address = process.address.to_string();
    let replaced = [(LISTENS, address.as_str()), ("admin@acme.example", deployed.admin_email()), ("…", PASSWORD)];
    let statuses = pasted(&commands("deploy.md"), &replaced, &[("AUTH_URL", &deployed.url())]);
    assert_eq!(statuses, [200, 401]);
}
