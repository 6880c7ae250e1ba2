//! A statement with its values, on a connection of either engine. A driver's machinery is compiled once and not once for each of the hundreds
//! of statements; only what its rows mean is each statement's own. What runs is on the heap, so that a flow is not as large as the
//! largest of its statements.

use std::{future::Future, pin::Pin, pin::pin};

use sqlx::Database;

#[cfg(feature = "postgres")]
use super::patience;
use super::{
    failure,
    row::{Cells, Column, FromRow, Row},
    running::traced,
};
use crate::error::Error;

/// A query of one engine with its values.
type Query<DB> = sqlx::query::Query<'static, DB, <DB as Database>::Arguments>;

/// A statement that is being run.
type Running<'c, T> = Pin<Box<dyn Future<Output = Result<T, Error>> + Send + 'c>>;

/// A borrowed connection of one of the engines.
pub(crate) enum Conn<'c> {
    #[cfg(feature = "sqlite")]
    Sqlite(&'c mut sqlx::SqliteConnection),
    #[cfg(feature = "postgres")]
    Postgres(&'c mut sqlx::PgConnection),
}

/// The text of a statement on either engine.
#[derive(Debug, Clone, Copy)]
pub(in crate::store) struct Text {
    #[cfg(feature = "sqlite")]
    pub(in crate::store) sqlite: &'static str,
    #[cfg(feature = "postgres")]
    pub(in crate::store) postgres: &'static str,
}

impl Text {
    /// What both understand alike.
    pub(in crate::store) const fn of_both(text: &'static str) -> Self {
        Self {
            #[cfg(feature = "sqlite")]
            sqlite: text,
            #[cfg(feature = "postgres")]
            postgres: text,
        }
    }
}

/// What a statement of either engine is given.
pub(in crate::store) trait Value: Sync {
    #[cfg(feature = "sqlite")]
    fn bind_on_sqlite(&self, query: Query<sqlx::Sqlite>) -> Query<sqlx::Sqlite>;
    #[cfg(feature = "postgres")]
    fn bind_on_postgres(&self, query: Query<sqlx::Postgres>) -> Query<sqlx::Postgres>;
}

macro_rules! values {
    ($($type:ty),*) => { $(
        impl Value for $type {
            #[cfg(feature = "sqlite")]
            fn bind_on_sqlite(&self, query: Query<sqlx::Sqlite>) -> Query<sqlx::Sqlite> {
                query.bind(self)
            }

            #[cfg(feature = "postgres")]
            fn bind_on_postgres(&self, query: Query<sqlx::Postgres>) -> Query<sqlx::Postgres> {
                query.bind(self)
            }
        }
    )* };
}

values!(bool, i64, Option<i64>, &str, Option<&str>, String, Option<String>);

/// A statement that waits to be run.
pub(in crate::store) struct Statement<'c> {
    /// The path of its name.
    path: &'static str,
    on: On<'c>,
}

enum On<'c> {
    #[cfg(feature = "sqlite")]
    Sqlite(&'c mut sqlx::SqliteConnection, Query<sqlx::Sqlite>),
    #[cfg(feature = "postgres")]
    Postgres(&'c mut sqlx::PgConnection, Query<sqlx::Postgres>, Patience),
}

impl<'c> Statement<'c> {
    pub(in crate::store) fn new(path: &'static str, conn: Conn<'c>, text: Text, values: &[&dyn Value]) -> Self {
        match conn {
            #[cfg(feature = "sqlite")]
            Conn::Sqlite(connection) => Self::on_sqlite(path, connection, text.sqlite, values),
            #[cfg(feature = "postgres")]
            Conn::Postgres(connection) => Self::on_postgres(path, connection, text.postgres, values),
        }
    }

    #[cfg(feature = "sqlite")]
    pub(in crate::store) fn on_sqlite(
        path: &'static str,
        connection: &'c mut sqlx::SqliteConnection,
        text: &'static str,
        values: &[&dyn Value],
    ) -> Self {
        let query = values.iter().fold(sqlx::query(text), |query, value| value.bind_on_sqlite(query));
        Self { path, on: On::Sqlite(connection, query) }
    }

    #[cfg(feature = "postgres")]
    pub(in crate::store) fn on_postgres(
        path: &'static str,
        connection: &'c mut sqlx::PgConnection,
        text: &'static str,
        values: &[&dyn Value],
    ) -> Self {
        Self::of_postgres(path, connection, values.iter().fold(sqlx::query(text), |query, value| value.bind_on_postgres(query)))
    }

    /// With values that PostgreSQL alone has.
    #[cfg(feature = "postgres")]
    pub(in crate::store) fn of_postgres(
        path: &'static str,
        connection: &'c mut sqlx::PgConnection,
        query: Query<sqlx::Postgres>,
    ) -> Self {
        Self { path, on: On::Postgres(connection, query, Patience::AsForAnAnswer) }
    }

    /// It may be a COMMIT, and is waited for as one is: whether it happened would be unknown. Its locks have PostgreSQL's limit.
    #[cfg(feature = "postgres")]
    pub(in crate::store) fn that_commits(mut self) -> Self {
        match &mut self.on {
            #[cfg(feature = "sqlite")]
            On::Sqlite(..) => {}
            On::Postgres(_, _, patience) => *patience = Patience::AsForACommit,
        }
        self
    }

    /// The first row, decoded, when there is one.
    pub(in crate::store) fn optional<T: FromRow>(self) -> impl Future<Output = Result<Option<T>, Error>> + Send + use<'c, T> {
        let row = self.first();
        async move { row.await?.as_ref().map(T::from_row).transpose() }
    }

    /// Every row, decoded.
    pub(in crate::store) fn all<T: FromRow>(self) -> impl Future<Output = Result<Vec<T>, Error>> + Send + use<'c, T> {
        let rows = self.every();
        async move { rows.await?.iter().map(T::from_row).collect() }
    }

    /// The first column of the first row, when there is one.
    pub(in crate::store) fn scalar<T: Column>(self) -> impl Future<Output = Result<Option<T>, Error>> + Send + use<'c, T> {
        let row = self.first();
        async move { row.await?.as_ref().map(Row::first).transpose() }
    }

    /// The first column of every row.
    pub(in crate::store) fn scalars<T: Column>(self) -> impl Future<Output = Result<Vec<T>, Error>> + Send + use<'c, T> {
        let rows = self.every();
        async move { rows.await?.iter().map(Row::first).collect() }
    }

    /// How many rows it changed.
    pub(in crate::store) fn changed(self) -> Running<'c, u64> {
        let Self { path, on } = self;
        Box::pin(async move {
            match on {
                #[cfg(feature = "sqlite")]
                On::Sqlite(connection, query) => {
                    let asked = async { query.execute(connection).await.map(|done| done.rows_affected()) };
                    traced(path, |rows| *rows, failure::of_statement, pin!(asked)).await
                }
                #[cfg(feature = "postgres")]
                On::Postgres(connection, query, patience) => {
                    let asked = async { query.execute(connection).await.map(|done| done.rows_affected()) };
                    traced(path, |rows| *rows, patience.failed(), pin!(answered(patience, pin!(asked)))).await
                }
            }
        })
    }

    /// The first row, when there is one.
    pub(in crate::store) fn first(self) -> Running<'c, Option<Row>> {
        let Self { path, on } = self;
        let (count, of_cells) = (|row: &Option<Row>| u64::from(row.is_some()), move |cells| Row { path, cells });
        Box::pin(async move {
            match on {
                #[cfg(feature = "sqlite")]
                On::Sqlite(connection, query) => {
                    let asked = async { query.fetch_optional(connection).await.map(|row| row.map(Cells::Sqlite).map(of_cells)) };
                    traced(path, count, failure::of_statement, pin!(asked)).await
                }
                #[cfg(feature = "postgres")]
                On::Postgres(connection, query, patience) => {
                    let asked = async { query.fetch_optional(connection).await.map(|row| row.map(Cells::Postgres).map(of_cells)) };
                    traced(path, count, patience.failed(), pin!(answered(patience, pin!(asked)))).await
                }
            }
        })
    }

    /// Every row.
    fn every(self) -> Running<'c, Vec<Row>> {
        let Self { path, on } = self;
        let (count, of_cells) = (|rows: &Vec<Row>| rows.len() as u64, move |cells| Row { path, cells });
        Box::pin(async move {
            match on {
                #[cfg(feature = "sqlite")]
                On::Sqlite(connection, query) => {
                    let asked = async {
                        query.fetch_all(connection).await.map(|rows| rows.into_iter().map(Cells::Sqlite).map(of_cells).collect())
                    };
                    traced(path, count, failure::of_statement, pin!(asked)).await
                }
                #[cfg(feature = "postgres")]
                On::Postgres(connection, query, patience) => {
                    let asked = async {
                        query.fetch_all(connection).await.map(|rows| rows.into_iter().map(Cells::Postgres).map(of_cells).collect())
                    };
                    traced(path, count, patience.failed(), pin!(answered(patience, pin!(asked)))).await
                }
            }
        })
    }
}

/// How long PostgreSQL's answer is waited for, and what it means that there is none.
#[cfg(feature = "postgres")]
#[derive(Clone, Copy)]
enum Patience {
    AsForAnAnswer,
    AsForACommit,
}

#[cfg(feature = "postgres")]
impl Patience {
    fn failed(self) -> fn(&'static str, sqlx::Error) -> Error {
        match self {
            Self::AsForAnAnswer => failure::of_statement,
            Self::AsForACommit => failure::of_committing,
        }
    }
}

#[cfg(feature = "postgres")]
async fn answered<T>(patience: Patience, asked: impl Future<Output = sqlx::Result<T>> + Unpin) -> sqlx::Result<T> {
    match patience {
        Patience::AsForAnAnswer => patience::answered(asked).await,
        Patience::AsForACommit => patience::committed(asked).await,
    }
}

#[cfg(all(test, feature = "postgres"))]
mod tests {
    use super::*;

    #[test]
    fn of_what_commits_by_itself_an_answer_that_is_lost_leaves_it_unsettled() {
        let unanswered = |patience: Patience| patience.failed()("ROTATE", sqlx::Error::WorkerCrashed);
        assert!(unanswered(Patience::AsForACommit).is_unsettled());
        assert!(!unanswered(Patience::AsForAnAnswer).is_unsettled());
    }
}
