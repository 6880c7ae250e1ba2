//! Webhook subscriptions: how an org_admin lists, creates, changes and deletes webhooks and rotates their secrets. URLs are vetted
//! before anything is stored. Every change happens under the lock of the organization, so that no two changes of one webhook
//! interleave.

use std::time::Duration;

use super::{SigningSecret, ending, secrets};
use crate::{
    caller::{OrgAdmin, OrgWrite},
    error::{Error, InvalidValue, Thing},
    event::{EventKind, WebhookLifeData},
    id::WebhookId,
    mail::{self, Letter},
    model::{EventSelection, Webhook, WebhookStatus},
    page::{List, Page},
    throttle::ADMIN_CHANGES,
    time::Timestamp,
    value::{Description, SearchText, WebhookUrl},
};

/// The longest time a rotated secret signs beside its successor: 30 days.
const LONGEST_OVERLAP: Duration = Duration::from_secs(30 * 24 * 3_600);

/// The values of a webhook to create.
#[derive(Debug, Clone)]
pub struct NewWebhook {
    /// Where deliveries are sent; vetted when the webhook is made, and again before each attempt.
    pub url: String,
    /// The kinds of events the webhook gets.
    pub events: EventSelection,
    /// For people to tell webhooks apart.
    pub description: Description,
}

/// A created webhook and its secret, which is shown only here.
#[derive(Debug)]
#[non_exhaustive]
pub struct CreatedWebhook {
    /// The webhook as it is stored.
    pub webhook: Webhook,
    /// The secret that signs the webhook's deliveries.
    pub secret: SigningSecret,
}

/// A partial update of a webhook; `None` keeps a value.
#[derive(Debug, Clone, Default)]
pub struct WebhookUpdate {
    /// Where deliveries are sent; deliveries that still wait go to the new URL, too.
    pub url: Option<String>,
    /// The kinds of events the webhook gets from now on.
    pub events: Option<EventSelection>,
    /// For people to tell webhooks apart.
    pub description: Option<Description>,
    /// Disabling cancels the deliveries that still wait.
    pub status: Option<WebhookStatus>,
}

impl OrgAdmin {
    /// The webhooks, oldest first.
    ///
    /// # Errors
    /// [`Error::Unavailable`].
    pub async fn webhooks(&self, page: &Page) -> Result<List<Webhook>, Error> {
        self.webhooks_like(None, page).await
    }

    /// The webhooks whose URL or description has this in it, oldest first.
    ///
    /// # Errors
    /// [`Error::Invalid`] for a cursor of another search or order.
    pub async fn webhooks_like(&self, search: Option<&SearchText>, page: &Page) -> Result<List<Webhook>, Error> {
        let mut reading = page.reading(&["webhooks", self.org_id().as_str(), search.map_or("", SearchText::as_str)])?;
        let mut reader = self.auth().store().read().await?;
        while let Some(bounds) = reading.wants_to_choose(search.is_some()) {
            let webhooks = reader.webhooks().list(self.org_id(), &bounds).await?;
            let is_meant = |text: &SearchText, one: &Webhook| text.is_in(one.url.as_str()) || text.is_in(one.description.as_str());
            reading.take_those(webhooks, |one| search.is_none_or(|text| is_meant(text, one)));
        }
        Ok(reading.finish())
    }

    /// One webhook.
    ///
    /// # Errors
    /// [`Error::NotFound`].
    pub async fn webhook(&self, id: &WebhookId) -> Result<Webhook, Error> {
        let webhook = self.auth().store().read().await?.webhooks().find(self.org_id(), id).await?;
        webhook.ok_or(Error::NotFound(Thing::Webhook))
    }

    /// Creates a webhook; the org_admins are told by mail.
    ///
    /// # Errors
    /// [`Error::Invalid`] for a URL deliveries may not go to; [`Error::LimitReached`]; [`Error::RateLimited`].
    pub async fn create_webhook(&self, new: NewWebhook) -> Result<CreatedWebhook, Error> {
        let auth = self.auth();
        let limit = auth.config().organizations.max_webhooks;
        let reached =
            |count: i64| if count >= i64::from(limit) { Err(Error::LimitReached { what: Thing::Webhook, limit }) } else { Ok(()) };
        auth.targets().expect_url(&new.url)?;
        reached(auth.store().read().await?.webhooks().count(self.org_id()).await?)?;
        let url = self.admit_target(&new.url).await?;
        let mut write = ADMIN_CHANGES.begin_write_of(self).await?;
        reached(write.webhooks().count(self.org_id()).await?)?;
        let webhook = Webhook {
            id: write.new_id(),
            org_id: self.org_id().clone(),
            url,
            events: new.events,
            description: new.description,
            status: WebhookStatus::Active,
            created_by: write.author.user().map(|user| user.id.clone()),
            created_at: write.now(),
            failing_since: None,
        };
        let now = write.now();
        write.webhooks().insert(&webhook).await?;
        let (secret, sealed) = secrets::make(&write, &webhook)?;
        write.webhooks().add_secret(&webhook, &sealed, now).await?;
        write.push(EventKind::WebhookCreated, &WebhookLifeData::of(&webhook))?;
        tell_of(&webhook, &mut write).await?;
        write.commit().await?;
        Ok(CreatedWebhook { webhook, secret })
    }

    /// Changes a webhook. Enabling a webhook forgets its failures; disabling cancels its pending deliveries: none is sent from now on, and
    /// of a long backlog some is cancelled by the worker.
    ///
    /// # Errors
    /// [`Error::NotFound`]; [`Error::Invalid`] for a URL deliveries may not go to; [`Error::RateLimited`]; [`Error::Unavailable`], also
    /// when it is enabled before all that disabling it cancels was.
    pub async fn update_webhook(&self, id: &WebhookId, update: WebhookUpdate) -> Result<Webhook, Error> {
        let url = match &update.url {
            Some(text) => Some(self.admit_target(text).await?),
            None => None,
        };
        if update.status == Some(WebhookStatus::Active) {
            ending::finish_cancelling(self.auth(), self.org_id(), id).await?;
        }
        let mut write = ADMIN_CHANGES.begin_write_of(self).await?;
        // A worker writes the webhook's health (`failing_since`). The row is held so that this update does not overwrite it.
        let mut webhook = write.webhooks().hold(self.org_id(), id).await?.ok_or(Error::NotFound(Thing::Webhook))?;
        let previous = webhook.clone();
        let moved = url.as_ref().is_some_and(|url| *url != webhook.url);
        webhook.url = url.unwrap_or(webhook.url);
        webhook.events = update.events.unwrap_or(webhook.events);
        webhook.description = update.description.unwrap_or(webhook.description);
        webhook.status = update.status.unwrap_or(webhook.status);
        if moved || webhook.status != previous.status {
            webhook.failing_since = None;
        }
        write.webhooks().update(&webhook).await?;
        if shown(&webhook) != shown(&previous) {
            write.push(EventKind::WebhookUpdated, &WebhookLifeData::changed(&webhook, &previous))?;
        }
        match (previous.status, webhook.status) {
            (_, WebhookStatus::Disabled) => ending::cancel_pending(&mut write.tx, &webhook).await?,
            (WebhookStatus::Disabled, WebhookStatus::Active) => ending::cancel_rest(&mut write.tx, &webhook).await?,
            (WebhookStatus::Active, WebhookStatus::Active) => {}
        }
        if moved {
            tell_of(&webhook, &mut write).await?;
        }
        write.commit().await?;
        Ok(webhook)
    }

    /// Deletes a webhook with its deliveries. It is unknown from now on; of a long log some is deleted by the worker.
    ///
    /// # Errors
    /// [`Error::NotFound`].
    pub async fn delete_webhook(&self, id: &WebhookId) -> Result<(), Error> {
        let mut write = self.begin_write().await?;
        let webhook = write.webhooks().hold(self.org_id(), id).await?.ok_or(Error::NotFound(Thing::Webhook))?;
        write.push(EventKind::WebhookDeleted, &WebhookLifeData::of(&webhook))?;
        ending::delete(&mut write.tx, &webhook).await?;
        write.commit().await
    }

    /// Rotates a webhook's secret. The current secret signs beside the new one for `overlap`; a secret that was rotated away
    /// earlier stops signing now.
    ///
    /// # Errors
    /// [`Error::NotFound`]; [`Error::Invalid`] for an overlap beyond 30 days; [`Error::RateLimited`].
    pub async fn rotate_webhook_secret(&self, id: &WebhookId, overlap: Duration) -> Result<SigningSecret, Error> {
        if overlap > LONGEST_OVERLAP {
            return Err(InvalidValue::OverlapTooLong { longest: LONGEST_OVERLAP }.into());
        }
        let mut write = ADMIN_CHANGES.begin_write_of(self).await?;
        let webhook = write.webhooks().find(self.org_id(), id).await?.ok_or(Error::NotFound(Thing::Webhook))?;
        let (secret, sealed) = secrets::make(&write, &webhook)?;
        let former_until: Timestamp = write.now().plus(overlap);
        write.webhooks().add_secret(&webhook, &sealed, former_until).await?;
        write.push(EventKind::WebhookSecretRotated, &WebhookLifeData::of(&webhook))?;
        write.commit().await?;
        Ok(secret)
    }

    /// Vets a URL, in the organization's place for lookups.
    async fn admit_target(&self, text: &str) -> Result<WebhookUrl, Error> {
        let auth = self.auth();
        let _turn = auth.name_lookups().turn(self.org_id()).await?;
        auth.targets().admit(text, auth.resolver()).await
    }
}

/// What an update may change.
fn shown(webhook: &Webhook) -> (&WebhookUrl, &EventSelection, &Description, WebhookStatus) {
    (&webhook.url, &webhook.events, &webhook.description, webhook.status)
}

/// Tells the org_admins by mail to which host events are sent from now on.
async fn tell_of(webhook: &Webhook, write: &mut OrgWrite) -> Result<(), Error> {
    let host = webhook.url.host().to_string();
    let notice = Letter::NewWebhook { organization: &write.org.name, host: &host };
    mail::tell_admins_of_deed(&mut write.tx, &write.org.id, &write.author, &notice).await
}
