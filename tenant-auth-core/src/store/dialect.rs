//! One query, two engines. `fetch_optional!`, `fetch_all!`, `fetch_scalar!`, `fetch_scalars!` and
//! `execute!` run a statement on whichever connection a [`Link`]
//! holds; `row!` decodes a row of either. A statement is written once and instantiated twice.

#[cfg(feature = "postgres")]
use sqlx::PgConnection;
#[cfg(feature = "sqlite")]
use sqlx::SqliteConnection;

use super::{Reader, Transaction, Tx};

/// A borrowed connection of one of the engines.
pub(crate) enum Conn<'c> {
    #[cfg(feature = "sqlite")]
    Sqlite(&'c mut SqliteConnection),
    #[cfg(feature = "postgres")]
    Postgres(&'c mut PgConnection),
}

/// A holder of a connection: a [`Reader`] or a [`Tx`].
pub(crate) trait Link: Send {
    fn conn(&mut self) -> Conn<'_>;
}

impl Link for &mut Reader {
    fn conn(&mut self) -> Conn<'_> {
        match self {
            #[cfg(feature = "sqlite")]
            Reader::Sqlite(connection) => Conn::Sqlite(connection),
            #[cfg(feature = "postgres")]
            Reader::Postgres(connection) => Conn::Postgres(connection),
        }
    }
}

impl Link for &mut Tx {
    fn conn(&mut self) -> Conn<'_> {
        match &mut self.transaction {
            #[cfg(feature = "sqlite")]
            Transaction::Sqlite(transaction) => Conn::Sqlite(transaction),
            #[cfg(feature = "postgres")]
            Transaction::Postgres(transaction) => Conn::Postgres(transaction),
        }
    }
}

/// Names statements, and lists them so that a test prepares every one on both engines.
macro_rules! statements {
    ($($name:ident = $sql:expr;)*) => {
        $(const $name: &str = $sql;)*
        #[cfg(any(test, feature = "testing"))]
        pub(in crate::store) const ALL: &[(&str, &str)] = &[$((stringify!($name), $name)),*];
    };
}

macro_rules! on_either {
    ($link:expr, $conn:ident => $query:expr) => {
        match $crate::store::Link::conn(&mut $link) {
            #[cfg(feature = "sqlite")]
            $crate::store::Conn::Sqlite($conn) => $query.map_err($crate::store::failure::of),
            #[cfg(feature = "postgres")]
            $crate::store::Conn::Postgres($conn) => $query.map_err($crate::store::failure::of),
        }
    };
}

/// The first row, decoded, when there is one.
macro_rules! fetch_optional {
    ($link:expr, $row:ty, $sql:ident $(, $value:expr)* $(,)?) => {
        $crate::store::dialect::on_either!($link, c => sqlx::query_as::<_, $row>($sql)$(.bind($value))*.fetch_optional(c).await)
    };
}

/// Every row, decoded.
macro_rules! fetch_all {
    ($link:expr, $row:ty, $sql:ident $(, $value:expr)* $(,)?) => {
        $crate::store::dialect::on_either!($link, c => sqlx::query_as::<_, $row>($sql)$(.bind($value))*.fetch_all(c).await)
    };
}

/// The first column of the first row, when there is one.
macro_rules! fetch_scalar {
    ($link:expr, $value_type:ty, $sql:ident $(, $value:expr)* $(,)?) => {
        $crate::store::dialect::on_either!($link, c => sqlx::query_scalar::<_, $value_type>($sql)$(.bind($value))*.fetch_optional(c).await)
    };
}

/// The first column of every row.
macro_rules! fetch_scalars {
    ($link:expr, $value_type:ty, $sql:ident $(, $value:expr)* $(,)?) => {
        $crate::store::dialect::on_either!($link, c => sqlx::query_scalar::<_, $value_type>($sql)$(.bind($value))*.fetch_all(c).await)
    };
}

/// How many rows the statement changed.
macro_rules! execute {
    ($link:expr, $sql:ident $(, $value:expr)* $(,)?) => {
        $crate::store::dialect::on_either!($link, c => sqlx::query($sql)$(.bind($value))*.execute(c).await.map(|done| done.rows_affected()))
    };
}

/// A struct whose fields are the columns of a row of either engine; what sqlx's derive does, without its second build of
/// every driver.
macro_rules! row {
    ($(#[$meta:meta])* $name:ident { $($field:ident: $type:ty,)* }) => {
        $(#[$meta])*
        pub(crate) struct $name { $(pub(crate) $field: $type,)* }

        impl<'r, R: sqlx::Row> sqlx::FromRow<'r, R> for $name
        where
            &'static str: sqlx::ColumnIndex<R>,
            $($type: sqlx::Decode<'r, R::Database> + sqlx::Type<R::Database>,)*
        {
            fn from_row(row: &'r R) -> sqlx::Result<Self> {
                Ok(Self { $($field: row.try_get(stringify!($field))?,)* })
            }
        }
    };
}

pub(crate) use {execute, fetch_all, fetch_optional, fetch_scalar, fetch_scalars, on_either, row, statements};
