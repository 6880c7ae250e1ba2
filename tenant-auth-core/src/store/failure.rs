//! The translation of database errors. A database that is away, overloaded or full is [`Error::Unavailable`]: nothing was decided
//! and the caller may try again. Anything else is a defect of ours.

use crate::error::Error;

/// A statement failed, by its name: the text of its cause says what with, but seldom where.
#[derive(Debug, thiserror::Error)]
#[error("statement {statement}")]
struct FailedStatement {
    statement: &'static str,
    #[source]
    cause: sqlx::Error,
}

/// A version of the schema could not be reached.
#[derive(Debug, thiserror::Error)]
#[error("migration {version}")]
struct FailedMigration {
    version: i64,
    #[source]
    cause: sqlx::Error,
}

/// The translation of one failed connection or transaction. A function and no `From`: a public `From` would put sqlx into our public
/// interface.
pub(in crate::store) fn of(error: sqlx::Error) -> Error {
    if is_unavailable(&error) { Error::unavailable(error) } else { Error::internal(error) }
}

/// What the failure of a COMMIT means.
pub(in crate::store) fn of_commit(error: sqlx::Error) -> Error {
    let is_refused = is_refused(&error);
    unsettled_unless(is_refused, of(error))
}

/// What the failure of the statement with this name means, which commits by itself.
#[cfg(feature = "postgres")]
pub(in crate::store) fn of_committing(statement: &'static str, cause: sqlx::Error) -> Error {
    let is_refused = is_refused(&cause);
    unsettled_unless(is_refused, of_statement(statement, cause))
}

fn unsettled_unless(is_refused: bool, error: Error) -> Error {
    match error {
        Error::Unavailable(cause) if !is_refused => Error::unsettled(cause),
        settled => settled,
    }
}

/// That nothing was committed says the database alone, and not while it or the connection ends (SQLSTATE classes 57 and 08): it may have
/// committed before, and a pooler between speaks without knowing.
fn is_refused(error: &sqlx::Error) -> bool {
    let ends = |code: &str| code.len() == 5 && (code.starts_with("08") || code.starts_with("57"));
    error.as_database_error().and_then(|refusal| refusal.code()).is_some_and(|code| !ends(&code))
}

/// What the failure of the statement with this name means.
pub(in crate::store) fn of_statement(statement: &'static str, cause: sqlx::Error) -> Error {
    let is_unavailable = is_unavailable(&cause);
    let failed = FailedStatement { statement, cause };
    if is_unavailable { Error::unavailable(failed) } else { Error::internal(failed) }
}

/// What the failure of a migration means.
pub(in crate::store) fn of_migration(version: i64, cause: sqlx::Error) -> Error {
    let is_unavailable = is_unavailable(&cause);
    let failed = FailedMigration { version, cause };
    if is_unavailable { Error::unavailable(failed) } else { Error::internal(failed) }
}

/// Whether nothing was decided. That a database is read-only is remembered, so that its connections are not used again, and that a
/// connection was lost, so that the others are asked before they are.
fn is_unavailable(error: &sqlx::Error) -> bool {
    if error.as_database_error().and_then(|refusal| refusal.code()).is_some_and(|code| is_read_only_code(&code)) {
        super::outlived::were_all();
    }
    let is_absent = is_absence(error);
    if is_absent && !matches!(error, sqlx::Error::PoolTimedOut | sqlx::Error::PoolClosed) {
        super::outlived::doubt();
    }
    is_absent
}

/// What the database itself said.
fn said_by_database(error: &Error) -> Option<&dyn sqlx::error::DatabaseError> {
    let Error::Internal(cause) = error else { return None };
    let cause = cause.downcast_ref::<FailedStatement>().map(|failed| &failed.cause);
    cause.and_then(sqlx::Error::as_database_error)
}

/// A unique index refused the row.
pub(super) fn is_duplicate(error: &Error) -> bool {
    said_by_database(error).is_some_and(sqlx::error::DatabaseError::is_unique_violation)
}

/// The row that the new row refers to is gone (foreign key). The transaction can only be rolled back.
pub(crate) fn is_orphan(error: &Error) -> bool {
    said_by_database(error).is_some_and(sqlx::error::DatabaseError::is_foreign_key_violation)
}

/// PostgreSQL's `read_only_sql_transaction` or `feature_not_supported` (a standby, whose unlogged tables cannot be read), or one of SQLite's READONLY codes.
fn is_read_only_code(code: &str) -> bool {
    ["0A000", "25006"].contains(&code) || (code.len() != 5 && code.parse::<u32>().is_ok_and(|code| code & 0xff == 8))
}

fn is_absence(error: &sqlx::Error) -> bool {
    match error {
        sqlx::Error::Io(_)
        | sqlx::Error::Tls(_)
        | sqlx::Error::PoolTimedOut
        | sqlx::Error::PoolClosed
        | sqlx::Error::WorkerCrashed
        | sqlx::Error::Protocol(_) => true,
        sqlx::Error::Database(refusal) => refusal.code().is_some_and(|code| is_absence_code(&code)),
        _ => false,
    }
}

/// SQLSTATE classes of PostgreSQL, or SQLite's (extended) result codes, whose low byte is the primary one.
fn is_absence_code(code: &str) -> bool {
    if code.len() == 5 {
        // Connection, transaction rollback (deadlock), resources, lock timeout, operator intervention, system error.
        // 25006: a standby after a failover, 0A000: its unlogged tables; 25P03: ended for having waited too long.
        return ["08", "40", "53", "55", "57", "58"].contains(&&code[..2]) || ["0A000", "25006", "25P03"].contains(&code);
    }
    // PERM, BUSY, LOCKED, READONLY, INTERRUPT, IOERR, FULL, CANTOPEN, PROTOCOL
    code.parse::<u32>().is_ok_and(|code| [3, 5, 6, 8, 9, 10, 13, 14, 15].contains(&(code & 0xff)))
}

#[cfg(test)]
mod tests {
    use std::{borrow::Cow, error::Error as StdError};

    use sqlx::error::{DatabaseError, ErrorKind};

    use super::{is_absence_code, is_read_only_code};

    /// What a database says, by its code.
    #[derive(Debug, thiserror::Error)]
    #[error("{0}")]
    struct Refusal(&'static str);

    impl DatabaseError for Refusal {
        fn message(&self) -> &str {
            self.0
        }

        fn code(&self) -> Option<Cow<'_, str>> {
            Some(Cow::Borrowed(self.0))
        }

        fn as_error(&self) -> &(dyn StdError + Send + Sync + 'static) {
            self
        }

        fn as_error_mut(&mut self) -> &mut (dyn StdError + Send + Sync + 'static) {
            self
        }

        fn into_error(self: Box<Self>) -> Box<dyn StdError + Send + Sync + 'static> {
            self
        }

        fn kind(&self) -> ErrorKind {
            ErrorKind::Other
        }
    }

    #[test]
    fn a_read_only_database_is_known_by_its_code() {
        assert!(["25006", "0A000", "8", "1032", "776"].into_iter().all(is_read_only_code));
        assert!(!["25P03", "08006", "10", "00008"].into_iter().any(is_read_only_code));
    }

    #[test]
    fn a_commit_that_is_not_answered_is_unsettled() {
        let lost = || sqlx::Error::Io(std::io::ErrorKind::ConnectionReset.into());
        assert!(super::of_commit(lost()).is_unsettled());
        assert!(!super::of(lost()).is_unsettled(), "any other statement is undone with its transaction");
        #[cfg(feature = "postgres")]
        assert!(super::of_committing("ROTATE", lost()).is_unsettled());
        assert!(!super::of_statement("ROTATE", lost()).is_unsettled());
    }

    #[test]
    fn a_commit_is_refused_by_a_database_alone_that_stays() {
        for (code, is_unsettled) in [("08P01", true), ("57P01", true), ("40001", false), ("5", false)] {
            let refused = || sqlx::Error::Database(Box::new(Refusal(code)));
            assert_eq!(super::of_commit(refused()).is_unsettled(), is_unsettled, "{code}");
            #[cfg(feature = "postgres")]
            assert_eq!(super::of_committing("ROTATE", refused()).is_unsettled(), is_unsettled, "{code}");
        }
    }

    #[test]
    fn only_an_absent_database_is_unavailable() {
        for code in ["25006", "57P01", "53300", "40P01", "55P03", "5", "517", "13", "10"] {
            assert!(is_absence_code(code), "{code}");
        }
        for code in ["23505", "42703", "22P02", "19", "2067", "1"] {
            assert!(!is_absence_code(code), "{code}");
        }
    }
}
