//! A survey of a database: whether it answers and takes writes, and what opening it would change. Nothing is created or migrated by it, and
//! what it writes it takes back; what a crash left in SQLite's log is folded into the file, as by every opening.

use std::fmt;

use sqlx::AssertSqlSafe;
#[cfg(any(feature = "sqlite", feature = "postgres"))]
use sqlx::Connection;

#[cfg(feature = "sqlite")]
use super::database_file::DatabaseFile;
use super::{Conn, Link, SchemaError, Store, failure, migrations, sql::probe};
#[cfg(feature = "postgres")]
use super::{postgres::TAKE_ROOM, postgres_url, rights};
use crate::{
    config::{ConfigError, Setting, SetupError},
    error::Error,
};

/// The versions that a database was brought to, newest first.
const VERSIONS: &str = "SELECT version FROM tenant_auth_migrations ORDER BY version DESC";
/// Whether the versions stand where the first table would be.
#[cfg(feature = "postgres")]
const HAS_BOOK: &str = "SELECT to_regclass(quote_ident(current_schema()) || '.tenant_auth_migrations') IS NOT NULL";
/// Whether nothing can be written.
#[cfg(feature = "postgres")]
const IS_READ_ONLY: &str = "SELECT current_setting('transaction_read_only') = 'on'";
/// Whether this user may create tables where the first of them would be.
#[cfg(feature = "postgres")]
const MAY_CREATE: &str = "SELECT coalesce(has_schema_privilege(current_schema(), 'CREATE'), FALSE)";

/// What the master keys must open. The table has been there since the first version.
const SIGNING_KEYS: &str = "SELECT kid, private_key FROM tenant_auth_signing_keys";

/// How long the trial may take.
#[cfg(feature = "postgres")]
const SHORTLY: &str = "SET statement_timeout = '5s'";

/// Whether this user may create databases.
#[cfg(feature = "postgres")]
const MAY_CREATE_DATABASES: &str = "SELECT rolcreatedb OR rolsuper FROM pg_roles WHERE rolname = current_user";

/// What a server would find, and do to it, if it started now.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Survey {
    /// Whether the database is there. One that is not is created, on PostgreSQL where the user may create one.
    pub exists: bool,
    /// The newest version of the schema that it was brought to; `None` for a database without our tables.
    pub version: Option<i64>,
    /// The names of the migrations that would be run, in their order.
    pub pending: Vec<&'static str>,
    pub(crate) signing_keys: SealedKeys,
}

/// The signing keys, each with its id, as they are sealed. Not printed: a log that holds them is as good as a dump.
#[derive(Clone, Default, PartialEq, Eq)]
pub(crate) struct SealedKeys(pub(crate) Vec<(String, String)>);

impl fmt::Debug for SealedKeys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} sealed", self.0.len())
    }
}

impl Survey {
    /// A database with these versions, newest first.
    fn of(applied: &[i64]) -> Result<Self, Error> {
        let known = |version: &i64| migrations::STEPS.iter().any(|step| step.version == *version);
        if let Some(newer) = applied.iter().find(|version| !known(version)) {
            return Err(Error::internal(SchemaError::Newer(*newer)));
        }
        let pending = migrations::STEPS.iter().filter(|step| !applied.contains(&step.version));
        let (version, pending) = (applied.first().copied(), pending.map(|step| step.name).collect());
        Ok(Self { exists: true, version, pending, signing_keys: SealedKeys::default() })
    }

    /// Where there is no database yet.
    fn of_none() -> Result<Self, Error> {
        Ok(Self { exists: false, ..Self::of(&[])? })
    }
}

impl Store {
    /// Looks at the database that a URL names, over one connection, and changes nothing: a write that it tries is taken back.
    ///
    /// # Errors
    /// [`SetupError::Config`] for a URL that is none; [`Error::Unavailable`] when the database does not answer or takes no writes;
    /// [`Error::Internal`] with a [`SchemaError`] when a newer version of this program migrated it, or the user may not create the tables it
    /// lacks, or not read and write those it has.
    pub async fn survey(url: &str) -> Result<Survey, SetupError> {
        match url.split(':').next().unwrap_or_default() {
            #[cfg(feature = "sqlite")]
            "sqlite" => of_sqlite(url).await,
            #[cfg(feature = "postgres")]
            "postgres" | "postgresql" => of_postgres(url).await,
            _ => Err(ConfigError::new(Setting::DatabaseUrl, "must start with sqlite: or postgres:").into()),
        }
    }

    /// The schema of this database, and what migrating would run.
    ///
    /// # Errors
    /// [`Error::Unavailable`] when the database is away; [`Error::Internal`] with a [`SchemaError`] when a newer version of this program
    /// migrated it, or the user may not read which version it has.
    pub async fn schema(&self) -> Result<Survey, Error> {
        let mut reader = self.read().await?;
        let applied = match (&mut reader).conn() {
            #[cfg(feature = "sqlite")]
            Conn::Sqlite(connection) => applied_on_sqlite(connection).await?,
            #[cfg(feature = "postgres")]
            Conn::Postgres(connection) => applied_on_postgres(connection).await?,
        };
        Survey::of(&applied)
    }
}

#[cfg(feature = "sqlite")]
async fn of_sqlite(url: &str) -> Result<Survey, SetupError> {
    let path = super::Sqlite::file_of(url)?;
    let file = DatabaseFile::opened(path.to_owned());
    if !path.exists() {
        let directory = path.parent().filter(|parent| !parent.as_os_str().is_empty());
        if let Some(missing) = directory.filter(|directory| !directory.is_dir()) {
            return Err(Error::unavailable(format!("there is no directory {}", missing.display())).into());
        }
        file.has_room().await?;
        return Ok(Survey::of_none()?);
    }
    file.has_room().await?; // first, for SQLite fails to read on a full disk, and does not say why
    let options = sqlx::sqlite::SqliteConnectOptions::new().filename(path).create_if_missing(false);
    let mut connection = sqlx::SqliteConnection::connect_with(&options).await.map_err(failure::of)?;
    let applied = applied_on_sqlite(&mut connection).await?;
    let trial = AssertSqlSafe(taken_back("PRAGMA busy_timeout = 0; BEGIN IMMEDIATE", &applied));
    match sqlx::raw_sql(trial).execute(&mut connection).await {
        Err(error) if is_busy(&error) => {} // whoever writes at this moment shows that one can
        tried => tried.map(drop).map_err(failure::of)?,
    }
    let mut survey = Survey::of(&applied)?;
    if survey.version.is_some() {
        survey.signing_keys.0 = sqlx::query_as(SIGNING_KEYS).fetch_all(&mut connection).await.map_err(failure::of)?;
    }
    connection.close().await.map_err(failure::of)?;
    Ok(survey)
}

#[cfg(feature = "sqlite")]
async fn applied_on_sqlite(connection: &mut sqlx::SqliteConnection) -> Result<Vec<i64>, Error> {
    match sqlx::query_scalar(VERSIONS).fetch_all(connection).await {
        Err(error) if is_without_tables(&error) => Ok(Vec::new()),
        answer => answer.map_err(failure::of),
    }
}

/// `SQLITE_BUSY`, in whichever way.
#[cfg(feature = "sqlite")]
fn is_busy(error: &sqlx::Error) -> bool {
    let code = error.as_database_error().and_then(|refusal| refusal.code()?.parse::<u32>().ok());
    code.is_some_and(|code| code & 0xff == 5)
}

#[cfg(feature = "postgres")]
async fn of_postgres(url: &str) -> Result<Survey, SetupError> {
    let options = postgres_url::parse(url)?.application_name("tenant-auth");
    let connecting = Box::pin(sqlx::PgConnection::connect_with(&options));
    let mut connection = match tokio::time::timeout(super::patience::CONNECTION, connecting).await {
        Err(late) => return Err(Error::unavailable(late).into()),
        Ok(Err(error)) if super::postgres::is_missing_database(&error) => return of_missing(options).await,
        Ok(connected) => connected.map_err(failure::of)?,
    };
    let applied = applied_on_postgres(&mut connection).await?;
    if sqlx::query_scalar(IS_READ_ONLY).fetch_one(&mut connection).await.map_err(failure::of)? {
        return Err(Error::unavailable("it takes no writes: a standby, or set to read only").into());
    }
    let may_create: bool = sqlx::query_scalar(MAY_CREATE).fetch_one(&mut connection).await.map_err(failure::of)?;
    let mut survey = Survey::of(&applied)?;
    if !survey.pending.is_empty() && !may_create {
        return Err(Error::internal(SchemaError::NotAllowed).into());
    }
    rights::judge(&mut connection).await?;
    let trial = format!("{SHORTLY}; {}", taken_back(&format!("BEGIN; {TAKE_ROOM}"), &applied));
    sqlx::raw_sql(AssertSqlSafe(trial)).execute(&mut connection).await.map_err(failure::of)?;
    if survey.version.is_some() {
        survey.signing_keys.0 = sqlx::query_as(SIGNING_KEYS).fetch_all(&mut connection).await.map_err(failure::of)?;
    }
    connection.close().await.map_err(failure::of)?;
    Ok(survey)
}

/// The versions of the first schema of the search path, newest first: those of a further one are another deployment's.
#[cfg(feature = "postgres")]
async fn applied_on_postgres(connection: &mut sqlx::PgConnection) -> Result<Vec<i64>, Error> {
    if !sqlx::query_scalar(HAS_BOOK).fetch_one(&mut *connection).await.map_err(failure::of)? {
        return Ok(Vec::new());
    }
    let applied = sqlx::query_scalar(VERSIONS).fetch_all(connection).await;
    applied.map_err(
        |error| if migrations::is_not_allowed(&error) { Error::internal(SchemaError::NotAllowed) } else { failure::of(error) },
    )
}

/// Where the database is missing: whether this user may create it, by way of the maintenance database as [`Store::open`] does.
#[cfg(feature = "postgres")]
async fn of_missing(options: sqlx::postgres::PgConnectOptions) -> Result<Survey, SetupError> {
    let options = options.database("postgres");
    let mut connection = Box::pin(sqlx::PgConnection::connect_with(&options)).await.map_err(failure::of)?;
    let may_create: bool = sqlx::query_scalar(MAY_CREATE_DATABASES).fetch_one(&mut connection).await.map_err(failure::of)?;
    connection.close().await.map_err(failure::of)?;
    if may_create {
        return Ok(Survey::of_none()?);
    }
    Err(Error::unavailable("the database is not there, and this user may not create it").into())
}

/// A transaction that writes, where there is a table for it, and is taken back.
fn taken_back(begin: &str, applied: &[i64]) -> String {
    let has_probe = migrations::STEPS.iter().any(|step| step.name == "probe" && applied.contains(&step.version));
    format!("{begin}; {}; ROLLBACK", if has_probe { probe::WRITE } else { "SELECT 1" })
}

/// Of SQLite's general error (1) the text alone says it.
#[cfg(feature = "sqlite")]
fn is_without_tables(error: &sqlx::Error) -> bool {
    error.as_database_error().is_some_and(|refusal| refusal.message().starts_with("no such table"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_newer_version_is_refused_and_what_lacks_is_named() {
        let fresh = Survey::of_none().expect("nothing is wrong with it");
        assert!(!fresh.exists && fresh.version.is_none() && fresh.pending.len() == migrations::STEPS.len());
        let half = Survey::of(&[3, 2, 1]).expect("nothing is wrong with it");
        assert_eq!((half.version, half.pending[0]), (Some(3), "probe"));
        let newer = Survey::of(&[9_999, 1]);
        let Err(Error::Internal(cause)) = newer else { panic!("{newer:?}") };
        assert!(matches!(cause.downcast_ref(), Some(SchemaError::Newer(9_999))));
    }

    #[cfg(feature = "sqlite")]
    #[tokio::test]
    async fn looking_changes_nothing() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let url = format!("sqlite:{}", directory.path().join("auth.db").display());
        let elsewhere = format!("sqlite:{}", directory.path().join("missing/auth.db").display());
        assert!(Store::survey(&elsewhere).await.is_err(), "a start would fail");
        assert!(Store::survey("sqlite::memory:").await.is_err(), "a start would refuse it");
        assert!(!Store::survey(&url).await.expect("it looks").exists);
        assert_eq!(std::fs::read_dir(directory.path()).expect("a directory").count(), 0, "nothing was made");
        let store = Store::open(&url).await.expect("it opens");
        assert_eq!(Store::survey(&url).await.expect("it looks").version, None);
        store.migrate().await.expect("it migrates");
        let survey = Store::survey(&url).await.expect("it looks");
        assert!(survey.exists && survey.pending.is_empty() && survey.version.is_some(), "{survey:?}");
        store.close().await;
    }
}
