//! A disk that fills up under SQLite: writes are refused while it is full, reads are not, and both work again once there is space.

use std::{
    fs::File,
    io::Write,
    path::Path,
    process::Command,
    time::{Duration, Instant},
};

use serde_json::json;

use crate::{
    Program,
    admin::Admin,
    readiness::until_ready_is,
    running::{DEADLINE, Running},
};

/// A small disk of its own, in memory; unmounted when dropped.
struct SmallDisk<'p>(&'p Path);

impl<'p> SmallDisk<'p> {
    /// `None` where the system does not let us mount, which the test's output then says.
    fn mounted_at(path: &'p Path) -> Option<Self> {
        let mount = Command::new("mount").args(["-t", "tmpfs", "-o", "size=3m", "tenant-auth-test"]).arg(path).output();
        match mount {
            Ok(output) if output.status.success() => Some(Self(path)),
            refused => {
                println!("SKIPPED: a small disk cannot be mounted here (this needs root): {refused:?}");
                None
            }
        }
    }

    /// Takes all the space that is left; it comes back when the file is removed.
    fn fill(&self) {
        let mut ballast = File::create(self.0.join("ballast")).expect("a file is made");
        while ballast.write_all(&[1; 512]).is_ok() {}
    }

    fn free(&self) {
        std::fs::remove_file(self.0.join("ballast")).expect("the file is there");
    }
}

impl Drop for SmallDisk<'_> {
    fn drop(&mut self) {
        let _ = Command::new("umount").args(["--lazy"]).arg(self.0).status();
    }
}

#[test]
fn sqlite_writes_again_as_soon_as_a_full_disk_has_space() {
    let place = tempfile::tempdir().expect("a temporary directory");
    let Some(disk) = SmallDisk::mounted_at(place.path()) else { return };
    let database = format!("sqlite:{}", place.path().join("auth.db").display());
    let program = Program::new().with("DATABASE_URL", &database);
    let server = Running::start(&program, &["serve"]);
    let admin = Admin::of_new_organization(&program, &server.address);
    let write =
        || admin.ask(&server.address, "PATCH /org", &json!({ "metadata": { "text": "x".repeat(8_000) } })).expect("answers");

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
