//! The daily signatures at the heads of audit logs: which log is due, and that one of several workers makes it.

use std::time::Duration;

use crate::{
    error::Error,
    id::{Id, OrgId},
    store::{
        Link, Tx,
        dialect::{execute, fetch_optional, fetch_scalars, row, statements},
    },
    time::Timestamp,
};

pub(crate) struct Checkpoints<L>(pub(in crate::store) L);

statements! {
    DUE = "
        SELECT org_id
          FROM tenant_auth_event_sequences
         WHERE checkpoint_at <= $1 AND chained > checkpointed
         ORDER BY checkpoint_at
         LIMIT $2";
    STATE = "SELECT chained, hash, checkpoint_at, checkpointed FROM tenant_auth_event_sequences WHERE org_id = $1";
    MARK = "
        UPDATE tenant_auth_event_sequences
           SET checkpoint_at = $2, checkpointed = chained + 1
         WHERE org_id = $1 AND checkpoint_at = $3 AND chained = $4";
    POSTPONE = "UPDATE tenant_auth_event_sequences SET checkpoint_at = $2 WHERE org_id = $1 AND checkpoint_at <= $3";
}

row! {
    /// How far a log goes, and how far it was signed.
    #[derive(Debug, Clone)]
    CheckpointState {
        chained: i64,
        hash: Option<String>,
        checkpoint_at: i64,
        checkpointed: i64,
    }
}

impl<L: Link> Checkpoints<L> {
    /// Up to `limit` logs that grew since they were signed, at this time or before.
    pub(crate) async fn due(mut self, until: Timestamp, limit: i64) -> Result<Vec<OrgId>, Error> {
        Ok(fetch_scalars!(self.0, String, DUE, until.millis(), limit)?.into_iter().map(Id::from_stored).collect())
    }

    /// The state of a log.
    pub(crate) async fn state(mut self, org: &OrgId) -> Result<Option<CheckpointState>, Error> {
        fetch_optional!(self.0, CheckpointState, STATE, org.as_str())
    }
}

impl Checkpoints<&mut Tx> {
    /// Says that the log is signed now, and that the transaction's next event tells of it; `false` when it is not in this state any more.
    pub(crate) async fn mark(mut self, org: &OrgId, state: &CheckpointState) -> Result<bool, Error> {
        let now = self.0.now();
        Ok(execute!(self.0, MARK, org.as_str(), now.millis(), state.checkpoint_at, state.chained)? == 1)
    }

    /// Lets a log that is due at `until` be due so much later.
    pub(crate) async fn postpone(mut self, org: &OrgId, until: Timestamp, later: Duration) -> Result<(), Error> {
        execute!(self.0, POSTPONE, org.as_str(), until.plus(later).millis(), until.millis())?;
        Ok(())
    }
}
