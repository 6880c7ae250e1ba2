//! One query, two engines. `fetch_optional!`, `fetch_all!`, `fetch_batch!`, `fetch_scalar!`, `fetch_scalars!` and `execute!` run a statement
//! on whichever connection a [`Link`] holds; those whose names end in `_of` run the engine's own form of it, which the modules `sqlite`
//! and `postgres` beside the call have under one name.

use super::{Reader, Transaction, Tx, statement::Conn};

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
        self.transaction.conn()
    }
}

impl Link for &mut Transaction {
    fn conn(&mut self) -> Conn<'_> {
        Transaction::conn(self)
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

/// A statement that both engines understand alike, with its values and the path of its name.
macro_rules! statement {
    ($link:expr, $name:ident $(, $value:expr)* $(,)?) => {
        $crate::store::statement::Statement::new(
            concat!(module_path!(), "::", stringify!($name)),
            $crate::store::Link::conn(&mut $link),
            $crate::store::statement::Text::of_both($name),
            &[$(&$value),*],
        )
    };
}

/// The same of the engine's own form.
macro_rules! statement_of {
    ($link:expr, $name:ident $(, $value:expr)* $(,)?) => {
        $crate::store::statement::Statement::new(
            concat!(module_path!(), "::", stringify!($name)),
            $crate::store::Link::conn(&mut $link),
            $crate::store::statement::Text {
                #[cfg(feature = "sqlite")]
                sqlite: sqlite::$name,
                #[cfg(feature = "postgres")]
                postgres: postgres::$name,
            },
            &[$(&$value),*],
        )
    };
}

/// What a statement answers: nothing of what it was made of is kept while it is waited for.
macro_rules! answer {
    ($running:expr) => {{
        let running = $running;
        running.await
    }};
}

/// The first row, decoded, when there is one.
macro_rules! fetch_optional {
    ($link:expr, $row:ty, $($statement:tt)*) => {
        $crate::store::dialect::answer!($crate::store::dialect::statement!($link, $($statement)*).optional::<$row>())
    };
}

/// Every row, decoded.
macro_rules! fetch_all {
    ($link:expr, $row:ty, $($statement:tt)*) => {
        $crate::store::dialect::answer!($crate::store::dialect::statement!($link, $($statement)*).all::<$row>())
    };
}

/// The first column of the first row, when there is one.
macro_rules! fetch_scalar {
    ($link:expr, $value:ty, $($statement:tt)*) => {
        $crate::store::dialect::answer!($crate::store::dialect::statement!($link, $($statement)*).scalar::<$value>())
    };
}

/// The first column of every row.
macro_rules! fetch_scalars {
    ($link:expr, $value:ty, $($statement:tt)*) => {
        $crate::store::dialect::answer!($crate::store::dialect::statement!($link, $($statement)*).scalars::<$value>())
    };
}

/// How many rows the statement changed.
macro_rules! execute {
    ($($statement:tt)*) => {
        $crate::store::dialect::answer!($crate::store::dialect::statement!($($statement)*).changed())
    };
}

/// The first row of the engine's own form of a statement, decoded, when there is one.
macro_rules! fetch_optional_of {
    ($link:expr, $row:ty, $($statement:tt)*) => {
        $crate::store::dialect::answer!($crate::store::dialect::statement_of!($link, $($statement)*).optional::<$row>())
    };
}

/// Every row of the engine's own form of a statement, decoded.
macro_rules! fetch_all_of {
    ($link:expr, $row:ty, $($statement:tt)*) => {
        $crate::store::dialect::answer!($crate::store::dialect::statement_of!($link, $($statement)*).all::<$row>())
    };
}

/// How many rows the engine's own form of a statement changed.
macro_rules! execute_of {
    ($($statement:tt)*) => {
        $crate::store::dialect::answer!($crate::store::dialect::statement_of!($($statement)*).changed())
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

pub(in crate::store) use super::row::row;
pub(crate) use {
    answer, execute, execute_of, fetch_all, fetch_all_of, fetch_batch, fetch_optional, fetch_optional_of, fetch_scalar,
    fetch_scalars, statement, statement_of, statements,
};
