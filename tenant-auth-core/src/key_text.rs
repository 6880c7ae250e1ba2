//! The text of a key, as far as it can be read without a database: which kind of key it shows, and which id. The rest is the secret.

use crate::{
    id::{ApiKeyId, DeploymentKeyId, Id, Kind},
    secret::ApiKeyText,
};

/// The beginning of the text of each organization's key.
pub(crate) const ORGANIZATION_PREFIX: &str = "pk_live_";
/// The beginning of each deployment key's text.
pub(crate) const DEPLOYMENT_PREFIX: &str = "dk_live_";
/// How many characters of an id stand in the text of a key.
const BODY: usize = 26;

/// The id in `pk_live_`, the id's body, the secret.
pub(crate) fn organization_key_id(text: &ApiKeyText) -> Option<ApiKeyId> {
    id_in(text, ORGANIZATION_PREFIX)
}

/// The id in `dk_live_`, the id's body, the secret.
pub(crate) fn deployment_key_id(text: &ApiKeyText) -> Option<DeploymentKeyId> {
    id_in(text, DEPLOYMENT_PREFIX)
}

fn id_in<K: Kind>(text: &ApiKeyText, prefix: &str) -> Option<Id<K>> {
    let body = text.expose().strip_prefix(prefix)?.get(..BODY)?;
    format!("{}{body}", K::PREFIX).parse().ok()
}
