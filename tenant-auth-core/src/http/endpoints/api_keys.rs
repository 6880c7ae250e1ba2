//! `/org/api-keys`.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::{
    backend::{CreatedApiKey, NewApiKey},
    caller::OrgAdmin,
    http::{
        answer::{Message, Outcome, done},
        input::{Json, OptionalJson, Path, whole_number},
        listing::Listing,
        query::SearchQuery,
    },
    id::ApiKeyId,
    model::Scope,
    time::Timestamp,
    value::DisplayName,
    view::ApiKeyView,
};

pub(crate) async fn list(admin: OrgAdmin, query: SearchQuery) -> Outcome<Listing<ApiKeyView>> {
    Ok(admin.api_keys_like(query.search.as_ref(), &query.page).await?.into())
}

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct CreateApiKeyRequest {
    name: DisplayName,
    #[schema(min_items = 1)]
    scopes: Option<Vec<Scope>>,
    #[schema(value_type = Option<String>, format = DateTime)]
    expires_at: Option<Timestamp>,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct CreatedApiKeyData {
    api_key: ApiKeyView,
    #[schema(pattern = "^pk_live_[A-Za-z0-9_-]+$")]
    key: String,
}

impl From<CreatedApiKey> for CreatedApiKeyData {
    fn from(created: CreatedApiKey) -> Self {
        Self { key: created.key.expose().to_owned(), api_key: (&created.api_key).into() }
    }
}

pub(crate) async fn create(admin: OrgAdmin, Json(request): Json<CreateApiKeyRequest>) -> Outcome<CreatedApiKeyData> {
    let new = NewApiKey {
        name: request.name,
        scopes: request.scopes.unwrap_or_else(NewApiKey::default_scopes),
        expires_at: request.expires_at,
    };
    Ok(CreatedApiKeyData::from(admin.create_api_key(new).await?).into())
}

#[derive(Default, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RotateRequest {
    #[serde(default, deserialize_with = "whole_number")]
    #[schema(minimum = 0, maximum = 2_592_000)]
    overlap_seconds: Option<u32>,
}

/// A day, to deploy the successor in.
const DEFAULT_OVERLAP: u32 = 86_400;

type Rotating = (Path<ApiKeyId>, OptionalJson<RotateRequest>);

pub(crate) async fn rotate(admin: OrgAdmin, (Path(id), OptionalJson(request)): Rotating) -> Outcome<CreatedApiKeyData> {
    let overlap = Duration::from_secs(request.overlap_seconds.unwrap_or(DEFAULT_OVERLAP).into());
    Ok(CreatedApiKeyData::from(admin.rotate_api_key(&id, overlap).await?).into())
}

pub(crate) async fn revoke(admin: OrgAdmin, Path(id): Path<ApiKeyId>) -> Outcome<Message> {
    admin.revoke_api_key(&id).await?;
    Ok(done("The API key was revoked."))
}
