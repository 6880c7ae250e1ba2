//! The sweep: deletes expired rows in batches, so that a sweep never holds SQLite's single writer for long.

use std::time::Duration;

use crate::{
    error::Error,
    id::DeliveryId,
    metrics::Label,
    store::{
        Tx,
        dialect::{execute, statements},
        sql::{changes::Changes, tallies::Tallies, throttles::Throttles},
    },
    time::Timestamp,
};

pub(crate) struct Sweep<L>(pub(in crate::store) L);

/// How long rows are kept, where a setting says so.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Retention {
    /// For superseded generations of refresh tokens: the reuse grace.
    pub(crate) grace: Duration,
    /// For retired signing keys: the lifetime of the longest-lived token.
    pub(crate) longest_token: Duration,
    /// For events; `None`: for ever.
    pub(crate) events: Option<Duration>,
    /// For what is known of the requests behind events.
    pub(crate) contexts: Duration,
}

impl Retention {
    /// Until when events are old; `None`: none ever is.
    pub(crate) fn events_until(&self, now: Timestamp) -> Option<Timestamp> {
        self.events.map(|kept| now.minus(TEN_MINUTES).minus(kept))
    }
}

/// How many rows of one kind one transaction deletes at most.
pub(super) const BATCH: i64 = 1_000;
const THIRTY_DAYS: Duration = Duration::from_secs(30 * 24 * 3_600);
const TEN_MINUTES: Duration = Duration::from_secs(600);
const ONE_HOUR: Duration = Duration::from_secs(3_600);
const ONE_DAY: Duration = Duration::from_secs(24 * 3_600);

statements! {
    // By whole hours that are over: a refresh writes no index while the hour stays the same.
    SESSIONS = "
        DELETE FROM tenant_auth_sessions
         WHERE id IN (SELECT id FROM tenant_auth_sessions WHERE idle_hour < CAST($1 AS BIGINT) / 3600000 LIMIT $2)
           AND idle_until <= $1";
    GENERATIONS = "
        DELETE FROM tenant_auth_superseded_generations
         WHERE (session_id, generation) IN
               (SELECT session_id, generation FROM tenant_auth_superseded_generations WHERE superseded_at <= $1 LIMIT $2)";
    // One that ended with its deployment key has the expiry 0 until that was told.
    INVITES = "
        DELETE FROM tenant_auth_invites
         WHERE id IN (SELECT id FROM tenant_auth_invites WHERE expires_at <= $1 AND expires_at > 0 LIMIT $2)
           AND expires_at <= $1 AND expires_at > 0";
    API_KEYS = "
        DELETE FROM tenant_auth_api_keys
         WHERE id IN (SELECT id FROM tenant_auth_api_keys WHERE expires_at <= $1 LIMIT $2)
           AND expires_at <= $1";
    DEPLOYMENT_KEYS = "
        DELETE FROM tenant_auth_deployment_keys
         WHERE id IN (SELECT id FROM tenant_auth_deployment_keys WHERE expires_at <= $1 LIMIT $2)
           AND expires_at <= $1";
    PENDING_LOGINS = "
        DELETE FROM tenant_auth_pending_logins
         WHERE id IN (SELECT id FROM tenant_auth_pending_logins WHERE expires_at <= $1 LIMIT $2)";
    LINKS = "
        DELETE FROM tenant_auth_links
         WHERE id IN (SELECT id FROM tenant_auth_links WHERE expires_at <= $1 LIMIT $2)";
    KNOWN_ADDRESSES = "
        DELETE FROM tenant_auth_known_addresses
         WHERE (account_key, ip_key) IN
               (SELECT account_key, ip_key FROM tenant_auth_known_addresses WHERE last_login_at <= $1 LIMIT $2)
           AND last_login_at <= $1";
    SIGNING_KEYS = "DELETE FROM tenant_auth_signing_keys WHERE status = 'retired' AND retired_at <= $1";
    CONTEXTS = "
        UPDATE tenant_auth_events
           SET context = NULL, context_salt = NULL
         WHERE id IN (SELECT id
                        FROM tenant_auth_events
                       WHERE created_at <= $1 AND context IS NOT NULL AND context <> 'null'
                       LIMIT $2)
           AND context IS NOT NULL";
    // Found by their ids and judged by their time: a wrong order of texts deletes nothing that is new.
    DELIVERIES = "
        DELETE FROM tenant_auth_deliveries
         WHERE id IN (SELECT id FROM tenant_auth_deliveries WHERE id < $1 AND created_at < $3 ORDER BY id LIMIT $2)
           AND created_at < $3";
    WEBHOOK_SECRETS = "
        DELETE FROM tenant_auth_webhook_secrets
         WHERE id IN (SELECT id FROM tenant_auth_webhook_secrets WHERE expires_at <= $1 LIMIT $2) AND expires_at <= $1";
    // That a mail failed is told for as long as its link would be good, as in the list of invites.
    MAILS = "
        DELETE FROM tenant_auth_mails
         WHERE id IN (SELECT id
                        FROM tenant_auth_mails
                       WHERE created_at <= $1
                         AND (status = 'sent' OR useless_after <= $1 OR (status <> 'queued' AND useless_after <= $3))
                       LIMIT $2)";
    RESET_REQUESTS = "
        DELETE FROM tenant_auth_reset_requests
         WHERE id IN (SELECT id FROM tenant_auth_reset_requests WHERE created_at <= $1 LIMIT $2) AND created_at <= $1";
    SIGN_UP_REQUESTS = "
        DELETE FROM tenant_auth_sign_up_requests
         WHERE id IN (SELECT id FROM tenant_auth_sign_up_requests WHERE created_at <= $1 LIMIT $2) AND created_at <= $1";
    SIGN_UP_LINKS = "
        DELETE FROM tenant_auth_sign_up_links
         WHERE id IN (SELECT id FROM tenant_auth_sign_up_links WHERE expires_at <= $1 LIMIT $2)";
}

/// A kind of row that is swept. Each kind has a transaction of its own: one transaction that deletes several kinds could deadlock
/// with others. Events alone take another kind along, their deliveries that are over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Swept {
    Sessions,
    Generations,
    Invites,
    ApiKeys,
    DeploymentKeys,
    PendingLogins,
    Links,
    Throttles,
    KnownAddresses,
    SigningKeys,
    WebhookSecrets,
    Deliveries,
    Events,
    EventContexts,
    Mails,
    ResetRequests,
    SignUpRequests,
    SignUpLinks,
    Changes,
    Tallies,
}

impl Swept {
    pub(crate) const ALL: [Self; 20] = [
        Self::Sessions,
        Self::Generations,
        Self::Invites,
        Self::ApiKeys,
        Self::DeploymentKeys,
        Self::PendingLogins,
        Self::Links,
        Self::Throttles,
        Self::KnownAddresses,
        Self::SigningKeys,
        Self::WebhookSecrets,
        Self::Deliveries,
        Self::Events,
        Self::EventContexts,
        Self::Mails,
        Self::ResetRequests,
        Self::SignUpRequests,
        Self::SignUpLinks,
        Self::Changes,
        Self::Tallies,
    ];

    /// With so many rows deleted in one transaction there may be more.
    pub(crate) const BATCH: u64 = BATCH.unsigned_abs();
}

impl Label for Swept {
    const NAME: &'static str = "kind";
    const ALL: &'static [Self] = &Swept::ALL;

    fn index(self) -> usize {
        self as usize
    }

    fn as_str(self) -> &'static str {
        match self {
            Self::Sessions => "sessions",
            Self::Generations => "generations",
            Self::Invites => "invites",
            Self::ApiKeys => "api_keys",
            Self::DeploymentKeys => "deployment_keys",
            Self::PendingLogins => "pending_logins",
            Self::Links => "links",
            Self::Throttles => "throttles",
            Self::KnownAddresses => "known_addresses",
            Self::SigningKeys => "signing_keys",
            Self::WebhookSecrets => "webhook_secrets",
            Self::Deliveries => "deliveries",
            Self::Events => "events",
            Self::EventContexts => "event_contexts",
            Self::Mails => "mails",
            Self::ResetRequests => "reset_requests",
            Self::SignUpRequests => "sign_up_requests",
            Self::SignUpLinks => "sign_up_links",
            Self::Changes => "changes",
            Self::Tallies => "tallies",
        }
    }
}

impl Sweep<&mut Tx> {
    /// Deletes a batch and returns the number of rows; after a full batch there may be more. Every row is swept some minutes late:
    /// the clocks of several servers differ, and a row that has expired for one may still be live for another.
    pub(crate) async fn run(mut self, kind: Swept, retention: Retention) -> Result<u64, Error> {
        let now = self.0.now().minus(TEN_MINUTES);
        let long_ago = now.minus(THIRTY_DAYS).millis();
        // The rate limiter counts links for an hour after they were sent; every link lives longer than that.
        let an_hour_ago = now.minus(ONE_HOUR).millis();
        match kind {
            Swept::Sessions => execute!(self.0, SESSIONS, now.millis(), BATCH),
            Swept::Generations => execute!(self.0, GENERATIONS, now.minus(retention.grace).millis(), BATCH),
            Swept::Invites => execute!(self.0, INVITES, now.millis(), BATCH),
            Swept::ApiKeys => execute!(self.0, API_KEYS, now.millis(), BATCH),
            Swept::DeploymentKeys => execute!(self.0, DEPLOYMENT_KEYS, now.millis(), BATCH),
            Swept::PendingLogins => execute!(self.0, PENDING_LOGINS, now.millis(), BATCH),
            Swept::Links => execute!(self.0, LINKS, an_hour_ago, BATCH),
            Swept::Throttles => Throttles(self.0).sweep(now, BATCH).await,
            Swept::KnownAddresses => execute!(self.0, KNOWN_ADDRESSES, long_ago, BATCH),
            Swept::SigningKeys => execute!(self.0, SIGNING_KEYS, now.minus(retention.longest_token).millis()),
            Swept::WebhookSecrets => execute!(self.0, WEBHOOK_SECRETS, now.millis(), BATCH),
            Swept::Deliveries => {
                let first_that_stays = DeliveryId::first_at(Timestamp::from_millis(long_ago));
                execute!(self.0, DELIVERIES, first_that_stays.as_str(), BATCH, long_ago)
            }
            // The beginning of a chain, and never a part of its middle: log by log (`event_sweep.rs`).
            Swept::Events => Ok(0),
            Swept::EventContexts => execute!(self.0, CONTEXTS, now.minus(retention.contexts).millis(), BATCH),
            Swept::Mails => execute!(self.0, MAILS, long_ago, BATCH, now.millis()),
            // A worker mails no link for a request that is older than the link would have lived, half an hour.
            Swept::ResetRequests => execute!(self.0, RESET_REQUESTS, an_hour_ago, BATCH),
            // The same, of a link that lives for a day.
            Swept::SignUpRequests => execute!(self.0, SIGN_UP_REQUESTS, now.minus(ONE_DAY).millis(), BATCH),
            Swept::SignUpLinks => execute!(self.0, SIGN_UP_LINKS, now.millis(), BATCH),
            // By marks and not by a clock: a reader must not miss a row because somebody's clock is ahead.
            Swept::Changes => Changes(self.0).sweep(BATCH).await,
            // Those that are not shown any more: a hundred rows a day, so they need no batches.
            Swept::Tallies => Tallies(self.0).sweep(now).await,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Swept;
    use crate::metrics::assert_in_order;

    #[test]
    fn kinds_are_counted_where_their_index_says() {
        assert_in_order::<Swept>();
    }
}
