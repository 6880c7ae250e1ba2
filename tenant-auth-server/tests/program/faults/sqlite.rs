//! What happens to a SQLite file.

use std::{path::Path, process::Command};

use tenant_auth_conformance::hold_sql;

use super::Walk;
use crate::{Program, admin::Admin, running::Running, small_disk::SmallDisk};

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
    let wal = place.path().join("auth.db-wal");
    if are_made_immutable(&[&file, &wal], "+i") && are_made_immutable(&[&file, &wal], "-i") {
        walk.fault(
            "files made read-only",
            || are_made_immutable(&[&file, &wal], "+i"),
            |_| drop(are_made_immutable(&[&file, &wal], "-i")),
        );
    } else {
        println!("SKIPPED: files cannot be made immutable here (chattr, root, and a file system that knows it)");
    }
    walk.end();
}

/// Even the superuser, whose files tests are in CI, may not write to such a file.
fn are_made_immutable(files: &[&Path], flag: &str) -> bool {
    Command::new("chattr").arg(flag).args(files).output().is_ok_and(|output| output.status.success())
}
