//! The example as a process of its own, walked over HTTP.

use std::process::Command;

use tenant_auth_conformance::{
    Process, production,
    smtp::SmtpSink,
    walks::{self, SharedFile, between},
};

#[tokio::test]
async fn its_pages_are_for_members_only() {
    let file = SharedFile::new();
    let mut command = Command::new(env!("CARGO_BIN_EXE_tenant-auth-example-axum-embed"));
    command.args(["--listen", "127.0.0.1:0", "--db"]).arg(file.path()).env("MASTER_KEY", &file.master_key);
    let process = Process::start(&mut command, "/accept");
    walks::embedded(&process, &file, between(&process.printed, "/org/invites/", "/accept"), "/app/me").await;
}

// The mail server answers on this runtime while the program is waited for.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn it_mails_sends_browsers_to_sign_in_and_ends_by_a_signal() {
    let sink = SmtpSink::start().await;
    let mut command = Command::new(env!("CARGO_BIN_EXE_tenant-auth-example-axum-embed"));
    command.args(["--listen", "127.0.0.1:0", "--smtp-url", &sink.url()]);
    production::of_an_example(Process::start(&mut command, "/accept"), &sink, "/app/me").await;
}
