//! Webhooks and their signing secrets. Changes to a webhook happen under the lock of its organization; only the webhook's health is
//! written by a worker. Lock order: a transaction that changes deliveries locks their webhook first, and several webhooks in the
//! order of their ids, because deliveries themselves are locked in no order.
//!
//! Two statuses are of the database alone. `cancelling`: disabled, with deliveries that are still to be cancelled. `deleted`: unknown to
//! everybody, with deliveries that are still to be deleted before it. Former versions take both for disabled.

use crate::{
    error::Error,
    id::{Id, OrgId, WebhookId},
    model::{EventSelection, Webhook, WebhookStatus},
    page::Bounds,
    store::{
        Link, Tx,
        dialect::{execute, fetch_all, fetch_batch, fetch_optional, fetch_scalar, row, statements},
        sql::corrupt,
    },
    time::Timestamp,
    value::{Description, WebhookUrl},
};

pub(crate) struct Webhooks<L>(pub(in crate::store) L);

/// What is left to do at a webhook that was disabled or deleted with more deliveries than one transaction takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ending {
    /// Deliveries to cancel.
    Cancelling,
    /// Deliveries to delete, and then the webhook.
    Deleted,
}

impl Ending {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Cancelling => "cancelling",
            Self::Deleted => "deleted",
        }
    }
}

/// A webhook that waits for its end.
#[derive(Debug, Clone)]
pub(crate) struct EndingWebhook {
    pub(crate) id: WebhookId,
    pub(crate) org_id: OrgId,
    pub(crate) ending: Ending,
}

/// A sealed signing secret.
#[derive(Debug)]
pub(crate) struct SealedSecret {
    pub(crate) id: String,
    pub(crate) sealed: String,
}

statements! {
    LIST = "
        SELECT id, org_id, url, events, description, status, failing_since, created_by, created_at
          FROM tenant_auth_webhooks
         WHERE org_id = $4 AND (created_at, id) > ($1, $2) AND status <> 'deleted'
         ORDER BY created_at, id
         LIMIT $3";
    LIST_DESCENDING = "
        SELECT id, org_id, url, events, description, status, failing_since, created_by, created_at
          FROM tenant_auth_webhooks
         WHERE org_id = $4 AND (created_at, id) < ($1, $2) AND status <> 'deleted'
         ORDER BY created_at DESC, id DESC
         LIMIT $3";
    FIND = "
        SELECT id, org_id, url, events, description, status, failing_since, created_by, created_at
          FROM tenant_auth_webhooks
         WHERE org_id = $1 AND id = $2 AND status <> 'deleted'";
    // A row lock in the SQL of both engines: it changes nothing. SQLite has no FOR UPDATE. An organization's own request names the
    // organization, so that it never locks another's row.
    HOLD = "
        UPDATE tenant_auth_webhooks
           SET failing_since = failing_since
         WHERE org_id = $1 AND id = $2 AND status <> 'deleted'
        RETURNING id, org_id, url, events, description, status, failing_since, created_by, created_at";
    COUNT = "SELECT COUNT(*) AS number FROM tenant_auth_webhooks WHERE org_id = $1 AND status <> 'deleted'";
    INSERT = "
        INSERT INTO tenant_auth_webhooks (id, org_id, url, events, description, status, created_by, created_at)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8)";
    UPDATE = "
        UPDATE tenant_auth_webhooks
           SET url = $3, events = $4, description = $5, status = $6, failing_since = $7
         WHERE org_id = $1 AND id = $2";
    DELETE = "DELETE FROM tenant_auth_webhooks WHERE org_id = $1 AND id = $2";
    LEAVE_CANCELLING = "UPDATE tenant_auth_webhooks SET status = 'cancelling' WHERE org_id = $1 AND id = $2 AND status = 'disabled'";
    END_CANCELLING = "UPDATE tenant_auth_webhooks SET status = 'disabled' WHERE org_id = $1 AND id = $2 AND status = 'cancelling'";
    LEAVE_DELETED = "UPDATE tenant_auth_webhooks SET status = 'deleted' WHERE org_id = $1 AND id = $2";
    ENDING = "
        SELECT id, org_id, status
          FROM tenant_auth_webhooks
         WHERE status IN ('cancelling', 'deleted')
         ORDER BY id
         LIMIT $1";
    // A row lock as above, of a webhook that nobody has enabled meanwhile.
    HOLD_ENDING = "UPDATE tenant_auth_webhooks SET status = status WHERE org_id = $1 AND id = $2 AND status = $3";
    INSERT_SECRET = "
        INSERT INTO tenant_auth_webhook_secrets (id, org_id, webhook_id, secret, created_at)
        VALUES ($1, $2, $3, $4, $5)";
    DELETE_FORMER_SECRETS = "
        DELETE FROM tenant_auth_webhook_secrets
         WHERE org_id = $1 AND webhook_id = $2 AND expires_at IS NOT NULL";
    EXPIRE_SECRET = "
        UPDATE tenant_auth_webhook_secrets
           SET expires_at = $3
         WHERE org_id = $1 AND webhook_id = $2";
}

row! { EndingRow { id: String, org_id: String, status: String, } }
row! {
    WebhookRow {
        id: String,
        org_id: String,
        url: String,
        events: String,
        description: String,
        status: String,
        failing_since: Option<i64>,
        created_by: Option<String>,
        created_at: i64,
    }
}

impl TryFrom<WebhookRow> for Webhook {
    type Error = Error;

    fn try_from(row: WebhookRow) -> Result<Self, Error> {
        Ok(Self {
            url: WebhookUrl::parse(&row.url).map_err(|_| corrupt("webhooks", "url", &row.id))?,
            id: Id::from_stored(row.id),
            org_id: Id::from_stored(row.org_id),
            // A selection that this version does not know matches no event.
            events: EventSelection::from_stored(&row.events),
            description: Description::from_stored(row.description),
            // One whose deliveries are being cancelled is disabled, and so is one whose status this version does not know.
            status: WebhookStatus::parse(&row.status).unwrap_or(WebhookStatus::Disabled),
            created_by: row.created_by.map(Id::from_stored),
            created_at: Timestamp::from_millis(row.created_at),
            failing_since: row.failing_since.map(Timestamp::from_millis),
        })
    }
}

impl<L: Link> Webhooks<L> {
    pub(crate) async fn list(mut self, org: &OrgId, bounds: &Bounds) -> Result<Vec<Webhook>, Error> {
        let rows = fetch_batch!(self.0, WebhookRow, LIST, LIST_DESCENDING, bounds, org.as_str())?;
        rows.into_iter().map(Webhook::try_from).collect()
    }

    pub(crate) async fn find(mut self, org: &OrgId, webhook: &WebhookId) -> Result<Option<Webhook>, Error> {
        fetch_optional!(self.0, WebhookRow, FIND, org.as_str(), webhook.as_str())?.map(Webhook::try_from).transpose()
    }

    pub(crate) async fn count(mut self, org: &OrgId) -> Result<i64, Error> {
        Ok(fetch_scalar!(self.0, i64, COUNT, org.as_str())?.unwrap_or(0))
    }

    /// Some webhooks of any organization that wait for their end. For workers.
    pub(crate) async fn ending(mut self, most: i64) -> Result<Vec<EndingWebhook>, Error> {
        Ok(fetch_all!(self.0, EndingRow, ENDING, most)?.into_iter().map(EndingWebhook::from).collect())
    }
}

impl From<EndingRow> for EndingWebhook {
    fn from(row: EndingRow) -> Self {
        let ending = if row.status == Ending::Deleted.as_str() { Ending::Deleted } else { Ending::Cancelling };
        Self { id: Id::from_stored(row.id), org_id: Id::from_stored(row.org_id), ending }
    }
}

impl Webhooks<&mut Tx> {
    pub(crate) async fn insert(mut self, webhook: &Webhook) -> Result<(), Error> {
        execute!(
            self.0,
            INSERT,
            webhook.id.as_str(),
            webhook.org_id.as_str(),
            webhook.url.as_str(),
            webhook.events.to_stored().as_str(),
            webhook.description.as_str(),
            webhook.status.as_str(),
            webhook.created_by.as_ref().map(Id::as_str),
            webhook.created_at.millis()
        )?;
        Ok(())
    }

    pub(crate) async fn update(mut self, webhook: &Webhook) -> Result<(), Error> {
        execute!(
            self.0,
            UPDATE,
            webhook.org_id.as_str(),
            webhook.id.as_str(),
            webhook.url.as_str(),
            webhook.events.to_stored().as_str(),
            webhook.description.as_str(),
            webhook.status.as_str(),
            webhook.failing_since.map(Timestamp::millis)
        )?;
        Ok(())
    }

    /// Deletes a webhook with its secrets, and with those of its deliveries that are left.
    pub(crate) async fn delete(mut self, org: &OrgId, webhook: &WebhookId) -> Result<(), Error> {
        execute!(self.0, DELETE, org.as_str(), webhook.as_str())?;
        Ok(())
    }

    /// Leaves deliveries of a disabled webhook for workers to cancel.
    pub(crate) async fn leave_cancelling(mut self, org: &OrgId, webhook: &WebhookId) -> Result<(), Error> {
        execute!(self.0, LEAVE_CANCELLING, org.as_str(), webhook.as_str())?;
        Ok(())
    }

    /// Says that none is left to cancel.
    pub(crate) async fn end_cancelling(mut self, org: &OrgId, webhook: &WebhookId) -> Result<(), Error> {
        execute!(self.0, END_CANCELLING, org.as_str(), webhook.as_str())?;
        Ok(())
    }

    /// Leaves a webhook for workers to delete, with its deliveries. From now on it is unknown.
    pub(crate) async fn leave_deleted(mut self, org: &OrgId, webhook: &WebhookId) -> Result<(), Error> {
        execute!(self.0, LEAVE_DELETED, org.as_str(), webhook.as_str())?;
        Ok(())
    }

    /// Locks the row of a webhook that waits for its end; `false` when it does not any more.
    pub(crate) async fn hold_ending(mut self, webhook: &EndingWebhook) -> Result<bool, Error> {
        let EndingWebhook { id, org_id, ending } = webhook;
        Ok(execute!(self.0, HOLD_ENDING, org_id.as_str(), id.as_str(), ending.as_str())? == 1)
    }

    /// Locks the row of an organization's webhook and reads it; `None` when the organization has no such webhook.
    pub(crate) async fn hold(mut self, org: &OrgId, webhook: &WebhookId) -> Result<Option<Webhook>, Error> {
        fetch_optional!(self.0, WebhookRow, HOLD, org.as_str(), webhook.as_str())?.map(Webhook::try_from).transpose()
    }

    /// Adds a secret that signs from now on. The secret before it signs beside it until `former_until`; older ones are deleted.
    pub(crate) async fn add_secret(
        mut self,
        webhook: &Webhook,
        secret: &SealedSecret,
        former_until: Timestamp,
    ) -> Result<(), Error> {
        let now = self.0.now();
        let (org, id) = (webhook.org_id.as_str(), webhook.id.as_str());
        execute!(self.0, DELETE_FORMER_SECRETS, org, id)?;
        execute!(self.0, EXPIRE_SECRET, org, id, former_until.millis())?;
        execute!(self.0, INSERT_SECRET, secret.id.as_str(), org, id, secret.sealed.as_str(), now.millis())?;
        Ok(())
    }
}
