//! What happens to a SQLite file.

use std::{
    fs::File,
    io::Write,
    path::{Path, PathBuf},
    process::Command,
};

use tenant_auth_conformance::hold_sql;

use super::Walk;
use crate::{
    Program,
    admin::Admin,
    readiness::{until_logged, until_ready_is},
    running::Running,
    small_disk::SmallDisk,
};

#[test]
fn sqlite_is_not_ready_beside_each_fault_and_ready_after_it() {
    let place = tempfile::tempdir().expect("a temporary directory");
    let disk = SmallDisk::mounted_at(place.path(), "8m");
    let (file, away) = (place.path().join("auth.db"), place.path().join("away.db"));
    let url = format!("sqlite:{}", file.display());
    let program = Program::new().with("DATABASE_URL", &url);
    let server = Running::start(&program, &["serve"]);
    let admin = Admin::of_new_organization(&program, &server.address);
    let mut walk = Walk::begin("SQLite", &server, &admin);
    if let Some(disk) = &disk {
        walk.fault("disk full", || disk.fill(), |()| disk.free());
    }
    walk.fault(
        "file removed",
        || std::fs::rename(&file, &away).expect("it is there"),
        |()| std::fs::rename(&away, &file).expect("it is there"),
    );
    walk.fault("locked by another program", || hold_sql(&url, "BEGIN IMMEDIATE").expect("the lock is free now and then"), drop);
    walk.end();
}

#[test]
fn a_server_starts_while_another_program_holds_the_file() {
    let place = tempfile::tempdir().expect("a temporary directory");
    let url = format!("sqlite:{}", place.path().join("auth.db").display());
    let program = Program::new().with("DATABASE_URL", &url);
    drop(Running::start(&program, &["serve"]));
    let held = hold_sql(&url, "BEGIN IMMEDIATE").expect("nobody else writes");
    let server = Running::start(&program, &["serve"]);
    until_ready_is(&server, 503);
    until_logged(&server, "not ready trial=\"write\"");
    assert_eq!(server.get("/api/v1/.well-known/jwks.json").0, 200);
    drop(held);
    until_ready_is(&server, 200);
}

/// A file system that becomes read-only, as after an error of the disk.
#[test]
fn sqlite_on_files_that_became_read_only_is_not_ready_until_they_are_writable() {
    let program = Program::new();
    if !takes_rights_from_open_files(program.path()) {
        println!("SKIPPED: open files cannot be made immutable here (this needs root, chattr and ext4)");
        return;
    }
    let server = Running::start(&program, &["serve"]);
    let admin = Admin::of_new_organization(&program, &server.address);
    let mut walk = Walk::begin("SQLite", &server, &admin);
    let files = [program.path().join("auth.db"), program.path().join("auth.db-wal")];
    walk.fault("files became read-only", || are_flagged(&files, "+i"), |_| assert!(are_flagged(&files, "-i")));
    walk.end();
}

fn takes_rights_from_open_files(directory: &Path) -> bool {
    let path = directory.join("trial");
    let mut open = File::create(&path).expect("a file is made");
    let is_refused = are_flagged(std::slice::from_ref(&path), "+i") && open.write_all(b"x").is_err();
    are_flagged(&[path], "-i");
    is_refused
}

/// Nobody may write to a file that is immutable (`i`), not even the superuser.
fn are_flagged(files: &[PathBuf], flag: &str) -> bool {
    Command::new("chattr").arg(flag).args(files).output().is_ok_and(|output| output.status.success())
}
