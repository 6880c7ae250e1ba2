//! SQLite: a single writer and a pool of readers on one WAL file. Writers begin IMMEDIATE: a plain BEGIN that writes later fails
//! under load with BUSY_SNAPSHOT, which no busy timeout helps. `synchronous=FULL`: a commit is on the disk before it is
//! acknowledged.

use std::{path::Path, time::Duration};

use sqlx::{
    Connection, SqlitePool,
    sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePoolOptions, SqliteSynchronous},
};

use super::{StoreOptions, database_file::DatabaseFile, failure, migrations, options, outlived, patience, sql::probe};
use crate::{
    config::{ConfigError, Setting, SetupError},
    error::Error,
};

/// The one writer serves both kinds of writes, so that each says for itself how it commits.
const BEGIN: &str = "PRAGMA synchronous = FULL; BEGIN IMMEDIATE";
const BEGIN_FLEETING: &str = "PRAGMA synchronous = NORMAL; BEGIN IMMEDIATE";

/// A SQLite database file.
#[derive(Clone, Debug)]
pub struct Sqlite {
    file: DatabaseFile,
    writer: SqlitePool,
    readers: SqlitePool,
    /// One connection for the looks at the changes, which must not wait for the other readers.
    looks: SqlitePool,
}

impl Sqlite {
    /// Opens a file with the default options, creating it when there is none; a leading `sqlite:` or `sqlite://` is allowed. An
    /// in-memory database is refused: its readers would each see another one.
    ///
    /// # Errors
    /// [`SetupError::Config`] for a path that cannot be one, [`Error::Unavailable`] when the file cannot be opened.
    pub async fn open(path: &str) -> Result<Self, SetupError> {
        Self::open_with(path, StoreOptions::default()).await
    }

    /// Opens a file.
    ///
    /// # Errors
    /// As [`Sqlite::open`].
    pub async fn open_with(path: &str, options: StoreOptions) -> Result<Self, SetupError> {
        let path = Self::file_of(path)?;
        if !options.create && !path.exists() {
            return Err(options::absent().into());
        }
        DatabaseFile::prepare(path);
        let reading = SqliteConnectOptions::new()
            .filename(path)
            // It was made above. A connection that is opened while the file is away must not make another, empty one.
            .create_if_missing(false)
            .journal_mode(SqliteJournalMode::Wal)
            .synchronous(SqliteSynchronous::Normal)
            .foreign_keys(true)
            .busy_timeout(Duration::from_secs(5))
            .pragma("trusted_schema", "OFF")
            // What is erased is overwritten in its page, which is written anyway (behaviour.md, B311).
            .pragma("secure_delete", "FAST");
        let pool = |most: u32| {
            let pool = SqlitePoolOptions::new().max_connections(most).acquire_timeout(Duration::from_secs(10));
            // The connection is a thread of this process: asked whether it lives, it always answers.
            let pool = pool.test_before_acquire(false);
            // On a full disk or a failed write SQLite rolls back by itself, and sqlx goes on counting that transaction: no later one
            // could begin on this connection. Not in `after_release`, which comes before a pending rollback is carried out.
            pool.before_acquire(|connection, known| {
                Box::pin(async move { Ok(!connection.is_in_transaction() && !outlived::is(known.age)) })
            })
        };
        let syncing = reading.clone().synchronous(SqliteSynchronous::Full);
        let writer = pool(1).connect_with(syncing).await.map_err(failure::of)?;
        let readers = pool(options.connections.max(1)).connect_with(reading.clone()).await.map_err(failure::of)?;
        let looks = pool(1).connect_lazy_with(reading);
        let file = DatabaseFile::opened(path.to_owned());
        Ok(Self { file, writer, readers, looks })
    }

    /// The file that a URL such as `sqlite:tenant-auth.db` or `sqlite://tenant-auth.db` names, or a path.
    ///
    /// # Errors
    /// [`ConfigError`] for one that names none.
    pub fn file_of(url: &str) -> Result<&Path, ConfigError> {
        let path = url.strip_prefix("sqlite:").unwrap_or(url);
        match path.strip_prefix("//").unwrap_or(path).split('?').next().unwrap_or_default() {
            "" | ":memory:" => Err(ConfigError::new(Setting::DatabaseUrl, "must name a file, such as sqlite:tenant-auth.db")),
            path => Ok(Path::new(path)),
        }
    }

    /// Begins a write, while the file is the one that was opened: what is written to a removed file is lost with the process.
    pub(super) async fn begin(&self) -> Result<sqlx::Transaction<'static, sqlx::Sqlite>, Error> {
        self.begin_by(BEGIN).await
    }

    /// Begins a write whose commit need not be on the disk when it is acknowledged.
    pub(super) async fn begin_fleeting(&self) -> Result<sqlx::Transaction<'static, sqlx::Sqlite>, Error> {
        self.begin_by(BEGIN_FLEETING).await
    }

    async fn begin_by(&self, statement: &'static str) -> Result<sqlx::Transaction<'static, sqlx::Sqlite>, Error> {
        self.file.is_in_place()?;
        patience::within(patience::WRITER, Box::pin(self.writer.begin_with(statement))).await.map_err(failure::of)
    }

    /// A connection for reading, while the file is the one that was opened: a removed file can be read for ever, and never changes.
    pub(super) async fn acquire(&self) -> Result<sqlx::pool::PoolConnection<sqlx::Sqlite>, Error> {
        self.file.is_in_place()?;
        patience::within(patience::WRITER, Box::pin(self.readers.acquire())).await.map_err(failure::of)
    }

    /// Begins a read of many statements; all of them see what the first one sees (WAL).
    pub(super) async fn begin_snapshot(&self) -> Result<sqlx::Transaction<'static, sqlx::Sqlite>, Error> {
        self.file.is_in_place()?;
        patience::within(patience::WRITER, Box::pin(self.readers.begin())).await.map_err(failure::of)
    }

    /// Runs one statement in a transaction of its own.
    pub(super) async fn write<'q>(
        &self,
        statement: sqlx::query::Query<'q, sqlx::Sqlite, <sqlx::Sqlite as sqlx::Database>::Arguments>,
    ) -> Result<(), Error> {
        let mut transaction = self.begin().await?;
        statement.execute(&mut *transaction).await.map_err(failure::of)?;
        transaction.commit().await.map_err(failure::of)
    }

    /// Writes and commits a row. The file must be the one that was opened, and have room for an ordinary change.
    pub(super) async fn try_writing(&self) -> Result<(), Error> {
        self.file.has_room().await?;
        self.write(sqlx::query(probe::WRITE)).await
    }

    /// sqlx's own migration lock does nothing on SQLite; the write transaction around everything is the lock.
    pub(super) async fn migrate(&self) -> Result<(), Error> {
        let migrator = migrations::migrator(&migrations::SQLITE);
        let book = sqlx::query_as(migrations::SQLITE.book).fetch_all(&self.readers).await;
        if book.is_ok_and(|book| migrations::is_done(&migrator, &book)) {
            return Ok(());
        }
        let mut transaction = self.writer.begin_with(BEGIN).await.map_err(failure::of)?;
        migrator.run_direct(None, &mut *transaction, false).await.map_err(migrations::failure)?;
        transaction.commit().await.map_err(failure::of)?;
        Ok(())
    }

    pub(super) fn looks(&self) -> &SqlitePool {
        &self.looks
    }

    pub(super) fn file(&self) -> &DatabaseFile {
        &self.file
    }

    pub(super) fn writer(&self) -> &SqlitePool {
        &self.writer
    }

    pub(super) fn readers(&self) -> &SqlitePool {
        &self.readers
    }

    pub(super) async fn close(&self) {
        self.looks.close().await;
        self.readers.close().await;
        self.writer.close().await;
    }
}
