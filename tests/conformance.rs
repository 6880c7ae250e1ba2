//! The conformance run: `cargo test -p tenant-auth-conformance`. Names read
//! `axum::sqlite::auth::login::a_wrong_password_is_401`, and any part of one is a filter: `-- auth::login`, `-- sqlite::org::invites`.

mod suite;

fn main() -> std::process::ExitCode {
    tenant_auth_conformance::main()
}
