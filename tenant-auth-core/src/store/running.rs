//! The running of a statement, apart from what its rows mean. A driver's machinery is compiled once for each engine and not once for each of the
//! hundreds of statements; only binding values and decoding rows is each statement's own. The future is on the heap, so that a flow is
//! not as large as the largest of its statements.

use std::{future::Future, pin::Pin};

use sqlx::{ColumnIndex, Database, Decode, FromRow, Row, Type};
use tracing::{Instrument, field::Empty};

use super::failure;
use crate::error::Error;

/// A statement with its values.
pub(in crate::store) type Query<DB> = sqlx::query::Query<'static, DB, <DB as Database>::Arguments>;

/// A statement that is being run.
pub(in crate::store) type Running<'c, T> = Pin<Box<dyn Future<Output = Result<T, Error>> + Send + 'c>>;

/// The name of a statement, by its path.
pub(in crate::store) fn name_of(path: &'static str) -> &'static str {
    path.rsplit_once("::sql::").map_or(path, |(_, name)| name)
}

/// Runs a statement inside a span with its name and, once it has answered, the number of its rows.
pub(in crate::store) async fn traced<T>(
    path: &'static str,
    rows: fn(&T) -> u64,
    running: impl Future<Output = sqlx::Result<T>> + Unpin,
) -> Result<T, Error> {
    // Named only where it is told: finding the name costs more than a span that nobody hears.
    let span = tracing::debug_span!(target: "tenant_auth::statements", "statement", name = name_of(path), rows = Empty);
    let outcome = running.instrument(span.clone()).await;
    match outcome {
        Ok(answer) => {
            span.record("rows", rows(&answer));
            Ok(answer)
        }
        Err(error) => Err(failure::of_statement(name_of(path), error)),
    }
}

/// How an engine runs statements: by the path of their names, inside a span. `$answered` is how long an answer is waited for.
macro_rules! engine {
    ($name:ident, $database:ty, $answered:path) => {
        pub(in crate::store) mod $name {
            use std::pin::pin;

            use sqlx::Database;

            use super::{Query, Running, traced};

            type Connection = <$database as Database>::Connection;
            type Row = <$database as Database>::Row;

            /// The first row, when there is one.
            pub(in crate::store) fn first<'c>(
                path: &'static str,
                connection: &'c mut Connection,
                query: Query<$database>,
            ) -> Running<'c, Option<Row>> {
                let count = |row: &Option<Row>| u64::from(row.is_some());
                Box::pin(async move { traced(path, count, pin!($answered(pin!(query.fetch_optional(connection))))).await })
            }

            /// Every row.
            pub(in crate::store) fn all<'c>(
                path: &'static str,
                connection: &'c mut Connection,
                query: Query<$database>,
            ) -> Running<'c, Vec<Row>> {
                let count = |rows: &Vec<Row>| rows.len() as u64;
                Box::pin(async move { traced(path, count, pin!($answered(pin!(query.fetch_all(connection))))).await })
            }

            /// How many rows it changed.
            pub(in crate::store) fn changed<'c>(
                path: &'static str,
                connection: &'c mut Connection,
                query: Query<$database>,
            ) -> Running<'c, u64> {
                Box::pin(async move {
                    let executed = pin!(async { query.execute(connection).await.map(|done| done.rows_affected()) });
                    traced(path, |rows| *rows, pin!($answered(executed))).await
                })
            }
        }
    };
}

#[cfg(feature = "sqlite")]
engine!(sqlite, sqlx::Sqlite, std::convert::identity);
#[cfg(feature = "postgres")]
engine!(postgres, sqlx::Postgres, crate::store::patience::answered);

/// A row of the statement with this path, decoded.
pub(in crate::store) fn row<R: Row, T: for<'r> FromRow<'r, R>>(path: &'static str, row: &R) -> Result<T, Error> {
    T::from_row(row).map_err(|error| failure::of_statement(name_of(path), error))
}

/// The first column of a row of the statement with this path.
pub(in crate::store) fn scalar<R: Row, T>(path: &'static str, row: &R) -> Result<T, Error>
where
    T: for<'r> Decode<'r, R::Database> + Type<R::Database>,
    usize: ColumnIndex<R>,
{
    row.try_get(0).map_err(|error| failure::of_statement(name_of(path), error))
}
