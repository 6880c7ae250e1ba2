//! `/keys/leaked`: where secret scanners report API keys that they found in public.

use serde::Deserialize;
use utoipa::{
    PartialSchema, ToSchema,
    openapi::{OneOfBuilder, Ref, RefOr, Schema},
};

use super::Outsider;
use crate::{
    http::{
        answer::{Message, Outcome, done},
        input::Json,
        refusal::Refusal,
    },
    secret::ApiKeyText,
};

/// How many keys a report may name.
const MOST: usize = 100;

/// One key, or several.
#[derive(Deserialize)]
pub(crate) struct LeakedKeysRequest {
    key: Option<String>,
    keys: Option<Vec<String>>,
}

/// A report of one key, as the document describes it.
#[derive(ToSchema)]
#[schema(as = OneLeakedKey)]
#[expect(dead_code, reason = "describes a body; the request type reads it")]
struct OneKey {
    key: String,
}

/// A report of several keys.
#[derive(ToSchema)]
#[schema(as = SeveralLeakedKeys)]
#[expect(dead_code, reason = "describes a body; the request type reads it")]
struct SeveralKeys {
    #[schema(max_items = 100)]
    keys: Vec<String>,
}

impl PartialSchema for LeakedKeysRequest {
    fn schema() -> RefOr<Schema> {
        let either = [OneKey::name(), SeveralKeys::name()].map(Ref::from_schema_name);
        either.into_iter().fold(OneOfBuilder::new(), OneOfBuilder::item).into()
    }
}

impl ToSchema for LeakedKeysRequest {
    fn schemas(schemas: &mut Vec<(String, RefOr<Schema>)>) {
        schemas.push((OneKey::name().into_owned(), OneKey::schema()));
        schemas.push((SeveralKeys::name().into_owned(), SeveralKeys::schema()));
    }
}

impl LeakedKeysRequest {
    fn shown(self) -> Result<Vec<ApiKeyText>, Refusal> {
        let keys = match (self.key, self.keys) {
            (Some(key), None) => vec![key],
            (None, Some(keys)) => keys,
            (None, None) => return Err(Refusal::invalid("key", "is required where there are no keys")),
            (Some(_), Some(_)) => return Err(Refusal::invalid("keys", "must not stand beside key")),
        };
        if keys.len() > MOST {
            return Err(Refusal::invalid("keys", "must name at most 100 keys"));
        }
        Ok(keys.into_iter().map(ApiKeyText::new).collect())
    }
}

pub(crate) async fn report(outsider: Outsider, Json(request): Json<LeakedKeysRequest>) -> Outcome<Message> {
    let Outsider { auth, client } = outsider;
    let shown = request.shown()?;
    let live = auth.revoke_reported_keys(&shown, &client).await?;
    // Only now: a live key dies however many false ones were reported with it, or before.
    let mut limit = None;
    for (key, _) in shown.iter().zip(&live).filter(|(_, live)| live.is_none()) {
        limit = auth.count_false_report(key, &client).err().or(limit);
    }
    match limit {
        Some(limited) => Err(limited.into()),
        None => Ok(done("The report was received. Each live key in it is revoked.")),
    }
}
