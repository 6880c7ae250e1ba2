//! The pages in a headless Chromium: `cargo test -p tenant-auth-conformance --test browser`. Names read
//! `axum::sign_in::the_keyboard_is_enough`, and any part of one is a filter.

mod browser {
    pub(crate) mod sign_in;
}

fn main() -> std::process::ExitCode {
    tenant_auth_conformance::browser::main(&browser::sign_in::scenarios())
}
