//! A disk that a test may fill: a file system in memory, which takes the rights of root to mount.

use std::{fs::File, io::Write, path::Path, process::Command};

/// A small disk of its own, in memory; unmounted when dropped.
pub(crate) struct SmallDisk<'p>(&'p Path);

impl<'p> SmallDisk<'p> {
    /// `None` where the system does not let us mount, which the test's output then says.
    pub(crate) fn mounted_at(path: &'p Path, size: &str) -> Option<Self> {
        let mount =
            Command::new("mount").args(["-t", "tmpfs", "-o", &format!("size={size}"), "tenant-auth-test"]).arg(path).output();
        match mount {
            Ok(output) if output.status.success() => Some(Self(path)),
            refused => {
                println!("SKIPPED: a small disk cannot be mounted here (this needs root): {refused:?}");
                None
            }
        }
    }

    /// Takes all the space that is left; it comes back when the file is removed.
    pub(crate) fn fill(&self) {
        let mut ballast = File::create(self.0.join("ballast")).expect("a file is made");
        while ballast.write_all(&[1; 512]).is_ok() {}
    }

    /// Refuses every write from now on.
    pub(crate) fn refuse_writes(&self) {
        let remounted = Command::new("mount").args(["-o", "remount,ro"]).arg(self.0).output().expect("there is a mount");
        assert!(remounted.status.success(), "{remounted:?}");
    }

    /// Gives the space back.
    pub(crate) fn free(&self) {
        std::fs::remove_file(self.0.join("ballast")).expect("the file is there");
    }
}

impl Drop for SmallDisk<'_> {
    fn drop(&mut self) {
        let _ = Command::new("umount").args(["--lazy"]).arg(self.0).status();
    }
}
