//! The daily signatures at the heads of audit logs: which log is due, and that one of several workers makes it.

use std::time::Duration;

use crate::{
    error::Error,
    id::{Id, OrgId},
    store::{
        Link, Tx,
        dialect::{execute, fetch_optional, fetch_scalars, row, statements},
    },
    time::{DAY, HOUR, Timestamp},
};

pub(crate) struct Checkpoints<L>(pub(in crate::store) L);

statements! {
    // A signature of the future was made by a clock that was ahead: it postpones no other.
    DUE = "
        SELECT org_id
          FROM tenant_auth_event_sequences
         WHERE (checkpoint_at <= $1 OR checkpoint_at > $3) AND chained > checkpointed
         ORDER BY checkpoint_at
         LIMIT $2";
    STATE = "SELECT chained, hash, checkpoint_at, checkpointed FROM tenant_auth_event_sequences WHERE org_id = $1";
    MARK = "
        UPDATE tenant_auth_event_sequences
           SET checkpoint_at = $2, checkpointed = chained + 1
         WHERE org_id = $1 AND checkpoint_at = $3 AND chained = $4";
    POSTPONE = "
        UPDATE tenant_auth_event_sequences
           SET checkpoint_at = $2
         WHERE org_id = $1 AND (checkpoint_at <= $3 OR checkpoint_at > $4)";
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

impl CheckpointState {
    /// Whether the log grew since it was signed, a day ago or longer.
    pub(crate) fn is_due(&self, now: Timestamp) -> bool {
        let (until, latest) = bounds(now);
        (self.checkpoint_at <= until || self.checkpoint_at > latest) && self.chained > self.checkpointed
    }
}

/// Until when a signature is a day old, and after when it is one of the future: that of a clock that is ahead by more than an hour, so that
/// servers whose clocks differ do not sign in turn.
fn bounds(now: Timestamp) -> (i64, i64) {
    (now.minus(DAY).millis(), now.plus(HOUR).millis())
}

impl<L: Link> Checkpoints<L> {
    /// Up to `limit` logs that are due.
    pub(crate) async fn due(mut self, now: Timestamp, limit: i64) -> Result<Vec<OrgId>, Error> {
        let (until, latest) = bounds(now);
        Ok(fetch_scalars!(self.0, String, DUE, until, limit, latest)?.into_iter().map(Id::from_stored).collect())
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

    /// Lets a log that is due be due so much later.
    pub(crate) async fn postpone(mut self, org: &OrgId, later: Duration) -> Result<(), Error> {
        let now = self.0.now();
        let (until, latest) = bounds(now);
        execute!(self.0, POSTPONE, org.as_str(), now.minus(DAY).plus(later).millis(), until, latest)?;
        Ok(())
    }
}
