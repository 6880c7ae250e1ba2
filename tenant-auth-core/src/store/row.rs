//! A row of either engine, and what is decoded from it. A type is decoded by one piece of code, whichever engine answered.

use sqlx::Row as _;

use super::{failure, running::name_of};
use crate::error::Error;

/// A row of the answer to a statement.
pub(in crate::store) struct Row {
    /// The path of the statement's name.
    pub(in crate::store) path: &'static str,
    pub(in crate::store) cells: Cells,
}

/// The cells of a row.
pub(in crate::store) enum Cells {
    #[cfg(feature = "sqlite")]
    Sqlite(sqlx::sqlite::SqliteRow),
    #[cfg(feature = "postgres")]
    Postgres(sqlx::postgres::PgRow),
}

impl Row {
    /// The value of the column with this name.
    ///
    /// # Errors
    /// [`Error::Internal`] when there is no such column, or it holds something else.
    pub(in crate::store) fn get<T: Column>(&self, name: &'static str) -> Result<T, Error> {
        T::named(&self.cells, name).map_err(|error| failure::of_statement(name_of(self.path), error))
    }

    /// The value of the first column.
    ///
    /// # Errors
    /// As [`Row::get`].
    pub(in crate::store) fn first<T: Column>(&self) -> Result<T, Error> {
        T::first(&self.cells).map_err(|error| failure::of_statement(name_of(self.path), error))
    }
}

/// What a column of either engine may hold.
pub(in crate::store) trait Column: Sized {
    fn named(cells: &Cells, name: &'static str) -> sqlx::Result<Self>;
    fn first(cells: &Cells) -> sqlx::Result<Self>;
}

macro_rules! columns {
    ($($type:ty),*) => { $(
        impl Column for $type {
            fn named(cells: &Cells, name: &'static str) -> sqlx::Result<Self> {
                match cells {
                    #[cfg(feature = "sqlite")]
                    Cells::Sqlite(row) => row.try_get(name),
                    #[cfg(feature = "postgres")]
                    Cells::Postgres(row) => row.try_get(name),
                }
            }

            fn first(cells: &Cells) -> sqlx::Result<Self> {
                match cells {
                    #[cfg(feature = "sqlite")]
                    Cells::Sqlite(row) => row.try_get(0),
                    #[cfg(feature = "postgres")]
                    Cells::Postgres(row) => row.try_get(0),
                }
            }
        }
    )* };
}

columns!(bool, i64, Option<i64>, String, Option<String>);

/// What a row is decoded into.
pub(in crate::store) trait FromRow: Sized {
    fn from_row(row: &Row) -> Result<Self, Error>;
}

/// A struct whose fields are the columns of a row.
macro_rules! row {
    ($(#[$meta:meta])* $name:ident { $($field:ident: $type:ty,)* }) => {
        $(#[$meta])*
        pub(crate) struct $name { $(pub(crate) $field: $type,)* }

        impl $crate::store::row::FromRow for $name {
            fn from_row(row: &$crate::store::row::Row) -> Result<Self, $crate::error::Error> {
                Ok(Self { $($field: row.get(stringify!($field))?,)* })
            }
        }
    };
}
pub(in crate::store) use row;
