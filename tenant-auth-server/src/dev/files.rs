//! The two files of a `dev` directory: the database and its credentials. The credentials file is readable by its owner only and
//! replaced as a whole, so that it never holds half of a secret.

use std::{
    fs::{self, OpenOptions},
    io::{self, Write},
    os::unix::fs::OpenOptionsExt,
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};

use crate::failure::Failure;

/// The credentials that the next start needs. Not `Debug`: all of them are secret.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Credentials {
    /// Opens the database's sealed values.
    pub(super) master_key: String,
    /// Missing while the first start is at work.
    pub(super) demo: Option<Demo>,
}

/// The demo organization's credentials.
#[derive(Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Demo {
    /// Its slug.
    pub(super) organization: String,
    /// Its org_admin's address.
    pub(super) email: String,
    /// The password of that account, as it was made.
    pub(super) password: String,
    /// An API key.
    pub(super) api_key: String,
    /// The subscription of the receiver at `/dev/webhooks`, once there is one.
    #[serde(default)]
    pub(super) webhook: Option<DemoWebhook>,
}

/// The subscription of the receiver.
#[derive(Clone, Serialize, Deserialize)]
pub(super) struct DemoWebhook {
    /// Its id.
    pub(super) id: String,
    /// What its deliveries are signed with.
    pub(super) secret: String,
}

/// Where they lie.
pub(super) struct Files {
    directory: PathBuf,
}

impl Files {
    /// In this directory.
    pub(super) fn within(directory: &Path) -> Self {
        Self { directory: directory.to_owned() }
    }

    /// The database.
    pub(super) fn database(&self) -> PathBuf {
        self.directory.join("tenant-auth-dev.db")
    }

    /// The credentials.
    pub(super) fn credentials(&self) -> PathBuf {
        self.directory.join("tenant-auth-dev.json")
    }

    /// What an earlier start left, if there was one.
    pub(super) fn load(&self) -> Result<Option<Credentials>, Failure> {
        let path = self.credentials();
        let text = match fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(Failure::system(format!("Reading {}", path.display()))(error)),
        };
        // Without serde's words: they may quote a secret.
        serde_json::from_str(&text).map(Some).map_err(|_| {
            Failure::Usage(format!("{} is damaged. Delete it and {} to start afresh.", path.display(), self.database().display()))
        })
    }

    /// Keeps the credentials for the next start, making the directory when there is none.
    pub(super) fn save(&self, credentials: &Credentials) -> Result<(), Failure> {
        let path = self.credentials();
        fs::create_dir_all(&self.directory).map_err(Failure::system(format!("Making {}", self.directory.display())))?;
        let text = serde_json::to_string_pretty(credentials).map_err(|error| Failure::Service(error.to_string()))?;
        let unfinished = path.with_extension("json.new");
        write_private(&unfinished, &text)
            .and_then(|()| fs::rename(&unfinished, &path))
            .map_err(Failure::system(format!("Writing {}", path.display())))
    }

    /// Creates an empty database file that only its owner can read (SQLite gives its side files the same mode), in place of the
    /// remains of an interrupted first start.
    pub(super) fn renew_database(&self) -> Result<(), Failure> {
        let path = self.database();
        let doing = || format!("Making {}", path.display());
        for file in [path.clone(), path.with_extension("db-wal"), path.with_extension("db-shm")] {
            match fs::remove_file(&file) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(Failure::system(doing())(error)),
                _ => {}
            }
        }
        write_private(&path, "").map_err(Failure::system(doing()))
    }
}

/// Writes a new file that only its owner can read. Whatever lies in its place is removed first and never followed or reused: in a
/// directory that others may write to, a planted link or an open file would get the secrets.
fn write_private(path: &Path, text: &str) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{MetadataExt, symlink};

    use super::*;

    #[test]
    fn what_was_planted_gets_no_secret() {
        let directory = tempfile::tempdir().expect("a directory");
        let (files, foreign) = (Files::within(directory.path()), directory.path().join("foreign"));
        fs::write(&foreign, "mine").expect("written");
        symlink(&foreign, directory.path().join("tenant-auth-dev.json.new")).expect("planted");
        files.save(&Credentials { master_key: "secret".to_owned(), demo: None }).expect("saved");
        assert_eq!(fs::read_to_string(&foreign).expect("read"), "mine", "the link was not followed");
        let kept = fs::symlink_metadata(files.credentials()).expect("kept");
        assert!(kept.is_file(), "no link took its place");
        assert_eq!(kept.mode() & 0o777, 0o600);
        assert_eq!(files.load().ok().flatten().expect("credentials").master_key, "secret");
    }
}
