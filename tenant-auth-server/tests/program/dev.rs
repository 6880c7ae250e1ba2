//! `dev` keeps its promise: nothing to set up, and what it prints works when pasted.

use std::{
    net::TcpListener,
    os::unix::fs::PermissionsExt,
    process::{Command, Stdio},
};

use crate::{Program, error, running::Running};

fn started(program: &Program) -> Running {
    Running::start(program, &["dev", "--listen", "127.0.0.1:0"])
}

/// The lines from the first command on.
fn commands(printed: &str) -> &str {
    printed
        .split_once("one shell:\n")
        .map_or("", |(_, rest)| rest)
        .split_once("\ntenant-auth-server ")
        .map_or("", |(lines, _)| lines)
}

#[test]
fn the_printed_lines_work_in_one_shell_again_and_again() {
    let program = Program::new();
    let dev = started(&program);
    for _ in 0..2 {
        let mut bash = Command::new("bash");
        let output = bash.args(["-eu", "-c", commands(&dev.printed)]).stdin(Stdio::null()).current_dir(program.path()).output();
        let output = output.expect("bash runs");
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(output.status.success(), "{said}{}{}", String::from_utf8_lossy(&output.stderr), dev.log());
        assert!(said.contains("\"valid\":true") && said.contains("\"refreshToken\":\""), "{said}\n{}", dev.log());
        assert!(!said.contains("\"error\""), "{said}");
    }
}

#[test]
fn the_next_start_prints_the_same_credentials_from_a_private_file() {
    let program = Program::new();
    let credentials = |printed: &str| {
        let kept = |line: &&str| ["  Password ", "  API key "].iter().any(|name| line.starts_with(name));
        printed.lines().filter(kept).map(str::to_owned).collect::<Vec<_>>()
    };
    let first = started(&program);
    let mut second = started(&program);
    assert_eq!(credentials(&first.printed), credentials(&second.printed));
    assert_eq!(credentials(&first.printed).len(), 2);
    for file in ["tenant-auth-dev.json", "tenant-auth-dev.db"] {
        let mode = program.path().join(file).metadata().expect("it is there").permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{file}");
    }
    second.terminate();
    assert!(second.ended().success());

    std::fs::remove_file(program.path().join("tenant-auth-dev.json")).expect("it can be removed");
    assert!(error(&program.run(&["dev", "--listen", "127.0.0.1:0"])).contains("start afresh"));
}

#[test]
fn mails_are_shown_as_text_to_this_machine_only() {
    let program = Program::new();
    let dev = started(&program);
    let (status, page) = dev.get("/dev/mail");
    assert_eq!(status, 200);
    assert!(page.to_lowercase().contains("content-security-policy: default-src 'none'"), "{page}");
    let port = dev.address.rsplit(':').next().unwrap_or_default().to_owned();
    let mut stream = dev.connect();
    let request = format!("GET /dev/mail.json HTTP/1.1\r\nHost: evil.example:{port}\r\nConnection: close\r\n\r\n");
    std::io::Write::write_all(&mut stream, request.as_bytes()).expect("it reads");
    assert_eq!(crate::running::answer(stream).0, 403);
}

#[test]
fn the_panel_is_at_the_printed_address_with_a_ready_sign_in() {
    let program = Program::new();
    let dev = started(&program);
    let line = dev.printed.lines().find(|line| line.starts_with("  Panel ")).expect("the panel's address");
    assert!(line.ends_with(&format!("http://{}/sign-in#org=acme&email=admin@acme.example", dev.address)), "{line}");
    let (status, page) = dev.get("/sign-in");
    assert!(status == 200 && page.to_lowercase().contains("content-type: text/html"), "{page}");
    assert_eq!(dev.get("/").0, 200, "the panel itself");
}

#[test]
fn it_listens_on_loopback_only_and_says_when_the_port_is_taken() {
    let program = Program::new();
    assert!(error(&program.run(&["dev", "--listen", "0.0.0.0:0"])).contains("loopback"));
    let taken = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = taken.local_addr().expect("bound").to_string();
    let said = error(&program.run(&["dev", "--listen", &address]));
    assert!(said.contains("in use") && said.contains("--listen"), "{said}");
    assert!(!program.path().join("tenant-auth-dev.db").exists(), "nothing is made in vain");
}
