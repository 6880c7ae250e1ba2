//! The example as a process of its own on each framework, asking a service on a socket.

use std::process::Command;

use tenant_auth_conformance::{
    Process,
    walks::{self, Deployed},
};

async fn its_pages_are_for_active_members(framework: &str) {
    let deployed = Deployed::start().await;
    let mut command = Command::new(env!("CARGO_BIN_EXE_tenant-auth-example-protected-backend"));
    command.args(["--listen", "127.0.0.1:0", "--framework", framework]);
    command.env("AUTH_URL", deployed.url()).env("API_KEY", &deployed.api_key);
    walks::remote(&deployed, &Process::start(&mut command, "pages"), "/reports").await;
}

#[tokio::test]
async fn on_axum_its_pages_are_for_active_members() {
    its_pages_are_for_active_members("axum").await;
}

#[tokio::test]
async fn on_actix_its_pages_are_for_active_members() {
    its_pages_are_for_active_members("actix").await;
}
