//! The sweep of events (retention of the audit log): removes the beginning of an organization's chain, and keeps the number and the hash
//! with which the rest begins. An event that waits for a delivery stays with all that came after it; deliveries that are over go with it.

use crate::{
    error::Error,
    id::{Id, OrgId},
    store::{
        Tx,
        dialect::{execute, fetch_all, fetch_scalars, row, statements},
        sql::event_chain::EventChain,
    },
    time::Timestamp,
};

/// How many organizations are shortened in one transaction: whoever writes in one of them waits for its end.
const ORGANIZATIONS: i64 = 20;

pub(crate) struct EventSweep<L>(pub(in crate::store) L);

statements! {
    // An organization whose first event is needed is passed by: what waits behind it must not keep the others from being shortened.
    WITH_OLD_EVENTS = "
        SELECT e.org_id
          FROM (SELECT f.org_id
                  FROM tenant_auth_events f
                  JOIN tenant_auth_event_sequences s ON s.org_id = f.org_id AND s.first_sequence = f.sequence
                 WHERE f.created_at <= $1
                   AND f.hash IS NOT NULL
                   AND NOT EXISTS (SELECT 1 FROM tenant_auth_outbox WHERE event_id = f.id)
                   AND NOT EXISTS (SELECT 1 FROM tenant_auth_deliveries WHERE event_id = f.id AND status = 'pending')
                 ORDER BY f.created_at
                 LIMIT $2) e
         ORDER BY e.org_id";
    OLDEST = "
        SELECT sequence, hash,
               EXISTS (SELECT 1 FROM tenant_auth_outbox WHERE event_id = tenant_auth_events.id)
               OR EXISTS (SELECT 1 FROM tenant_auth_deliveries WHERE event_id = tenant_auth_events.id AND status = 'pending')
               AS is_needed
          FROM tenant_auth_events
         WHERE org_id = $1 AND created_at <= $3
         ORDER BY sequence
         LIMIT $2";
    REMOVE_DELIVERIES = "
        DELETE FROM tenant_auth_deliveries
         WHERE event_id IN (SELECT id FROM tenant_auth_events WHERE org_id = $1 AND sequence <= $2)
           AND status <> 'pending'";
    REMOVE = "DELETE FROM tenant_auth_events WHERE org_id = $1 AND sequence <= $2";
}

row! {
    OldRow {
        sequence: i64,
        hash: Option<String>,
        is_needed: bool,
    }
}

impl EventSweep<&mut Tx> {
    /// Removes up to `most` events of a few organizations that happened at `until` or before, and returns their number. None: nothing
    /// that is so old is left that may be removed now.
    pub(in crate::store) async fn run(mut self, until: Timestamp, most: i64) -> Result<u64, Error> {
        let orgs: Vec<OrgId> = fetch_scalars!(self.0, String, WITH_OLD_EVENTS, until.millis(), ORGANIZATIONS)?
            .into_iter()
            .map(Id::from_stored)
            .collect();
        let mut removed = 0;
        for org in orgs {
            let left = most - i64::try_from(removed).unwrap_or(most);
            if left <= 0 {
                break;
            }
            removed += self.shorten(&org, until, left).await?;
        }
        Ok(removed)
    }

    async fn shorten(&mut self, org: &OrgId, until: Timestamp, most: i64) -> Result<u64, Error> {
        if EventChain(&mut *self.0).head(org).await?.is_none() {
            return Ok(0);
        }
        let oldest = fetch_all!(self.0, OldRow, OLDEST, org.as_str(), most, until.millis())?;
        let old = oldest.into_iter().take_while(|row| !row.is_needed);
        let chained = old.map_while(|row| row.hash.map(|hash| (row.sequence, hash)));
        let Some((sequence, hash)) = chained.last() else { return Ok(0) };
        execute!(self.0, REMOVE_DELIVERIES, org.as_str(), sequence)?;
        let removed = execute!(self.0, REMOVE, org.as_str(), sequence)?;
        EventChain(&mut *self.0).begin_after(org, sequence, &hash).await?;
        Ok(removed)
    }
}
