//! The files of an export: its own, which has its name only once it is whole, and that of its key.

use std::{
    ffi::OsString,
    fs,
    io::{self, Write},
    path::{Path, PathBuf},
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
};

use tenant_auth_core::{operator::FileKey, ports::OsEntropy};
use tokio::{
    fs::File,
    io::AsyncWrite,
    task::{JoinHandle, spawn_blocking},
};

use crate::failure::Failure;

/// A file that gets its name once it is whole. Until then it is `NAME.partial`, which is removed when the command fails, unless it has to
/// stay; what a killed command left is replaced by the next one.
pub(super) struct NewFile {
    file: fs::File,
    path: PathBuf,
    partial: PathBuf,
    is_kept: bool,
}

impl NewFile {
    pub(super) fn create(path: &Path) -> Result<Self, Failure> {
        if path.symlink_metadata().is_ok() {
            return Err(is_there(path));
        }
        let mut partial = OsString::from(path);
        partial.push(".partial");
        let partial = PathBuf::from(partial);
        let creating = |cause| Failure::system(format!("Creating {}", path.display()))(cause);
        let file = match new_file(&partial) {
            Err(cause) if cause.kind() == io::ErrorKind::AlreadyExists => {
                remove_abandoned(&partial)?;
                new_file(&partial)
            }
            made => made,
        };
        let file = file.map_err(creating)?;
        file.try_lock().map_err(|_| is_being_written(&partial))?;
        Ok(Self { file, path: path.to_owned(), partial, is_kept: false })
    }

    /// Where to write: whoever flushes it knows that all of it is on the disk.
    pub(super) fn handle(&self) -> Result<SyncedFile, Failure> {
        self.file.try_clone().and_then(SyncedFile::of).map_err(Failure::system(format!("Writing {}", self.path.display())))
    }

    /// Leaves it under `NAME.partial` where it gets no other name: nobody can write it again.
    pub(super) fn stay(&mut self) {
        self.is_kept = true;
    }

    /// Makes sure that it is on the disk, and gives it its name.
    pub(super) fn keep(mut self) -> Result<(), Failure> {
        let named = self.file.sync_all().and_then(|()| self.name());
        named.map_err(|cause| match cause.kind() {
            io::ErrorKind::AlreadyExists => is_there(&self.path),
            _ => Failure::system(format!("Writing {}", self.path.display()))(cause),
        })?;
        self.is_kept = true;
        Ok(())
    }

    /// A second name of one file takes no other file's place, as a new name would. Where a file has one name only, such as on a stick,
    /// an empty file keeps the place until the whole one takes it.
    fn name(&self) -> io::Result<()> {
        match fs::hard_link(&self.partial, &self.path) {
            Ok(()) => fs::remove_file(&self.partial)?,
            Err(cause) if cause.kind() == io::ErrorKind::AlreadyExists => return Err(cause),
            Err(_) => {
                new_file(&self.path)?;
                fs::rename(&self.partial, &self.path)?;
            }
        }
        sync_directory(&self.path);
        Ok(())
    }
}

impl Drop for NewFile {
    fn drop(&mut self) {
        if !self.is_kept {
            // Its own error matters less than the one that the command ends with.
            let _ = fs::remove_file(&self.partial);
        }
    }
}

/// A file whose flush brings it to the disk.
pub(super) struct SyncedFile {
    file: Arc<fs::File>,
    writing: File,
    syncing: Option<JoinHandle<io::Result<()>>>,
}

impl SyncedFile {
    fn of(file: fs::File) -> io::Result<Self> {
        Ok(Self { writing: File::from_std(file.try_clone()?), file: Arc::new(file), syncing: None })
    }
}

impl AsyncWrite for SyncedFile {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.writing).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(Pin::new(&mut self.writing).poll_flush(context))?;
        let file = Arc::clone(&self.file);
        let syncing = self.syncing.get_or_insert_with(|| spawn_blocking(move || file.sync_all()));
        let synced = ready!(Pin::new(syncing).poll(context));
        self.syncing = None;
        Poll::Ready(synced.map_err(io::Error::other)?)
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.poll_flush(context)
    }
}

/// A file that is there for its owner alone and was not there before.
fn new_file(path: &Path) -> io::Result<fs::File> {
    let mut options = fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

/// Removes what a killed command left. A command that still runs has its file locked.
fn remove_abandoned(partial: &Path) -> Result<(), Failure> {
    let removing = || format!("Removing {}, which an interrupted export left,", partial.display());
    let file = fs::File::open(partial).map_err(Failure::system(removing()))?;
    file.try_lock().map_err(|_| is_being_written(partial))?;
    fs::remove_file(partial).map_err(Failure::system(removing()))
}

/// A file's name is its directory's content. Not every file system can bring a directory to the disk; the file itself is there.
fn sync_directory(path: &Path) {
    let directory = path.parent().filter(|directory| !directory.as_os_str().is_empty()).unwrap_or_else(|| Path::new("."));
    let _ = fs::File::open(directory).and_then(|directory| directory.sync_all());
}

fn is_there(path: &Path) -> Failure {
    Failure::Usage(format!("{} is there already, and an export takes no file's place. Name another.", path.display()))
}

fn is_being_written(partial: &Path) -> Failure {
    Failure::Usage(format!("Another export writes {}. Wait for its end, or name another file.", partial.display()))
}

/// The key of an export. A file that was made for it is removed when the command fails: it would be the key of no file.
pub(super) struct ExportKey {
    pub(super) key: FileKey,
    made: Option<PathBuf>,
}

impl ExportKey {
    /// Keeps the key's file: something is sealed under it.
    pub(super) fn keep(&mut self) {
        self.made = None;
    }
}

impl Drop for ExportKey {
    fn drop(&mut self) {
        if let Some(made) = &self.made {
            // Its own error matters less than the one that the command ends with.
            let _ = fs::remove_file(made);
        }
    }
}

/// The key in a file; where there is no such file, a new key that is written there. Without a file a new key.
pub(super) fn key_for_export(path: Option<&Path>) -> Result<ExportKey, Failure> {
    let Some(path) = path else { return Ok(ExportKey { key: FileKey::generate(&OsEntropy), made: None }) };
    if path.exists() {
        return Ok(ExportKey { key: key_in(path)?, made: None });
    }
    let key = FileKey::generate(&OsEntropy);
    let mut file = NewFile::create(path)?;
    writeln!(file.file, "{}", *key.expose()).map_err(Failure::system(format!("Writing the key to {}", path.display())))?;
    file.keep()?;
    Ok(ExportKey { key, made: Some(path.to_owned()) })
}

/// The key in a file.
pub(super) fn key_in(path: &Path) -> Result<FileKey, Failure> {
    let text = fs::read_to_string(path).map_err(Failure::system(format!("Reading the key in {}", path.display())))?;
    FileKey::parse(&text).ok_or_else(|| Failure::Usage(format!("{} holds no key: base64 of 32 bytes.", path.display())))
}
