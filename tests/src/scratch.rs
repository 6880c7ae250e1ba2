//! Temporary directories of a run: in memory when there is room, because a run makes some hundred databases of some hundred files
//! each.

use std::{
    path::{Path, PathBuf},
    process::Command,
    sync::LazyLock,
};

use tempfile::TempDir;

/// Less free memory than this, and the disk is the better place.
const ROOM_KIB: u64 = 1024 * 1024;

static PLACE: LazyLock<PathBuf> = LazyLock::new(|| {
    let memory = Path::new("/dev/shm");
    if free_kib(memory).is_some_and(|free| free >= ROOM_KIB) { memory.to_owned() } else { std::env::temp_dir() }
});

/// A new directory, removed when dropped.
pub(crate) fn directory(purpose: &str) -> TempDir {
    tempfile::Builder::new().prefix(&format!("tenant-auth-{purpose}-")).tempdir_in(&*PLACE).expect("a temporary directory")
}

fn free_kib(place: &Path) -> Option<u64> {
    let told = Command::new("df").arg("-Pk").arg(place).output().ok()?;
    String::from_utf8_lossy(&told.stdout).lines().nth(1)?.split_whitespace().nth(3)?.parse().ok()
}
