//! The file of a SQLite database as the file system sees it: readable by its owner only, still in its place, and with room to grow.

use std::{
    fs::{self, File, OpenOptions, TryLockError},
    io,
    path::{Path, PathBuf},
    time::Duration,
};

use crate::error::Error;

/// How often is looked whether another file is in its place.
const LOOK_EVERY: Duration = Duration::from_millis(250);

/// Free disk space that a write needs; more than a request writes.
const ROOM: usize = 64 * 1024;

/// A database file that was opened.
#[derive(Clone, Debug)]
pub(super) struct DatabaseFile {
    path: PathBuf,
    /// Device and inode of the file; `None` where the system has no such thing.
    identity: Option<(u64, u64)>,
}

impl DatabaseFile {
    /// Creates the file readable by its owner only, or removes the others' rights; SQLite gives its other files the same rights. A
    /// failure here is reported by the opening that follows.
    pub(super) fn prepare(path: &Path) {
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        match options.open(path) {
            Ok(_) => tracing::warn!(path = %path.display(), "there was no database; a new and empty one was created"),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                for suffix in ["", "-wal", "-shm"] {
                    make_private(&beside(path, suffix));
                }
            }
            Err(_) => {}
        }
    }

    /// The file at this path, which SQLite has just opened.
    pub(super) fn opened(path: PathBuf) -> Self {
        let identity = identity_of(&path);
        Self { path, identity }
    }

    /// Whether the file that was opened is still in its place. One question to the file system, which knows the answer.
    ///
    /// # Errors
    /// [`Error::Unavailable`] when a write would be lost with a file that was removed or replaced, and a read be of what is no more.
    pub(super) fn is_in_place(&self) -> Result<(), Error> {
        if identity_of(&self.path) == self.identity {
            return Ok(());
        }
        let path = self.path.display();
        Err(Error::unavailable(format!(
            "the database file {path} was removed or replaced; put it back, or restore it with the server stopped"
        )))
    }

    /// Returns once another file is in its place. A file that is away may come back.
    pub(super) async fn replaced(&self) -> Error {
        loop {
            if let (Err(error), Some(_)) = (self.is_in_place(), identity_of(&self.path)) {
                return error;
            }
            tokio::time::sleep(LOOK_EVERY).await;
        }
    }

    /// Takes the lock by which one process at a time remembers what this database said; `None` while another one has it. The lock is
    /// on a file of its own: to close a second handle of the database file would take SQLite's locks off it.
    ///
    /// # Errors
    /// [`Error::Unavailable`] when the file of the lock cannot be opened.
    pub(super) fn lock_memory(&self) -> Result<Option<MemoryLock>, Error> {
        let path = beside(&self.path, "-memory");
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(false);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let file = options.open(&path).map_err(Error::unavailable)?;
        match file.try_lock() {
            Ok(()) => Ok(Some(MemoryLock { _file: file, place: Self::opened(path) })),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => Err(Error::unavailable(error)),
        }
    }

    /// Whether there is room beside the file.
    ///
    /// # Errors
    /// [`Error::Unavailable`] when a write would not fit.
    pub(super) async fn has_room(&self) -> Result<(), Error> {
        let trial = beside(&self.path, &format!("-room-{}", std::process::id()));
        let written = tokio::fs::write(&trial, vec![0; ROOM]).await;
        let _ = tokio::fs::remove_file(&trial).await; // it may not be there
        written.map_err(|error| Error::unavailable(format!("no room beside the database file {}: {error}", self.path.display())))
    }
}

/// The lock of the process that remembers what the database said, until it is dropped.
#[derive(Debug)]
pub(crate) struct MemoryLock {
    _file: File,
    place: DatabaseFile,
}

impl MemoryLock {
    /// Whether its file is still in its place, where other processes look for it.
    ///
    /// # Errors
    /// [`Error::Unavailable`] when it is not.
    pub(super) fn is_in_place(&self) -> Result<(), Error> {
        self.place.is_in_place()
    }
}

fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

#[cfg(unix)]
fn make_private(path: &Path) {
    use std::os::unix::fs::PermissionsExt;

    let Ok(metadata) = fs::metadata(path) else { return };
    if metadata.permissions().mode() & 0o077 == 0 {
        return;
    }
    if let Err(error) = fs::set_permissions(path, fs::Permissions::from_mode(0o600)) {
        tracing::warn!(%error, path = %path.display(), "others may read the database file; make it 0600");
    }
}

#[cfg(not(unix))]
fn make_private(_: &Path) {}

#[cfg(unix)]
fn identity_of(path: &Path) -> Option<(u64, u64)> {
    use std::os::unix::fs::MetadataExt;

    fs::metadata(path).ok().map(|metadata| (metadata.dev(), metadata.ino()))
}

#[cfg(not(unix))]
fn identity_of(path: &Path) -> Option<(u64, u64)> {
    fs::metadata(path).ok().map(|_| (0, 0))
}
