//! Forgetting what nobody can use any more, in batches, so that a sweep never holds the writer for long.

use std::time::Duration;

use crate::{
    error::Error,
    store::{
        Tx,
        dialect::{execute, statements},
    },
    time::Timestamp,
};

pub(crate) struct Sweep<L>(pub(in crate::store) L);

/// How long things are kept after their use.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Retention {
    /// Superseded generations: the refresh grace.
    pub(crate) grace: Duration,
    /// Retired signing keys: the lifetime of the longest-lived token.
    pub(crate) longest_token: Duration,
}

/// Rows of each kind that one sweep deletes at most.
const BATCH: i64 = 1_000;
const THIRTY_DAYS: Duration = Duration::from_secs(30 * 24 * 3_600);
const ONE_HOUR: Duration = Duration::from_secs(3_600);

statements! {
    SESSIONS = "
        DELETE FROM tenant_auth_sessions
         WHERE id IN (SELECT id FROM tenant_auth_sessions WHERE idle_until <= $1 LIMIT $2)";
    GENERATIONS = "
        DELETE FROM tenant_auth_superseded_generations
         WHERE (session_id, generation) IN
               (SELECT session_id, generation FROM tenant_auth_superseded_generations WHERE superseded_at <= $1 LIMIT $2)";
    INVITES = "
        DELETE FROM tenant_auth_invites
         WHERE id IN (SELECT id FROM tenant_auth_invites WHERE expires_at <= $1 LIMIT $2) AND expires_at <= $1";
    API_KEYS = "
        DELETE FROM tenant_auth_api_keys
         WHERE id IN (SELECT id FROM tenant_auth_api_keys WHERE expires_at <= $1 LIMIT $2)";
    PENDING_LOGINS = "
        DELETE FROM tenant_auth_pending_logins
         WHERE id IN (SELECT id FROM tenant_auth_pending_logins WHERE expires_at <= $1 LIMIT $2)";
    LINKS = "
        DELETE FROM tenant_auth_links
         WHERE id IN (SELECT id FROM tenant_auth_links WHERE expires_at <= $1 LIMIT $2)";
    THROTTLES = "
        DELETE FROM tenant_auth_throttles
         WHERE key IN (SELECT key FROM tenant_auth_throttles WHERE forget_at <= $1 LIMIT $2) AND forget_at <= $1";
    KNOWN_ADDRESSES = "
        DELETE FROM tenant_auth_known_addresses
         WHERE (account_key, ip_key) IN
               (SELECT account_key, ip_key FROM tenant_auth_known_addresses WHERE last_login_at <= $1 LIMIT $2)
           AND last_login_at <= $1";
    SIGNING_KEYS = "DELETE FROM tenant_auth_signing_keys WHERE status = 'retired' AND retired_at <= $1";
    EVENTS = "
        DELETE FROM tenant_auth_events
         WHERE id IN (SELECT id FROM tenant_auth_events WHERE created_at <= $1 LIMIT $2)";
    MAILS = "
        DELETE FROM tenant_auth_mails
         WHERE id IN (SELECT id FROM tenant_auth_mails WHERE created_at <= $1 AND status <> 'queued' LIMIT $2)";
    CHANGES = "
        DELETE FROM tenant_auth_changes
         WHERE seq IN (SELECT seq FROM tenant_auth_changes WHERE created_at <= $1 LIMIT $2)";
}

impl Sweep<&mut Tx> {
    /// Deletes a batch of each kind; `true` when there may be more.
    pub(crate) async fn run(mut self, now: Timestamp, retention: Retention) -> Result<bool, Error> {
        let long_ago = now.minus(THIRTY_DAYS).millis();
        let deleted = [
            execute!(self.0, SESSIONS, now.millis(), BATCH)?,
            execute!(self.0, GENERATIONS, now.minus(retention.grace).millis(), BATCH)?,
            execute!(self.0, INVITES, now.millis(), BATCH)?,
            execute!(self.0, API_KEYS, now.millis(), BATCH)?,
            execute!(self.0, PENDING_LOGINS, now.millis(), BATCH)?,
            // Links are counted for an hour after they were sent, and live longer than that.
            execute!(self.0, LINKS, now.minus(ONE_HOUR).millis(), BATCH)?,
            execute!(self.0, THROTTLES, now.millis(), BATCH)?,
            execute!(self.0, KNOWN_ADDRESSES, long_ago, BATCH)?,
            execute!(self.0, SIGNING_KEYS, now.minus(retention.longest_token).millis())?,
            execute!(self.0, EVENTS, long_ago, BATCH)?,
            execute!(self.0, MAILS, long_ago, BATCH)?,
            execute!(self.0, CHANGES, now.minus(ONE_HOUR).millis(), BATCH)?,
        ];
        Ok(deleted.iter().any(|rows| *rows >= BATCH.unsigned_abs()))
    }
}
