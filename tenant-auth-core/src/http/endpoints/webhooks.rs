//! `/org/webhooks`.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::{
    caller::OrgAdmin,
    http::{
        answer::{Message, Outcome, done},
        input::{Json, OptionalJson, Path, Paths, patch, whole_number},
        listing::Listing,
        query::{DeliveriesQuery, SearchQuery},
    },
    id::{DeliveryId, WebhookId},
    model::{EventSelection, WebhookStatus},
    org::Patch,
    value::{Description, WebhookUrl},
    view::{DeliveryDetailsView, DeliveryView, WebhookView},
    webhooks::{NewWebhook, WebhookUpdate},
};

pub(crate) async fn list(admin: OrgAdmin, query: SearchQuery) -> Outcome<Listing<WebhookView>> {
    Ok(admin.webhooks_like(query.search.as_ref(), &query.page).await?.into())
}

#[derive(Serialize, ToSchema)]
pub(crate) struct WebhookData {
    webhook: WebhookView,
}

pub(crate) async fn get(admin: OrgAdmin, Path(id): Path<WebhookId>) -> Outcome<WebhookData> {
    Ok(WebhookData { webhook: (&admin.webhook(&id).await?).into() }.into())
}

#[derive(Deserialize, ToSchema)]
pub(crate) struct CreateWebhookRequest {
    #[schema(value_type = WebhookUrl)]
    url: String,
    events: EventSelection,
    description: Option<Description>,
}

#[derive(Serialize, ToSchema)]
pub(crate) struct CreatedWebhookData {
    webhook: WebhookView,
    #[schema(pattern = "^whs_[A-Za-z0-9+/]{43}=$")]
    secret: String,
}

pub(crate) async fn create(admin: OrgAdmin, Json(request): Json<CreateWebhookRequest>) -> Outcome<CreatedWebhookData> {
    let CreateWebhookRequest { url, events, description } = request;
    let created = admin.create_webhook(NewWebhook { url, events, description: description.unwrap_or_default() }).await?;
    let secret = created.secret.expose().to_string();
    Ok(CreatedWebhookData { webhook: (&created.webhook).into(), secret }.into())
}

#[derive(Deserialize, ToSchema)]
pub(crate) struct UpdateWebhookRequest {
    #[schema(value_type = Option<WebhookUrl>)]
    url: Option<String>,
    events: Option<EventSelection>,
    #[serde(default, deserialize_with = "patch")]
    #[schema(value_type = Option<Description>)]
    description: Patch<Description>,
    status: Option<WebhookStatus>,
}

type Updating = (Path<WebhookId>, Json<UpdateWebhookRequest>);

pub(crate) async fn update(admin: OrgAdmin, (Path(id), Json(request)): Updating) -> Outcome<WebhookData> {
    let description = match request.description {
        Patch::Keep => None,
        Patch::Clear => Some(Description::default()),
        Patch::Set(description) => Some(description),
    };
    let update = WebhookUpdate { url: request.url, events: request.events, description, status: request.status };
    Ok(WebhookData { webhook: (&admin.update_webhook(&id, update).await?).into() }.into())
}

pub(crate) async fn delete(admin: OrgAdmin, Path(id): Path<WebhookId>) -> Outcome<Message> {
    admin.delete_webhook(&id).await?;
    Ok(done("The webhook was deleted."))
}

#[derive(Serialize, ToSchema)]
pub(crate) struct AcceptedData {
    delivery: AcceptedDelivery,
}

/// A delivery that is on its way; the log tells the rest.
#[derive(Serialize, ToSchema)]
struct AcceptedDelivery {
    id: DeliveryId,
}

impl From<DeliveryId> for AcceptedData {
    fn from(id: DeliveryId) -> Self {
        Self { delivery: AcceptedDelivery { id } }
    }
}

pub(crate) async fn test(admin: OrgAdmin, Path(id): Path<WebhookId>) -> Outcome<AcceptedData> {
    Ok(AcceptedData::from(admin.test_webhook(&id).await?).into())
}

#[derive(Default, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RotateSecretRequest {
    #[serde(default, deserialize_with = "whole_number")]
    #[schema(minimum = 0, maximum = 2_592_000)]
    overlap_seconds: Option<u32>,
}

/// A day, to give every receiver the new secret in.
const DEFAULT_OVERLAP: u32 = 86_400;

#[derive(Serialize, ToSchema)]
pub(crate) struct SecretData {
    #[schema(pattern = "^whs_[A-Za-z0-9+/]{43}=$")]
    secret: String,
}

type RotatingSecret = (Path<WebhookId>, OptionalJson<RotateSecretRequest>);

pub(crate) async fn rotate_secret(admin: OrgAdmin, (Path(id), OptionalJson(request)): RotatingSecret) -> Outcome<SecretData> {
    let overlap = Duration::from_secs(request.overlap_seconds.unwrap_or(DEFAULT_OVERLAP).into());
    let secret = admin.rotate_webhook_secret(&id, overlap).await?;
    Ok(SecretData { secret: secret.expose().to_string() }.into())
}

pub(crate) async fn deliveries(
    admin: OrgAdmin,
    (Path(id), query): (Path<WebhookId>, DeliveriesQuery),
) -> Outcome<Listing<DeliveryView>> {
    Ok(admin.deliveries(&id, query.status, &query.page).await?.into())
}

#[derive(Serialize, ToSchema)]
pub(crate) struct DeliveryData {
    delivery: DeliveryDetailsView,
}

pub(crate) async fn delivery(admin: OrgAdmin, Paths(id, delivery): Paths<WebhookId, DeliveryId>) -> Outcome<DeliveryData> {
    Ok(DeliveryData { delivery: (&admin.delivery(&id, &delivery).await?).into() }.into())
}

pub(crate) async fn redeliver(admin: OrgAdmin, Paths(id, delivery): Paths<WebhookId, DeliveryId>) -> Outcome<AcceptedData> {
    Ok(AcceptedData::from(admin.redeliver(&id, &delivery).await?).into())
}
