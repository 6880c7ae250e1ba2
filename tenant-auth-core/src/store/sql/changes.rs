//! The log of changes as transactions write it: one statement for all that a transaction touched, and the marks by which old rows
//! are swept. Reading is [`Looker`](crate::store::Looker)'s.

use crate::{
    error::Error,
    id::OrgId,
    store::{
        ChangedRow, Link, MARKS_KEPT, Place, Sight, Tx,
        change_log::by_engine,
        dialect::{execute, fetch_scalar, statements},
    },
};

pub(crate) struct Changes<L>(pub(in crate::store) L);

statements! {
    MARK = "SELECT mark FROM tenant_auth_memory WHERE one = 1";
    NOTE_MARK = "INSERT INTO tenant_auth_marks (mark, place) SELECT mark, newest FROM tenant_auth_memory WHERE one = 1";
    FORGET_MARKS = "DELETE FROM tenant_auth_marks WHERE mark < (SELECT mark FROM tenant_auth_memory WHERE one = 1) - $1";
    FRESHNESS = "SELECT freshness FROM tenant_auth_memory WHERE one = 1";
    ANNOUNCE = "
        UPDATE tenant_auth_memory
           SET freshness = CASE WHEN freshness < $1 THEN $1 ELSE freshness END,
               usable = CASE WHEN usable < $1 THEN $1 ELSE usable END
         WHERE one = 1 AND (freshness < $1 OR usable < $1)";
    TAKE_USE = "UPDATE tenant_auth_memory SET usable = $1 WHERE one = 1 AND usable > $1";
    LOWER = "UPDATE tenant_auth_memory SET freshness = $1 WHERE one = 1 AND freshness > $1 AND usable <= $1";
}

/// The announcement of a freshness, for [`Store::claim_memory`](crate::store::Store::claim_memory): the largest ever announced holds.
pub(in crate::store) const ANNOUNCEMENT: &str = ANNOUNCE;
/// No process may use more from its next look on: the first step of [`Store::lower_freshness`](crate::store::Store::lower_freshness).
pub(in crate::store) const UNUSABLE: &str = TAKE_USE;
/// Changes wait for less: its second step, unless a process announced more meanwhile.
pub(in crate::store) const LOWERED: &str = LOWER;

impl<L: Link> Changes<L> {
    /// The freshness for which changes wait, in milliseconds.
    pub(in crate::store) async fn freshness(mut self) -> Result<i64, Error> {
        fetch_scalar!(self.0, i64, FRESHNESS)?.ok_or_else(|| Error::internal("the row of the memory is gone"))
    }

    /// The number of the mark that is set.
    pub(crate) async fn mark(mut self) -> Result<i64, Error> {
        fetch_scalar!(self.0, i64, MARK)?.ok_or_else(|| Error::internal("the row of the memory is gone"))
    }

    /// What changed of one organization, or of all, since a place. That the log reaches back to the place is to be judged by the mark.
    pub(crate) async fn since(mut self, place: &Place, org: Option<&OrgId>) -> Result<Sight, Error> {
        let seen = by_engine!(self.0.conn(), engine, connection => engine::since(connection, place, org).await)?;
        Ok(seen.sight(true))
    }
}

impl Changes<&mut Tx> {
    /// Writes what the transaction touched.
    pub(in crate::store) async fn note(mut self, rows: &[ChangedRow]) -> Result<(), Error> {
        if rows.is_empty() {
            return Ok(());
        }
        by_engine!((&mut self.0).conn(), engine, connection => engine::note(connection, rows).await)
    }

    /// Sets the next mark, unless another process did since `mark` was read. Rows that were visible [`MARKS_KEPT`] marks ago may be
    /// swept then: whoever comes with an older place knows it by the number of the mark. No clock decides.
    pub(crate) async fn move_mark(mut self, mark: i64) -> Result<bool, Error> {
        if !by_engine!((&mut self.0).conn(), engine, connection => engine::move_mark(connection, mark).await)? {
            return Ok(false);
        }
        execute!(self.0, NOTE_MARK)?;
        execute!(self.0, FORGET_MARKS, MARKS_KEPT)?;
        Ok(true)
    }

    /// Deletes up to `most` rows that were visible [`MARKS_KEPT`] marks ago.
    pub(in crate::store) async fn sweep(mut self, most: i64) -> Result<u64, Error> {
        by_engine!((&mut self.0).conn(), engine, connection => engine::sweep(connection, most).await)
    }
}
