//! One query, two engines. `fetch_optional!`, `fetch_all!`, `fetch_batch!`, `fetch_scalar!`, `fetch_scalars!` and
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
            #[cfg(feature = "postgres")]
            Transaction::PostgresAlone(connection) => Conn::Postgres(connection),
        }
    }
}

impl Link for &mut Transaction {
    fn conn(&mut self) -> Conn<'_> {
        match self {
            #[cfg(feature = "sqlite")]
            Transaction::Sqlite(transaction) => Conn::Sqlite(transaction),
            #[cfg(feature = "postgres")]
            Transaction::Postgres(transaction) => Conn::Postgres(transaction),
            #[cfg(feature = "postgres")]
            Transaction::PostgresAlone(connection) => Conn::Postgres(connection),
        }
    }
}

/// Names statements, and lists them so that a test prepares every one on both engines.
macro_rules! statements {
    ($($(#[$attribute:meta])* $visibility:vis $name:ident = $sql:expr;)*) => {
        $($(#[$attribute])* $visibility const $name: &str = $sql;)*
        #[cfg(any(test, feature = "testing"))]
        pub(in crate::store) const ALL: &[(&str, &str)] = &[$($(#[$attribute])* (stringify!($name), $name)),*];
    };
}

/// Runs a statement in one of the ways of `running.rs`, with each row or the first column decoded. `$sql` is what it is called, `$text` its
/// text on the engine at hand.
macro_rules! run {
    ($link:expr, $name:ident, $way:ident, [$($engine:ident $variant:ident $feature:literal $text:expr),*], |$query:ident| $bound:expr, |$path:ident, $answer:ident| $decoded:expr) => {{
        const PATH: &str = concat!(module_path!(), "::", stringify!($name));
        let $path = PATH;
        match $crate::store::Link::conn(&mut $link) {
            $(#[cfg(feature = $feature)]
            $crate::store::Conn::$variant(connection) => {
                let $query = sqlx::query($text);
                match $crate::store::running::$engine::$way($path, connection, $bound).await {
                    Ok($answer) => $decoded,
                    Err(error) => Err(error),
                }
            })*
        }
    }};
}

/// The same for a statement with one text.
macro_rules! on_either {
    ($link:expr, $sql:ident, $way:ident, |$query:ident| $bound:expr, |$path:ident, $answer:ident| $decoded:expr) => {
        $crate::store::dialect::run!($link, $sql, $way, [sqlite Sqlite "sqlite" $sql, postgres Postgres "postgres" $sql],
            |$query| $bound, |$path, $answer| $decoded)
    };
}

/// The same for a statement that has a form for each engine, which the modules `sqlite` and `postgres` beside the call have under one name.
macro_rules! on_engine {
    ($link:expr, $name:ident, $way:ident, |$query:ident| $bound:expr, |$path:ident, $answer:ident| $decoded:expr) => {
        $crate::store::dialect::run!($link, $name, $way, [sqlite Sqlite "sqlite" sqlite::$name, postgres Postgres "postgres" postgres::$name],
            |$query| $bound, |$path, $answer| $decoded)
    };
}

/// Every row of the engine's own form of a statement, decoded.
macro_rules! fetch_all_of {
    ($link:expr, $row:ty, $name:ident $(, $value:expr)* $(,)?) => {
        $crate::store::dialect::on_engine!($link, $name, all, |query| query$(.bind($value))*, |path, rows| {
            rows.iter().map(|row| $crate::store::running::row::<_, $row>(path, row)).collect::<Result<Vec<$row>, _>>()
        })
    };
}

/// The first row of the engine's own form of a statement, decoded, when there is one.
macro_rules! fetch_optional_of {
    ($link:expr, $row:ty, $name:ident $(, $value:expr)* $(,)?) => {
        $crate::store::dialect::on_engine!($link, $name, first, |query| query$(.bind($value))*, |path, row| {
            row.as_ref().map(|row| $crate::store::running::row::<_, $row>(path, row)).transpose()
        })
    };
}

/// How many rows the engine's own form of a statement changed.
macro_rules! execute_of {
    ($link:expr, $name:ident $(, $value:expr)* $(,)?) => {
        $crate::store::dialect::on_engine!($link, $name, changed, |query| query$(.bind($value))*, |_path, rows| Ok(rows))
    };
}

/// The first row, decoded, when there is one.
macro_rules! fetch_optional {
    ($link:expr, $row:ty, $sql:ident $(, $value:expr)* $(,)?) => {
        $crate::store::dialect::on_either!($link, $sql, first, |query| query$(.bind($value))*, |path, row| {
            row.as_ref().map(|row| $crate::store::running::row::<_, $row>(path, row)).transpose()
        })
    };
}

/// Every row, decoded.
macro_rules! fetch_all {
    ($link:expr, $row:ty, $sql:ident $(, $value:expr)* $(,)?) => {
        $crate::store::dialect::on_either!($link, $sql, all, |query| query$(.bind($value))*, |path, rows| {
            rows.iter().map(|row| $crate::store::running::row::<_, $row>(path, row)).collect::<Result<Vec<$row>, _>>()
        })
    };
}

/// The rows of one batch of a list: the statement for either order, with the bounds as its first values.
macro_rules! fetch_batch {
    ($link:expr, $row:ty, $ascending:ident, $descending:ident, $bounds:expr $(, $value:expr)* $(,)?) => {{
        let bounds: &$crate::page::Bounds = $bounds;
        let (time, id, rows) = (bounds.time, bounds.id.as_str(), bounds.rows);
        match bounds.order {
            $crate::model::SortOrder::Ascending => {
                $crate::store::dialect::fetch_all!($link, $row, $ascending, time, id, rows $(, $value)*)
            }
            $crate::model::SortOrder::Descending => {
                $crate::store::dialect::fetch_all!($link, $row, $descending, time, id, rows $(, $value)*)
            }
        }
    }};
}

/// The first column of the first row, when there is one.
macro_rules! fetch_scalar {
    ($link:expr, $value_type:ty, $sql:ident $(, $value:expr)* $(,)?) => {
        $crate::store::dialect::on_either!($link, $sql, first, |query| query$(.bind($value))*, |path, row| {
            row.as_ref().map(|row| $crate::store::running::scalar::<_, $value_type>(path, row)).transpose()
        })
    };
}

/// The first column of every row.
macro_rules! fetch_scalars {
    ($link:expr, $value_type:ty, $sql:ident $(, $value:expr)* $(,)?) => {
        $crate::store::dialect::on_either!($link, $sql, all, |query| query$(.bind($value))*, |path, rows| {
            rows.iter().map(|row| $crate::store::running::scalar::<_, $value_type>(path, row)).collect::<Result<Vec<$value_type>, _>>()
        })
    };
}

/// How many rows the statement changed.
macro_rules! execute {
    ($link:expr, $sql:ident $(, $value:expr)* $(,)?) => {
        $crate::store::dialect::on_either!($link, $sql, changed, |query| query$(.bind($value))*, |_path, rows| Ok(rows))
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

pub(crate) use {
    execute, execute_of, fetch_all, fetch_all_of, fetch_batch, fetch_optional, fetch_optional_of, fetch_scalar, fetch_scalars,
    on_either, on_engine, row, run, statements,
};
