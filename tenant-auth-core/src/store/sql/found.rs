//! The rows of lookups, decoded: what was found, beside the number of its question and the incarnation of the database that answered.

use std::sync::Arc;

use super::{
    api_keys, deployment_keys,
    live_session::{self, Witnessed},
};
use crate::{
    error::Error,
    id::{Id, KeyId},
    model::{Organization, Scope},
    secret::Digest,
    store::{
        Asked, DeploymentReach, KeyRecord, LiveSession, Reach,
        gathering::Numbered,
        row::{FromRow, Row},
    },
    time::Timestamp,
};

/// The rows of a lookup, and how what they found is decoded.
macro_rules! rows {
    ($($(#[$meta:meta])* $name:ident: $found:ty = $decode:path;)*) => { $(
        $(#[$meta])*
        pub(super) struct $name(pub(super) Numbered<Witnessed<$found>>);

        impl FromRow for $name {
            fn from_row(row: &Row) -> Result<Self, Error> {
                Ok(Self((row.get("number")?, witnessed(row, $decode))))
            }
        }
    )* };
}

/// What was found, with the incarnation. What cannot be read of a row is a failure of its question alone.
fn witnessed<T>(row: &Row, decode: fn(&Row) -> Result<T, Error>) -> Result<Witnessed<T>, Error> {
    Ok(Witnessed { value: decode(row)?, incarnation: row.get("incarnation")? })
}

rows! {
    /// An organization's key and what it asks about.
    FoundApiKey: Asked = of_api_key;
    /// A deployment key and what it asks about.
    FoundDeploymentKey: Asked = of_deployment_key;
    /// A live session.
    FoundSession: LiveSession = LiveSession::from_row;
}

fn of_api_key(row: &Row) -> Result<Asked, Error> {
    let org = Arc::new(live_session::organization(row)?);
    let (id, scopes) = (KeyId::ApiKey(Id::from_stored(row.get::<String>("k_id")?)), row.get::<String>("k_scopes")?);
    let kept = Kept { id, scopes: api_keys::scopes_from(&scopes), reach: Reach::Organization(Arc::clone(&org)) };
    asked(row, kept, Some(org))
}

fn of_deployment_key(row: &Row) -> Result<Asked, Error> {
    let is_one_named = row.get::<Option<String>>("o_id")?.is_some();
    let org = is_one_named.then(|| live_session::organization(row)).transpose()?.map(Arc::new);
    let id = KeyId::DeploymentKey(Id::from_stored(row.get::<String>("k_id")?));
    let scopes = deployment_keys::scopes_from(&row.get::<String>("k_scopes")?);
    let networks = deployment_keys::networks_from(&row.get::<String>("k_networks")?);
    let of_backend = scopes.iter().filter_map(|scope| scope.of_backend()).collect();
    let kept = Kept { id, scopes: of_backend, reach: Reach::Deployment(DeploymentReach { scopes, networks }) };
    asked(row, kept, org)
}

/// What every key's row has, beside what its kind has.
fn asked(row: &Row, kept: Kept, org: Option<Arc<Organization>>) -> Result<Asked, Error> {
    let is_alive = row.get::<Option<String>>("u_id")?.is_some();
    let live = match &org {
        Some(org) if is_alive => Some(live_session::decode(row, Arc::clone(org))?),
        _ => None,
    };
    let time = |column: &'static str| Ok::<_, Error>(row.get::<Option<i64>>(column)?.map(Timestamp::from_millis));
    let Kept { id, scopes, reach } = kept;
    let digest = Digest::from_stored(row.get::<String>("k_digest")?);
    let key = KeyRecord { id, digest, scopes, expires_at: time("k_expires_at")?, last_used_at: time("k_last_used_at")?, reach };
    Ok(Asked { key, org, live })
}

/// What differs between the kinds of keys.
struct Kept {
    id: KeyId,
    scopes: Vec<Scope>,
    reach: Reach,
}
