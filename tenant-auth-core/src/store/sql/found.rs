//! The rows of lookups, decoded: what was found, beside the number of its question and the incarnation of the database that answered.

use std::sync::Arc;

use sqlx::{ColumnIndex, Decode, FromRow, Row, Type};

use super::{
    api_keys, deployment_keys,
    live_session::{self, Witnessed},
};
use crate::{
    error::Error,
    id::{Id, KeyId},
    model::{Organization, Scope},
    secret::Digest,
    store::{Asked, DeploymentReach, KeyRecord, LiveSession, Reach, gathering::Numbered},
    time::Timestamp,
};

/// Functions that decode a row of either engine; what cannot be read of a row is a failure of its question alone.
macro_rules! decoders {
    ($($(#[$meta:meta])* fn $name:ident($row:ident $(, $argument:ident: $type:ty)*) -> $found:ty $body:block)*) => { $(
        $(#[$meta])*
        fn $name<'r, R: Row>($row: &'r R $(, $argument: $type)*) -> sqlx::Result<Result<$found, Error>>
        where
            &'static str: ColumnIndex<R>,
            String: Decode<'r, R::Database> + Type<R::Database>,
            i64: Decode<'r, R::Database> + Type<R::Database>,
            bool: Decode<'r, R::Database> + Type<R::Database>,
        $body
    )* };
}

/// The rows of a lookup, and how what they found is decoded.
macro_rules! rows {
    ($($(#[$meta:meta])* $name:ident: $found:ty = $decode:ident;)*) => { $(
        $(#[$meta])*
        pub(super) struct $name(pub(super) Numbered<Witnessed<$found>>);

        impl<'r, R: Row> FromRow<'r, R> for $name
        where
            &'static str: ColumnIndex<R>,
            String: Decode<'r, R::Database> + Type<R::Database>,
            i64: Decode<'r, R::Database> + Type<R::Database>,
            bool: Decode<'r, R::Database> + Type<R::Database>,
        {
            fn from_row(row: &'r R) -> sqlx::Result<Self> {
                let found = || Ok($decode(row)?.map(|value| (value, row.try_get("incarnation"))));
                let found = found().unwrap_or_else(|error: sqlx::Error| Err(Error::internal(error)));
                let witnessed = found.and_then(|(value, incarnation)| {
                    Ok(Witnessed { value, incarnation: incarnation.map_err(Error::internal)? })
                });
                Ok(Self((row.try_get("number")?, witnessed)))
            }
        }
    )* };
}

rows! {
    /// An organization's key and what it asks about.
    FoundApiKey: Asked = of_api_key;
    /// A deployment key and what it asks about.
    FoundDeploymentKey: Asked = of_deployment_key;
    /// A live session.
    FoundSession: LiveSession = of_session;
}

decoders! {
    fn of_api_key(row) -> Asked {
        let org = match live_session::organization(row)? {
            Ok(org) => Arc::new(org),
            Err(error) => return Ok(Err(error)),
        };
        let (id, scopes) = (KeyId::ApiKey(Id::from_stored(row.try_get::<String, _>("k_id")?)), row.try_get::<String, _>("k_scopes")?);
        let kept = Kept { id, scopes: api_keys::scopes_from(&scopes), reach: Reach::Organization(Arc::clone(&org)) };
        asked(row, kept, Some(org))
    }

    fn of_deployment_key(row) -> Asked {
        let is_one_named = row.try_get::<Option<String>, _>("o_id")?.is_some();
        let org = match is_one_named.then(|| live_session::organization(row)).transpose()?.transpose() {
            Ok(org) => org.map(Arc::new),
            Err(error) => return Ok(Err(error)),
        };
        let id = KeyId::DeploymentKey(Id::from_stored(row.try_get::<String, _>("k_id")?));
        let scopes = deployment_keys::scopes_from(&row.try_get::<String, _>("k_scopes")?);
        let networks = deployment_keys::networks_from(&row.try_get::<String, _>("k_networks")?);
        let of_backend = scopes.iter().filter_map(|scope| scope.of_backend()).collect();
        let kept = Kept { id, scopes: of_backend, reach: Reach::Deployment(DeploymentReach { scopes, networks }) };
        asked(row, kept, org)
    }

    fn of_session(row) -> LiveSession {
        match live_session::organization(row)? {
            Ok(org) => live_session::decode(row, Arc::new(org)),
            Err(error) => Ok(Err(error)),
        }
    }

    /// What every key's row has, beside what its kind has.
    fn asked(row, kept: Kept, org: Option<Arc<Organization>>) -> Asked {
        let is_alive = row.try_get::<Option<String>, _>("u_id")?.is_some();
        let live = match &org {
            Some(org) if is_alive => Some(live_session::decode(row, Arc::clone(org))?),
            _ => None,
        };
        let time = |column: &'static str| row.try_get::<Option<i64>, _>(column).map(|millis| millis.map(Timestamp::from_millis));
        let Kept { id, scopes, reach } = kept;
        let digest = Digest::from_stored(row.try_get::<String, _>("k_digest")?);
        let key = KeyRecord { id, digest, scopes, expires_at: time("k_expires_at")?, last_used_at: time("k_last_used_at")?, reach };
        Ok(live.transpose().map(|live| Asked { key, org, live }))
    }
}

/// What differs between the kinds of keys.
struct Kept {
    id: KeyId,
    scopes: Vec<Scope>,
    reach: Reach,
}
