//! The delivery log, test deliveries and redelivery, for an org_admin.

use std::time::Duration;

use crate::{
    caller::OrgAdmin,
    error::{Error, Thing},
    event::{EventKind, WebhookData},
    id::{DeliveryId, WebhookId},
    model::{Delivery, DeliveryDetails, DeliveryStatus, Webhook, WebhookStatus},
    page::{List, Page},
    store::{Event, NewDelivery, Tx},
    throttle::{REDELIVERIES, TEST_DELIVERIES},
};

/// Test deliveries a webhook gets in an hour at most.
const TESTS_PER_HOUR: u32 = 60;
const HOUR: Duration = Duration::from_secs(3_600);

impl OrgAdmin {
    /// A webhook's deliveries of the last 30 days: all, or those of one status.
    ///
    /// # Errors
    /// [`Error::NotFound`]; [`Error::Invalid`] for a cursor of another list, filter or order.
    pub async fn deliveries(&self, id: &WebhookId, status: Option<DeliveryStatus>, page: &Page) -> Result<List<Delivery>, Error> {
        let known = self.auth().store().read().await?.webhooks().find(self.org_id(), id).await?;
        known.ok_or(Error::NotFound(Thing::Webhook))?;
        let mut reading = page.reading(&["deliveries", id.as_str(), status.map_or("", DeliveryStatus::as_str)])?;
        let _turn = if status.is_some() { Some(self.auth().long_reads().turn(self.org_id()).await?) } else { None };
        let mut reader = self.auth().store().read().await?;
        while let Some(bounds) = reading.wants() {
            reading.take(reader.deliveries().list(self.org_id(), id, status, &bounds).await?);
        }
        Ok(reading.finish())
    }

    /// One delivery, with the body that it sends and what came of each attempt.
    ///
    /// # Errors
    /// [`Error::NotFound`].
    pub async fn delivery(&self, webhook: &WebhookId, id: &DeliveryId) -> Result<DeliveryDetails, Error> {
        let mut reader = self.auth().store().read().await?;
        reader.webhooks().find(self.org_id(), webhook).await?.ok_or(Error::NotFound(Thing::Webhook))?;
        reader.deliveries().details(self.org_id(), webhook, id).await?.ok_or(Error::NotFound(Thing::Delivery))
    }

    /// Sends a `webhook.test` event to one webhook, also when the webhook did not select that kind of event.
    ///
    /// # Errors
    /// [`Error::NotFound`]; [`Error::WebhookDisabled`]; [`Error::RateLimited`] beyond 60 in an hour, and beyond 600 in the organization.
    pub async fn test_webhook(&self, id: &WebhookId) -> Result<DeliveryId, Error> {
        TEST_DELIVERIES.refuse_spent_in_organization(self).await?;
        let mut write = self.begin_write().await?;
        let webhook = enabled(&mut write.tx, self, id).await?;
        // The organization's row is locked by `begin_write`, so two requests cannot both pass this count.
        let since = write.now().minus(HOUR);
        if let Some(oldest) = write.deliveries().nth_latest_test(self.org_id(), id, since, TESTS_PER_HOUR).await? {
            return Err(Error::rate_limited(oldest.plus(HOUR).since(write.now()).min(HOUR)));
        }
        TEST_DELIVERIES.spend_in_organization(&mut write, 1).await?;
        let delivery: DeliveryId = write.new_id();
        let data = WebhookData::of(&webhook);
        let event = Event::new(EventKind::WebhookTest, &write.org, write.author.actor(), &data)?;
        write.tx.push(event.only_to(&webhook.id, &delivery));
        write.commit().await?;
        Ok(delivery)
    }

    /// Redelivers: sends the event of a delivery again as a new delivery with the same `webhook-id`. The state of the first
    /// delivery does not matter.
    ///
    /// # Errors
    /// [`Error::NotFound`]; [`Error::WebhookDisabled`]; [`Error::RateLimited`] beyond 600 in an hour in the organization.
    pub async fn redeliver(&self, id: &WebhookId, delivery: &DeliveryId) -> Result<DeliveryId, Error> {
        REDELIVERIES.refuse_spent_in_organization(self).await?;
        let mut write = self.begin_write().await?;
        let webhook = enabled(&mut write.tx, self, id).await?;
        let former = write.deliveries().find(self.org_id(), id, delivery).await?.ok_or(Error::NotFound(Thing::Delivery))?;
        REDELIVERIES.spend_in_organization(&mut write, 1).await?;
        let again: DeliveryId = write.new_id();
        let new = NewDelivery {
            id: &again,
            org_id: self.org_id(),
            webhook_id: &webhook.id,
            event_id: &former.event_id,
            event_kind: &former.event,
        };
        if !write.deliveries().insert_again(&new).await? {
            return Err(Error::NotFound(Thing::Delivery));
        }
        write.commit().await?;
        Ok(again)
    }
}

async fn enabled(tx: &mut Tx, admin: &OrgAdmin, id: &WebhookId) -> Result<Webhook, Error> {
    let webhook = tx.webhooks().find(admin.org_id(), id).await?.ok_or(Error::NotFound(Thing::Webhook))?;
    if webhook.status == WebhookStatus::Active { Ok(webhook) } else { Err(Error::WebhookDisabled) }
}
