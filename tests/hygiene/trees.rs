//! Who compiles what, as cargo itself resolves it.

use std::process::Command;

use super::repository;

/// The crates that a dependency on this package brings, with these options of cargo's.
fn tree(package: &str, options: &[&str]) -> Vec<String> {
    let mut command = Command::new(env!("CARGO"));
    command.args(["tree", "--offline", "--edges", "normal,build", "--prefix", "none", "--package", package]);
    command.args(options).current_dir(repository("."));
    let output = command.output().expect("cargo runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8_lossy(&output.stdout);
    text.lines().filter_map(|line| line.split(' ').next()).map(str::to_owned).collect()
}

/// With its default features and these.
#[track_caller]
fn assert_without(package: &str, features: &str, unwanted: &[&str]) {
    assert_brings_none(package, &["--features", features], unwanted);
}

#[track_caller]
fn assert_brings_none(package: &str, options: &[&str], unwanted: &[&str]) {
    let tree = tree(package, options);
    assert!(tree.iter().any(|name| name == "tenant-auth-core"), "{package} stands on the core: {tree:?}");
    let found: Vec<_> = tree.iter().filter(|name| unwanted.iter().any(|unwanted| name.starts_with(unwanted))).collect();
    assert!(found.is_empty(), "{package} with {options:?} brings {found:?}");
}

#[test]
fn a_user_of_one_framework_never_compiles_the_other() {
    assert_without("tenant-auth-axum", "", &["actix", "lettre", "reqwest"]);
    assert_without("tenant-auth-actix", "", &["axum", "tower", "hyper", "lettre", "reqwest"]);
}

#[test]
fn the_library_alone_brings_neither_a_framework_nor_a_client() {
    let unwanted = ["axum", "actix", "hyper", "reqwest", "lettre", "tempfile"];
    assert_without("tenant-auth-core", "", &unwanted);
    assert_without("tenant-auth-core", "postgres,http", &unwanted);
    assert_without("tenant-auth-core", "remote", &["axum", "actix", "lettre", "openssl-sys", "native-tls", "h2", "ring"]);
}

#[test]
fn a_host_that_asks_a_deployed_server_compiles_no_database() {
    let of_the_service = ["sqlx", "libsqlite3-sys", "argon2", "bcrypt", "scrypt", "jsonwebtoken", "totp-rs", "zxcvbn", "minijinja"];
    assert_brings_none("tenant-auth-core", &["--no-default-features", "--features", "remote"], &of_the_service);
    for adapter in ["tenant-auth-axum", "tenant-auth-actix"] {
        assert_brings_none(adapter, &["--no-default-features"], &of_the_service);
    }
    assert_brings_none("tenant-auth-example-protected-backend", &[], &of_the_service);
}

#[test]
fn a_host_on_one_database_compiles_that_one_alone() {
    for package in ["tenant-auth-core", "tenant-auth-axum", "tenant-auth-actix"] {
        assert_brings_none(package, &["--no-default-features", "--features", "sqlite"], &["sqlx-postgres"]);
        assert_brings_none(package, &["--no-default-features", "--features", "postgres"], &["sqlx-sqlite", "libsqlite3-sys"]);
    }
}
