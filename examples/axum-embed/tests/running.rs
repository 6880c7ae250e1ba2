//! The example as a process of its own, walked over HTTP.

use std::process::Command;

use tenant_auth_conformance::{
    Process,
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
