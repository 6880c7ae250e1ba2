//! A disk that fills up under the database: writes are refused while it is full, reads are not, and both work again once there is space.

use std::{
    cell::Cell,
    os::unix::fs::{MetadataExt, chown},
    path::Path,
    time::{Duration, Instant},
};

use serde_json::json;
use tenant_auth_conformance::{as_postgres_administrator, empty_postgres};

use crate::{
    Program,
    admin::Admin,
    readiness::until_ready_is,
    running::{DEADLINE, Running},
    small_disk::SmallDisk,
};

#[test]
fn sqlite_writes_again_as_soon_as_a_full_disk_has_space() {
    let place = tempfile::tempdir().expect("a temporary directory");
    let Some(disk) = SmallDisk::mounted_at(place.path(), "3m") else { return };
    let database = format!("sqlite:{}", place.path().join("auth.db").display());
    let program = Program::new().with("DATABASE_URL", &database);
    let server = Running::start(&program, &["serve"]);
    let admin = Admin::of_new_organization(&program, &server.address);
    let written = Cell::new(0);
    let write = || {
        written.set(written.get() + 1);
        let name = format!("Acme {}", written.get());
        admin.ask(&server.address, "PATCH /org", &json!({ "name": name })).expect("answers")
    };

    disk.fill();
    let deadline = Instant::now() + DEADLINE;
    while write().0 == 200 {
        // The write-ahead log may have had room for some more.
        assert!(Instant::now() < deadline, "the disk does not get full");
    }
    for _ in 0..5 {
        let (status, answer) = write();
        assert_eq!((status, &answer["code"]), (503, &"unavailable".into()), "{answer}\n{}", server.log());
        admin.data(&server.address, "GET /org", &json!({}));
    }
    until_ready_is(&server, 503);

    disk.free();
    let deadline = Instant::now() + Duration::from_secs(2);
    while write().0 != 200 {
        assert!(Instant::now() < deadline, "still no write 2 s after there is space:\n{}", server.log());
    }
    until_ready_is(&server, 200);
}

/// The tables are on a disk of their own, as beside a write-ahead log that has one: only what makes a table grow fails.
#[test]
fn a_full_disk_below_postgresql_is_not_ready_and_is_ready_again_once_there_is_space() {
    let Some(url) = empty_postgres() else { return };
    let name = url.split(['/', '?']).find(|part| part.starts_with("empty_")).expect("a name");
    let cluster = url.split("host=").nth(1).and_then(|rest| rest.split('&').next()).expect("the cluster's directory");
    let place = Path::new(cluster).join(format!("small_{name}"));
    std::fs::create_dir(&place).expect("a directory is made");
    let Some(disk) = SmallDisk::mounted_at(&place, "24m") else { return };
    let owner = Path::new(cluster).metadata().expect("it is there");
    chown(&place, Some(owner.uid()), Some(owner.gid())).expect("root may give a directory away");
    as_postgres_administrator(&format!("CREATE TABLESPACE small_{name} LOCATION '{}'", place.display()));
    as_postgres_administrator(&format!("CREATE DATABASE full_{name} TABLESPACE small_{name}"));

    let program = Program::new().with("DATABASE_URL", &url.replace(name, &format!("full_{name}")));
    let mut server = Running::start(&program, &["serve"]);
    let admin = Admin::of_new_organization(&program, &server.address);
    until_ready_is(&server, 200);
    disk.fill();
    until_ready_is(&server, 503);
    admin.data(&server.address, "GET /org", &json!({}));
    disk.free();
    until_ready_is(&server, 200);
    admin.data(&server.address, "PATCH /org", &json!({ "name": "Acme again" }));
    server.terminate();
    assert!(server.ended().success());
    as_postgres_administrator(&format!("DROP DATABASE full_{name} WITH (FORCE)"));
    as_postgres_administrator(&format!("DROP TABLESPACE small_{name}"));
}
