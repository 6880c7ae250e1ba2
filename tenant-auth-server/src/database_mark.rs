//! A marker file beside a SQLite file, which records that the database existed. When the marker exists and the database does not,
//! the database was lost: an empty one in its place would look like a working service in which no person has an account.
//! A volume that is lost takes the marker with it, so the setting `sqlite_must_exist` can say as well that the database existed.

use std::{fs, path::PathBuf};

use tenant_auth_core::Sqlite;

use crate::settings::{DATABASE_URL, Database, InvalidSettings, SQLITE_MUST_EXIST};

const TEXT: &str = "The database beside this file was opened by tenant-auth-server. While this file is here and the database is not, the\n\
                    server refuses to start with an empty one. Remove this file together with the database.\n";

/// The path of a database's marker; `None` for a database that is no file.
#[derive(Debug)]
pub(crate) struct DatabaseMark(Option<PathBuf>);

impl DatabaseMark {
    /// Looks for the database that the URL names, and for its mark.
    ///
    /// # Errors
    /// [`InvalidSettings`] when there is no database, although its mark or the settings say so.
    pub(crate) fn of(database: &Database) -> Result<Self, InvalidSettings> {
        if database.is_remote() {
            return Ok(Self(None));
        }
        // A URL that names no file is refused where the database is opened.
        let Ok(file) = Sqlite::file_of(&database.url) else { return Ok(Self(None)) };
        let mark = PathBuf::from(format!("{}.known", file.display()));
        if file.exists() {
            return Ok(Self(Some(mark)));
        }
        let (file, known) = (file.display(), mark.display());
        let reason = if mark.exists() {
            format!(
                "names {file}, which is gone, though it was there before. Restore it from the backup; or, to begin with an empty \
                 database, remove {known}"
            )
        } else if database.must_exist {
            format!(
                "names {file}, which is not there. Is its volume mounted? To begin with an empty database, set {}=false for the \
                 first start",
                SQLITE_MUST_EXIST.variable()
            )
        } else {
            return Ok(Self(Some(mark)));
        };
        Err(InvalidSettings::setting(&DATABASE_URL, reason))
    }

    /// Writes the marker after the database was opened.
    pub(crate) fn keep(&self) {
        let Some(mark) = self.0.as_ref().filter(|mark| !mark.exists()) else { return };
        if let Err(error) = fs::write(mark, TEXT) {
            tracing::warn!(%error, mark = %mark.display(), "a database that gets lost will not be noticed at the next start");
        }
    }
}
