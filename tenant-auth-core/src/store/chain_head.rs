//! Where an organization's chain of events ends, as its row says. Below the transaction, which may hold a head for its commit.

use sqlx::{ColumnIndex, Decode, FromRow, Row, Type};

/// The head of an organization's chain.
pub(crate) struct ChainHead {
    pub(crate) sequence: i64,
    pub(crate) chained: i64,
    pub(crate) hash: Option<String>,
    pub(crate) last_at: i64,
}

impl<'r, R: Row> FromRow<'r, R> for ChainHead
where
    &'static str: ColumnIndex<R>,
    i64: Decode<'r, R::Database> + Type<R::Database>,
    Option<String>: Decode<'r, R::Database> + Type<R::Database>,
{
    fn from_row(row: &'r R) -> sqlx::Result<Self> {
        Ok(Self {
            sequence: row.try_get("sequence")?,
            chained: row.try_get("chained")?,
            hash: row.try_get("hash")?,
            last_at: row.try_get("last_at")?,
        })
    }
}
