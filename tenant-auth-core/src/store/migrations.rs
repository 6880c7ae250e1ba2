//! Migrations: the versions of the schema, one text for both engines, with a [`Dialect`] for the words in which they differ.
//! Released files never change, and neither may what comes out of them: sqlx keeps a checksum of each with the database, and
//! refuses to open a database that was migrated with another text.

use sqlx::{
    AssertSqlSafe, SqlSafeStr,
    migrate::{MigrateError, Migration, MigrationType, Migrator},
};

use crate::error::Error;

/// One migration: its number, its name, its text before a [`Dialect`] is applied.
pub(super) struct Step {
    pub(super) version: i64,
    pub(super) name: &'static str,
    text: &'static str,
    /// PostgreSQL's text, where the engines differ in more than words.
    on_postgres: Option<&'static str>,
}

const fn step(version: i64, name: &'static str, text: &'static str) -> Step {
    Step { version, name, text, on_postgres: None }
}

/// Every version there is, in order.
pub(super) const STEPS: &[Step] = &[
    step(1, "initial", include_str!("../../migrations/0001_initial.sql")),
    step(2, "account_safety", include_str!("../../migrations/0002_account_safety.sql")),
    step(3, "webhooks", include_str!("../../migrations/0003_webhooks.sql")),
    step(4, "probe", include_str!("../../migrations/0004_probe.sql")),
    step(5, "stated_addresses", include_str!("../../migrations/0005_stated_addresses.sql")),
    step(6, "mail_queues", include_str!("../../migrations/0006_mail_queues.sql")),
    step(7, "scheduled_at", include_str!("../../migrations/0007_scheduled_at.sql")),
    Step {
        on_postgres: Some(include_str!("../../migrations/0008_memory.postgres.sql")),
        ..step(8, "memory", include_str!("../../migrations/0008_memory.sqlite.sql"))
    },
    step(9, "usable_freshness", include_str!("../../migrations/0009_usable_freshness.sql")),
    Step {
        on_postgres: Some(include_str!("../../migrations/0010_changes_of_organizations.postgres.sql")),
        ..step(10, "changes_of_organizations", include_str!("../../migrations/0010_changes_of_organizations.sqlite.sql"))
    },
    Step {
        on_postgres: Some(include_str!("../../migrations/0011_event_parts.postgres.sql")),
        ..step(11, "event_parts", include_str!("../../migrations/0011_event_parts.sqlite.sql"))
    },
    step(12, "foreign_hashes", include_str!("../../migrations/0012_foreign_hashes.sql")),
    Step {
        on_postgres: Some(include_str!("../../migrations/0014_incarnations.postgres.sql")),
        ..step(14, "incarnations", include_str!("../../migrations/0014_incarnations.sqlite.sql"))
    },
    step(15, "deployment_keys", include_str!("../../migrations/0015_deployment_keys.sql")),
    step(16, "audit_keys", include_str!("../../migrations/0016_audit_keys.sql")),
    step(17, "audit_exports", include_str!("../../migrations/0017_audit_exports.sql")),
    step(18, "audit_checkpoints", include_str!("../../migrations/0018_audit_checkpoints.sql")),
    step(19, "invite_metadata", include_str!("../../migrations/0019_invite_metadata.sql")),
    step(20, "audit_pairs", include_str!("../../migrations/0020_audit_pairs.sql")),
    step(23, "deletion", include_str!("../../migrations/0023_deletion.sql")),
    step(24, "audit_ends", include_str!("../../migrations/0024_audit_ends.sql")),
    step(25, "deployment_log", include_str!("../../migrations/0025_deployment_log.sql")),
    step(26, "sign_ups", include_str!("../../migrations/0026_sign_ups.sql")),
    step(27, "trust", include_str!("../../migrations/0027_trust.sql")),
    step(30, "attempt_log", include_str!("../../migrations/0030_attempt_log.sql")),
    step(31, "languages", include_str!("../../migrations/0031_languages.sql")),
    step(32, "tallies", include_str!("../../migrations/0032_tallies.sql")),
    Step {
        on_postgres: Some(include_str!("../../migrations/0033_refreshes.postgres.sql")),
        ..step(33, "refreshes", include_str!("../../migrations/0033_refreshes.sqlite.sql"))
    },
    Step {
        on_postgres: Some(include_str!("../../migrations/0034_outbox.postgres.sql")),
        ..step(34, "outbox", include_str!("../../migrations/0034_outbox.sqlite.sql"))
    },
    step(36, "linked_people", include_str!("../../migrations/0036_linked_people.sql")),
    step(37, "pending_since", include_str!("../../migrations/0037_pending_since.sql")),
    step(38, "former_ids", include_str!("../../migrations/0038_former_ids.sql")),
    step(39, "webhook_endings", include_str!("../../migrations/0039_webhook_endings.sql")),
    step(40, "mail_domains", include_str!("../../migrations/0040_mail_domains.sql")),
    step(41, "pending_logins_by_user", include_str!("../../migrations/0041_pending_logins_by_user.sql")),
    Step {
        on_postgres: Some(include_str!("../../migrations/0042_ids_by_bytes.postgres.sql")),
        ..step(42, "ids_by_bytes", include_str!("../../migrations/0042_ids_by_bytes.sqlite.sql"))
    },
    step(43, "sign_up_queues", include_str!("../../migrations/0043_sign_up_queues.sql")),
    step(44, "outbox_by_sequence", include_str!("../../migrations/0044_outbox_by_sequence.sql")),
];

/// The words in which an engine's SQL differs.
pub(super) struct Dialect {
    /// `{counting_key}`: the type of a key that the database counts up by itself.
    counting_key: &'static str,
    /// `{other_engine}`: in a comment of the first file, which was released in two versions.
    other_engine: &'static str,
    /// Whether a step's text for PostgreSQL goes before the common one.
    is_postgres: bool,
    /// Reads what was run on a database: each version with its checksum and whether it came to an end.
    pub(super) book: &'static str,
}

#[cfg(feature = "sqlite")]
pub(super) const SQLITE: Dialect = Dialect {
    counting_key: "INTEGER PRIMARY KEY AUTOINCREMENT",
    other_engine: "PostgreSQL",
    is_postgres: false,
    book: "SELECT version, checksum, success FROM tenant_auth_migrations ORDER BY version",
};

#[cfg(feature = "postgres")]
pub(super) const POSTGRES: Dialect = Dialect {
    counting_key: "BIGSERIAL NOT NULL PRIMARY KEY",
    other_engine: "SQLite",
    is_postgres: true,
    // That of the schema in which tables would be made, which is the first of the search path, and only where one can write: what
    // migrates refuses a standby.
    book: "SELECT version, checksum, success
                 FROM tenant_auth_migrations
                WHERE tableoid = to_regclass(format('%I.tenant_auth_migrations', current_schema()))
                  AND current_setting('transaction_read_only') = 'off'
                ORDER BY version",
};

impl Dialect {
    /// The SQL that this engine runs for a version.
    pub(super) fn text_of(&self, step: &Step) -> String {
        let text = step.on_postgres.filter(|_| self.is_postgres).unwrap_or(step.text);
        text.replace("{counting_key}", self.counting_key).replace("{other_engine}", self.other_engine)
    }
}

/// The migrator. It records versions in a table with our prefix, because the host application may use sqlx's own.
pub(super) fn migrator(dialect: &Dialect) -> Migrator {
    // Nothing in these texts comes from outside this program.
    let sql = |step: &Step| AssertSqlSafe(dialect.text_of(step)).into_sql_str();
    let migrations =
        STEPS.iter().map(|step| Migration::new(step.version, step.name.into(), MigrationType::Simple, sql(step), false)).collect();
    let mut migrator = Migrator::with_migrations(migrations);
    migrator.dangerous_set_table_name("tenant_auth_migrations");
    migrator
}

/// Whether a database's book says that there is nothing to do. Then migrating takes no lock and needs no right to create tables.
pub(super) fn is_done(migrator: &Migrator, book: &[(i64, Vec<u8>, bool)]) -> bool {
    let wanted = migrator.iter().map(|step| (step.version, &*step.checksum, true));
    wanted.eq(book.iter().map(|(version, checksum, is_whole)| (*version, checksum.as_slice(), *is_whole)))
}

/// A schema that this program cannot bring up to date. The text is for the operator; an [`Error::Internal`] holds this error then.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SchemaError {
    /// A later version of this program has migrated the database.
    #[error(
        "names a database that a newer version of this program has brought to schema version {0}. Run that version or a later one; to \
         go back, restore the backup that was made before the upgrade"
    )]
    Newer(i64),
    /// The database user may not bring the tables up to date, or not read that nothing is to do.
    #[error(
        "names a user who may not create the tables, or change them, or not read which there are. Run `migrate` as their owner and give this user \
         the rights that operations.md (Upgrade) lists; or let this user own them: make it the database's owner, or run as its owner GRANT \
         USAGE, CREATE ON SCHEMA public TO <user>"
    )]
    NotAllowed,
    /// The database user may not read and write these tables, as after a restore that left the rights behind.
    #[error(
        "names a user who may not read and write the tables {0}. Give it the rights that operations.md (Upgrade) lists, as the tables' owner"
    )]
    Withheld(String),
}

pub(super) fn failure(error: MigrateError) -> Error {
    match error {
        MigrateError::VersionMissing(version) => Error::internal(SchemaError::Newer(version)),
        MigrateError::Execute(error) | MigrateError::ExecuteMigration(error, _) if is_not_allowed(&error) => {
            Error::internal(SchemaError::NotAllowed)
        }
        MigrateError::Execute(error) => super::failure::of(error),
        MigrateError::ExecuteMigration(error, version) => super::failure::of_migration(version, error),
        other => Error::internal(other),
    }
}

/// SQLSTATE `insufficient_privilege`; SQLite has no rights.
pub(super) fn is_not_allowed(error: &sqlx::Error) -> bool {
    error.as_database_error().and_then(|refusal| refusal.code()).is_some_and(|code| code == "42501")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hex;

    /// What the released files, then one for each engine, left in every database that was migrated with them (SHA-384).
    const RELEASED: [[&str; 2]; 3] = [
        [
            "1c2c99410fe84df3e9c6d24fc34d0fd57e5b790b38816af2d6833b0534b3492a89417f40937f0e3f281af0a3ec8c097b",
            "91433a081588e7c53ba36045a5faf565a60eff9ad545c83bc78dae6aa50825ee7c0831bb7fd42c63ea35748ba4fc3601",
        ],
        ["0ee2dd26933adf8e82060a39d55ef1151a1b317ea0d88f07464082596ff49b2f52883a1ed44a5c2a186e80c00e41d736"; 2],
        ["5b70d69d0c8459f0302a5e7a5ab06b37af1a9f74929c0051844546ada71895945298a07a28ac3367580f1e9c267906c0"; 2],
    ];

    #[track_caller]
    fn assert_as_released(dialect: &Dialect, engine: usize) {
        for (migration, released) in migrator(dialect).iter().zip(RELEASED) {
            assert_eq!(hex::of(&migration.checksum), released[engine], "version {}", migration.version);
            assert!(!migration.sql.as_str().contains(['{', '}']), "a word of no engine is left in version {}", migration.version);
        }
        assert!(STEPS.len() >= RELEASED.len(), "a released version is missing");
    }

    #[cfg(feature = "sqlite")]
    #[test]
    fn sqlite_runs_what_was_released() {
        assert_as_released(&SQLITE, 0);
    }

    #[cfg(feature = "postgres")]
    #[test]
    fn postgres_runs_what_was_released() {
        assert_as_released(&POSTGRES, 1);
    }

    #[cfg(feature = "sqlite")]
    async fn book_of(connection: &mut sqlx::SqliteConnection) -> Vec<(i64, Vec<u8>, bool)> {
        sqlx::query_as(SQLITE.book).fetch_all(connection).await.expect("a book")
    }

    #[cfg(feature = "sqlite")]
    #[tokio::test]
    async fn nothing_is_done_only_where_every_version_came_to_an_end() {
        use sqlx::{Connection, SqliteConnection};

        let mut connection = SqliteConnection::connect("sqlite::memory:").await.expect("a database");
        let migrator = migrator(&SQLITE);
        migrator.run_direct(None, &mut connection, false).await.expect("migrates");
        let book = book_of(&mut connection).await;
        assert!(is_done(&migrator, &book));
        let last = book.len() - 1;
        let mut dirty = book.clone();
        dirty[last].2 = false;
        let mut newer = book.clone();
        newer.push((i64::MAX, Vec::new(), true));
        for other in [&dirty, &newer, &book[..last].to_vec(), &book[1..].to_vec()] {
            assert!(!is_done(&migrator, other), "{:?}", other.iter().map(|(version, ..)| version).collect::<Vec<_>>());
        }
    }

    /// A database of the release before: its book holds the checksums of the old files.
    #[cfg(feature = "sqlite")]
    #[tokio::test]
    async fn a_database_that_an_older_release_migrated_opens() {
        use sqlx::{ConnectOptions, Row, sqlite::SqliteConnectOptions};

        let directory = tempfile::tempdir().expect("a temporary directory");
        let path = directory.path().join("older.db");
        let mut connection =
            SqliteConnectOptions::new().filename(&path).create_if_missing(true).connect().await.expect("a connection");
        migrator(&SQLITE).run_direct(None, &mut connection, false).await.expect("migrates");
        let book = "SELECT checksum FROM tenant_auth_migrations ORDER BY version";
        let rows = sqlx::query(book).fetch_all(&mut connection).await.expect("a book");
        let kept: Vec<String> = rows.iter().map(|row| hex::of(&row.get::<Vec<u8>, _>("checksum"))).collect();
        assert_eq!(kept[..RELEASED.len()], RELEASED.map(|versions| versions[0].to_owned()));
        migrator(&SQLITE).run_direct(None, &mut connection, false).await.expect("has nothing to do");

        sqlx::query("UPDATE tenant_auth_migrations SET checksum = x'00' WHERE version = 1")
            .execute(&mut connection)
            .await
            .expect("another text");
        assert!(!is_done(&migrator(&SQLITE), &book_of(&mut connection).await), "another text is judged by the migrator");
        let refused = migrator(&SQLITE).run_direct(None, &mut connection, false).await;
        assert!(matches!(refused, Err(MigrateError::VersionMismatch(1))), "{refused:?}");
    }
}
