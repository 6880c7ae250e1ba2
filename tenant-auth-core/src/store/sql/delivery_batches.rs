//! Deliveries by the batch: the statements of the delivery loop, each over as many rows as have come together. Their rows are one
//! parameter, a JSON array of arrays, which both engines read alike but for the name of the function; so every statement is written
//! once here and stands for both. Lock order: the outbox, then webhooks by id, then deliveries.

use std::collections::HashMap;

use serde::Serialize;

use crate::{
    error::Error,
    id::{DeliveryId, EventId, Id, OrgId, WebhookId},
    model::{DeliveryError, EventSelection, Webhook},
    store::{
        Tx, attempt_log,
        dialect::{execute_of, fetch_all_of, row},
        payload::KeptEvent,
        sql::{
            delivery_queue::{Attempted, ClaimedDelivery, DeliveryQueue, DueEndpoint},
            events::{KeptRow, UndeliveredEvent},
            webhooks::{SealedSecret, WebhookRow},
        },
    },
    time::Timestamp,
};

macro_rules! batches {
    ($engine:ident: rows $rows:literal, named $named:literal, joined $joined:literal, failing $failing:literal, lock $lock:literal, free $free:literal) => {
        pub(in crate::store) mod $engine {
            use crate::store::{dialect::statements, sql::events::kept};

            statements! {
                pub(super) SUBSCRIBERS = concat!("
                    SELECT org_id, id, events, failing_since
                      FROM tenant_auth_webhooks
                     WHERE org_id ", $named, " AND status = 'active'
                     ORDER BY org_id, id");
                // What another worker is taking is left to it.
                pub(super) TAKE = concat!("DELETE FROM tenant_auth_outbox WHERE event_id ", $free, " RETURNING event_id");
                pub(super) TOLD = concat!("SELECT ", kept!(), " FROM tenant_auth_events WHERE id ", $named);
                // COALESCE keeps the index of the secrets' ends out of the plan: while that table is not analyzed, PostgreSQL would read
                // the secrets of all organizations by it, each time.
                pub(super) HOLD = concat!("
                    WITH held AS (
                        SELECT id, org_id, url, events, description, status, failing_since, created_by, created_at
                          FROM tenant_auth_webhooks
                         WHERE id ", $named, "
                         ORDER BY id", $lock, "
                    )
                    SELECT w.id, w.org_id, w.url, w.events, w.description, w.status, w.failing_since, w.created_by, w.created_at,
                           s.id AS secret_id, s.secret
                      FROM held w
                      LEFT JOIN tenant_auth_webhook_secrets s
                             ON s.org_id = w.org_id AND s.webhook_id = w.id AND COALESCE(s.expires_at > $2, TRUE)
                     ORDER BY w.id, s.created_at DESC");
                pub(super) INSERT = concat!("
                    INSERT INTO tenant_auth_deliveries
                           (id, org_id, webhook_id, event_id, event_kind, status, attempts, next_attempt_at, scheduled_at, created_at)
                    SELECT a.value ->> 0, a.value ->> 1, a.value ->> 2, a.value ->> 3, a.value ->> 4, 'pending',
                           CAST(a.value ->> 5 AS BIGINT), CAST(a.value ->> 6 AS BIGINT), CAST($2 AS BIGINT), CAST($2 AS BIGINT)
                      FROM ", $rows);
                // All of them are locked, also those whose health is what it was and is not written again.
                pub(super) MARK = concat!("
                    WITH held AS (
                        SELECT id, failing_since
                          FROM tenant_auth_webhooks
                         WHERE id ", $named, "
                         ORDER BY id", $lock, "
                    )
                    UPDATE tenant_auth_webhooks AS w
                       SET failing_since = CASE WHEN w.id IN (SELECT a.value ->> 0 FROM ", $failing, ") THEN CAST($3 AS BIGINT) END
                      FROM held
                     WHERE w.id = held.id AND w.id ", $named, "
                       AND (held.failing_since IS NULL) = (w.id IN (SELECT a.value ->> 0 FROM ", $failing, "))");
                // What was recorded by a COMMIT without an answer is recorded again, and its line is there then.
                pub(super) RECORD = concat!("
                    UPDATE tenant_auth_deliveries AS d
                       SET status = said.status, last_status_code = said.code, last_error = said.error,
                           next_attempt_at = said.next_attempt_at, scheduled_at = $2,
                           attempt_log = d.attempt_log
                                         || CASE WHEN substr(d.attempt_log, length(d.attempt_log) - length(said.line) + 1) = said.line
                                                 THEN '' ELSE said.line END
                      FROM (SELECT a.value ->> 0 AS id, CAST(a.value ->> 1 AS BIGINT) AS attempt, a.value ->> 2 AS status,
                                   CAST(a.value ->> 3 AS BIGINT) AS code, a.value ->> 4 AS error,
                                   CAST(a.value ->> 5 AS BIGINT) AS next_attempt_at, a.value ->> 6 AS line
                              FROM ", $rows, ") AS said
                     WHERE d.id = said.id AND d.attempts = said.attempt AND d.status = 'pending'", $joined);
                // Also the lease is compared: what was given back may have been claimed again, with the same number, before a
                // COMMIT without an answer is tried again. A new one keeps its place before the backlog.
                pub(super) GIVE_BACK = concat!("
                    UPDATE tenant_auth_deliveries AS d
                       SET attempts = d.attempts - 1, scheduled_at = $2,
                           next_attempt_at = CASE WHEN d.attempts = 1 AND d.created_at < $2 THEN d.created_at ELSE $2 END
                      FROM (SELECT a.value ->> 0 AS id, CAST(a.value ->> 1 AS BIGINT) AS attempt,
                                   CAST(a.value ->> 2 AS BIGINT) AS lease_until
                              FROM ", $rows, ") AS said
                     WHERE d.id = said.id AND d.attempts = said.attempt AND d.next_attempt_at = said.lease_until
                       AND d.status = 'pending'", $joined);
            }
        }
    };
}

#[cfg(feature = "sqlite")]
batches!(sqlite: rows "json_each($1) AS a", named "IN (SELECT a.value ->> 0 FROM json_each($1) AS a)", joined "",
    failing "json_each($2) AS a", lock "", free "IN (SELECT a.value ->> 0 FROM json_each($1) AS a)");
// jsonb, which is parsed once: each `->>` of a json parses its whole row again, which took a fifth of a delivery's statements.
// An array and not a join: while a table counts as small, because nobody has analyzed it, PostgreSQL would read the whole of its
// index to join it. Not FOR UPDATE: who refers to a webhook by a foreign key need not wait.
#[cfg(feature = "postgres")]
batches!(postgres: rows "jsonb_array_elements(CAST($1 AS jsonb)) AS a (value)",
    named "= ANY (ARRAY(SELECT a.value ->> 0 FROM jsonb_array_elements(CAST($1 AS jsonb)) AS a (value)))",
    joined " AND d.id = ANY (ARRAY(SELECT a.value ->> 0 FROM jsonb_array_elements(CAST($1 AS jsonb)) AS a (value)))",
    failing "jsonb_array_elements(CAST($2 AS jsonb)) AS a (value)", lock " FOR NO KEY UPDATE",
    free "= ANY (ARRAY(SELECT event_id
                         FROM tenant_auth_outbox
                        WHERE event_id = ANY (ARRAY(SELECT a.value ->> 0 FROM jsonb_array_elements(CAST($1 AS jsonb)) AS a (value)))
                        ORDER BY event_id
                          FOR UPDATE SKIP LOCKED))");

row! { SubscriberRow { org_id: String, id: String, events: String, failing_since: Option<i64>, } }
row! { TakenRow { event_id: String, } }
row! {
    HeldRow {
        id: String,
        org_id: String,
        url: String,
        events: String,
        description: String,
        status: String,
        failing_since: Option<i64>,
        created_by: Option<String>,
        created_at: i64,
        secret_id: Option<String>,
        secret: Option<String>,
    }
}

/// The part of an active webhook that fan-out needs.
#[derive(Debug)]
pub(crate) struct Subscriber {
    pub(crate) org_id: OrgId,
    pub(crate) events: EventSelection,
    pub(crate) endpoint: DueEndpoint,
}

/// A webhook whose row is locked.
#[derive(Debug)]
pub(crate) struct Held {
    pub(crate) id: WebhookId,
    pub(crate) org_id: OrgId,
    /// An error means that this version cannot read the webhook.
    pub(crate) webhook: Result<Webhook, Error>,
    /// The live secrets, the newest first.
    pub(crate) secrets: Vec<SealedSecret>,
}

/// A delivery to insert, waiting or claimed already.
#[derive(Debug)]
pub(crate) struct QueuedDelivery<'a> {
    pub(crate) id: DeliveryId,
    pub(crate) event: &'a UndeliveredEvent,
    pub(crate) webhook: &'a WebhookId,
    /// 1 for one that is claimed.
    pub(crate) attempts: i64,
    pub(crate) next_attempt_at: Timestamp,
}

/// Whether an endpoint fails, by its last outcomes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Vital<'a> {
    pub(crate) webhook: &'a WebhookId,
    pub(crate) is_failing: bool,
}

/// A claim and the result of its attempt.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Judged<'a> {
    pub(crate) claim: &'a ClaimedDelivery,
    pub(crate) attempted: Attempted,
}

/// The rows of a batch, as its statement takes them.
fn rows(rows: impl IntoIterator<Item = impl Serialize>) -> Result<String, Error> {
    serde_json::to_string(&rows.into_iter().collect::<Vec<_>>()).map_err(Error::internal)
}

impl DeliveryQueue<&mut Tx> {
    /// The active webhooks of these organizations.
    pub(crate) async fn subscribers(mut self, orgs: impl IntoIterator<Item = &OrgId>) -> Result<Vec<Subscriber>, Error> {
        let orgs = rows(orgs.into_iter().map(|org| [org.as_str()]))?;
        let subscriber = |row: SubscriberRow| Subscriber {
            org_id: Id::from_stored(row.org_id),
            events: EventSelection::from_stored(&row.events),
            endpoint: DueEndpoint { id: Id::from_stored(row.id), is_failing: row.failing_since.is_some(), due: None },
        };
        Ok(fetch_all_of!(self.0, SubscriberRow, SUBSCRIBERS, orgs.as_str())?.into_iter().map(subscriber).collect())
    }

    /// Takes events out of the outbox, and returns the payload of each. What another worker took, or is taking, is not returned.
    pub(crate) async fn take(mut self, events: &[UndeliveredEvent]) -> Result<HashMap<EventId, String>, Error> {
        let events = rows(events.iter().map(|event| [event.id.as_str()]))?;
        let taken = fetch_all_of!(self.0, TakenRow, TAKE, events.as_str())?;
        let payloads = self.payloads(taken.iter().map(|row| row.event_id.as_str())).await?;
        Ok(payloads.into_iter().map(|(id, payload)| (Id::from_stored(id), payload)).collect())
    }

    /// The payloads of these events, by their ids; those that are gone are missing, and one that cannot be read: the others must not wait
    /// for it.
    pub(super) async fn payloads(&mut self, events: impl Iterator<Item = &str>) -> Result<HashMap<Box<str>, String>, Error> {
        let events = rows(events.map(|id| [id]))?;
        if events == "[]" {
            return Ok(HashMap::new());
        }
        let told = |event: KeptEvent| match event.payload() {
            Ok(payload) => Some((event.id.as_str().into(), payload)),
            Err(error) => {
                let (org, causes) = (&event.org.id, error.causes());
                tracing::error!(event = %event.id, organization_id = %org, error = %causes, "an event cannot be read; it is sent to nobody");
                None
            }
        };
        Ok(fetch_all_of!(self.0, KeptRow, TOLD, events.as_str())?.into_iter().map(KeptEvent::from).filter_map(told).collect())
    }

    /// Locks webhooks before their deliveries are changed, and reads them with their live secrets. For workers, which serve every
    /// organization. A webhook that is gone is missing.
    pub(crate) async fn hold(mut self, webhooks: impl IntoIterator<Item = &WebhookId>) -> Result<Vec<Held>, Error> {
        let now = self.0.now();
        let webhooks = rows(webhooks.into_iter().map(|webhook| [webhook.as_str()]))?;
        let mut held: Vec<Held> = Vec::new();
        for mut row in fetch_all_of!(self.0, HeldRow, HOLD, webhooks.as_str(), now.millis())? {
            let secret = row.secret_id.take().zip(row.secret.take()).map(|(id, sealed)| SealedSecret { id, sealed });
            match held.last_mut().filter(|last| last.id.as_str() == row.id) {
                Some(last) => last.secrets.extend(secret),
                None => held.push(Held {
                    id: Id::from_stored(row.id.as_str()),
                    org_id: Id::from_stored(row.org_id.as_str()),
                    webhook: row.webhook(),
                    secrets: secret.into_iter().collect(),
                }),
            }
        }
        Ok(held)
    }

    /// Stores deliveries. Nobody is woken: the worker knows of them.
    pub(crate) async fn insert(mut self, deliveries: &[QueuedDelivery<'_>]) -> Result<(), Error> {
        let now = self.0.now();
        let deliveries = rows(deliveries.iter().map(|new| {
            let (event, due) = (new.event, new.next_attempt_at.millis());
            (new.id.as_str(), event.org_id.as_str(), new.webhook.as_str(), event.id.as_str(), &event.kind, new.attempts, due)
        }))?;
        execute_of!(self.0, INSERT, deliveries.as_str(), now.millis())?;
        Ok(())
    }

    /// Locks webhooks and stores their health: healthy, or failing since the first of the failures in a row.
    pub(crate) async fn mark(mut self, vitals: &[Vital<'_>]) -> Result<(), Error> {
        let now = self.0.now();
        let all = rows(vitals.iter().map(|vital| [vital.webhook.as_str()]))?;
        let failing = rows(vitals.iter().filter(|vital| vital.is_failing).map(|vital| [vital.webhook.as_str()]))?;
        execute_of!(self.0, MARK, all.as_str(), failing.as_str(), now.millis())?;
        Ok(())
    }

    /// Records the results of attempts, each unless the delivery was cancelled or claimed again in the meantime.
    pub(crate) async fn record(mut self, attempts: impl IntoIterator<Item = Judged<'_>>) -> Result<(), Error> {
        let now = self.0.now();
        let attempts = rows(attempts.into_iter().map(|Judged { claim, attempted }| {
            let Attempted { status, next_attempt_at, made } = attempted;
            let (error, next) = (made.error.map(DeliveryError::as_str), next_attempt_at.map(Timestamp::millis));
            (claim.id.as_str(), claim.attempt, status.as_str(), made.status_code, error, next, attempt_log::line(&made))
        }))?;
        execute_of!(self.0, RECORD, attempts.as_str(), now.millis())?;
        Ok(())
    }

    /// Gives claims back, each unless the delivery was cancelled or claimed again in the meantime. Their webhooks are held.
    pub(crate) async fn give_back(mut self, claims: impl IntoIterator<Item = &ClaimedDelivery>) -> Result<(), Error> {
        let now = self.0.now();
        let claims = rows(claims.into_iter().map(|claim| (claim.id.as_str(), claim.attempt, claim.lease_until.millis())))?;
        execute_of!(self.0, GIVE_BACK, claims.as_str(), now.millis())?;
        Ok(())
    }
}

impl HeldRow {
    fn webhook(self) -> Result<Webhook, Error> {
        let Self { id, org_id, url, events, description, status, failing_since, created_by, created_at, .. } = self;
        WebhookRow { id, org_id, url, events, description, status, failing_since, created_by, created_at }.try_into()
    }
}

#[cfg(all(test, feature = "testing", feature = "sqlite"))]
mod tests {
    use std::{net::Ipv4Addr, time::Duration};

    use super::*;
    use crate::{
        model::{DeliveryAttempt, DeliveryStatus},
        testing::TestAuth,
        webhooks::NewWebhook,
    };

    /// By whoever had no answer to the first COMMIT.
    #[tokio::test]
    async fn an_outcome_that_is_recorded_twice_is_one_attempt() {
        let test = TestAuth::new().await;
        test.resolver.answer("hooks.acme.example", [Ipv4Addr::new(93, 184, 216, 34).into()]);
        let admin = test.org_admin().await;
        let events = EventSelection::parse(&["invite.*"]).expect("kinds there are");
        let new = NewWebhook { url: "https://hooks.acme.example/inbox".to_owned(), events, description: Default::default() };
        let webhook = admin.create_webhook(new).await.expect("a public target").webhook.id;
        let delivery = admin.test_webhook(&webhook).await.expect("it is active");
        let mut tx = test.auth.begin().await.expect("the writer");
        let (now, second) = (tx.now(), Duration::from_secs(1));
        let claim = tx.delivery_queue().claim(&webhook, now.plus(second), 1).await.expect("an answer").remove(0);
        let first = DeliveryAttempt { at: now, status_code: Some(503), error: Some(DeliveryError::Status), took: second };
        let later = DeliveryAttempt { at: now.plus(second), ..first };
        for made in [first, first, later, later] {
            let attempted = Attempted { status: DeliveryStatus::Pending, next_attempt_at: Some(now.plus(second)), made };
            tx.delivery_queue().record([Judged { claim: &claim, attempted }]).await.expect("an answer");
        }
        tx.commit().await.expect("commits");
        assert_eq!(admin.delivery(&webhook, &delivery).await.expect("it is there").attempt_log, [first, later]);
    }
}
