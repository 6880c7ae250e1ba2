//! Events, each written in the transaction of its change, numbered within its organization.

use crate::{
    error::Error,
    id::{EventId, OrgId},
    store::{
        Tx,
        dialect::{execute, fetch_optional, row, statements},
    },
    time::Timestamp,
};

pub(crate) struct Events<L>(pub(in crate::store) L);

statements! {
    ADVANCE = "
        UPDATE tenant_auth_event_sequences
           SET sequence = sequence + $2
         WHERE org_id = $1
        RETURNING sequence";
    INSERT = "
        INSERT INTO tenant_auth_events (id, org_id, sequence, kind, payload, created_at)
        VALUES ($1, $2, $3, $4, $5, $6)";
}

row! { SequenceRow { sequence: i64, } }

/// An event as it is stored.
#[derive(Debug)]
pub(in crate::store) struct EventRecord<'a> {
    pub(in crate::store) id: &'a EventId,
    pub(in crate::store) org_id: &'a OrgId,
    pub(in crate::store) sequence: i64,
    pub(in crate::store) kind: &'static str,
    pub(in crate::store) payload: String,
}

impl Events<&mut Tx> {
    /// Reserves `count` numbers and returns the last; `None` when the organization is gone.
    pub(in crate::store) async fn advance(mut self, org: &OrgId, count: i64) -> Result<Option<i64>, Error> {
        Ok(fetch_optional!(self.0, SequenceRow, ADVANCE, org.as_str(), count)?.map(|row| row.sequence))
    }

    pub(in crate::store) async fn insert(mut self, event: EventRecord<'_>, now: Timestamp) -> Result<(), Error> {
        execute!(
            self.0,
            INSERT,
            event.id.as_str(),
            event.org_id.as_str(),
            event.sequence,
            event.kind,
            event.payload.as_str(),
            now.millis()
        )?;
        Ok(())
    }
}
