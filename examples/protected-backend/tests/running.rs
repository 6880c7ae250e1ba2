//! The example as a process of its own on each framework, asking a service on a socket.

use std::process::Command;

use tenant_auth_conformance::{Process, walks};

fn start(framework: &'static str) -> impl FnOnce(&str, &str) -> Process {
    move |auth_url, api_key| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tenant-auth-example-protected-backend"));
        command.args(["--listen", "127.0.0.1:0", "--framework", framework]).env("AUTH_URL", auth_url).env("API_KEY", api_key);
        Process::start(&mut command, "pages")
    }
}

#[tokio::test]
async fn on_axum_its_pages_are_for_active_members() {
    walks::remote(start("axum"), "/reports").await;
}

#[tokio::test]
async fn on_actix_its_pages_are_for_active_members() {
    walks::remote(start("actix"), "/reports").await;
}
