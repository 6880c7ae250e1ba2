//! What verification reads, in one statement for as many questions as have come together: a key with its organization and the session it
//! asks about, or a session alone. The questions are one parameter, a JSON array of arrays, and each row says which of them it answers.
//! Where the answer may be remembered it tells, too, which incarnation of the database answered.

use async_trait::async_trait;

use crate::{
    error::Error,
    id::{ApiKeyId, DeploymentKeyId, Id, SessionId},
    store::{
        Asked, LiveSession, Reader, Store, Witnessed,
        dialect::fetch_all_of,
        gathering::{Numbered, Question},
        sql::found::{FoundApiKey, FoundDeploymentKey, FoundSession},
    },
    value::Slug,
};

/// What may become of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::store) enum Use {
    /// It is told to who asks.
    Once,
    /// It may be remembered. A standby gives none, for its incarnation cannot be read.
    Kept,
}

/// Where lookups are asked.
#[derive(Debug)]
pub(in crate::store) struct Desk {
    pub(in crate::store) store: Store,
    pub(in crate::store) used: Use,
}

/// A connection, and what its answers are for.
type Asking = (Reader, Use);

impl Desk {
    async fn asking(&self) -> Result<Asking, Error> {
        Ok((self.store.read().await?, self.used))
    }
}

/// Of an organization's key and the session it asks about: key and organization, and the session when it is a live one of that
/// organization.
#[derive(Debug, Clone)]
pub(crate) struct OfApiKey {
    pub(crate) key: ApiKeyId,
    pub(crate) session: Option<SessionId>,
}

/// The same of a deployment key, which names the organization.
#[derive(Debug, Clone)]
pub(crate) struct OfDeploymentKey {
    pub(crate) key: DeploymentKeyId,
    pub(crate) slug: Option<Slug>,
    pub(crate) session: Option<SessionId>,
}

/// Of a session: what its rights rest on, when it is live.
#[derive(Debug, Clone)]
pub(crate) struct OfSession(pub(crate) SessionId);

macro_rules! lookups {
    ($engine:ident: $head:literal, $from:literal, $foot:literal) => {
        pub(in crate::store) mod $engine {
            use crate::store::{dialect::statements, sql::live_session};

            macro_rules! of_api_key {
                ($incarnation:expr) => {
                    concat!($head, $incarnation, "
               k.id AS k_id, k.digest AS k_digest, k.scopes AS k_scopes, k.expires_at AS k_expires_at,
               k.last_used_at AS k_last_used_at, ", live_session::columns!(), $from, "tenant_auth_api_keys k
          JOIN tenant_auth_organizations o ON o.id = k.org_id
          LEFT JOIN tenant_auth_sessions s ON s.id = a.value ->> 1 AND s.org_id = k.org_id
          LEFT JOIN tenant_auth_users u ON u.id = s.user_id AND u.epoch = s.user_epoch
          LEFT JOIN tenant_auth_memberships m ON m.org_id = s.org_id AND m.user_id = s.user_id
         WHERE k.id = a.value ->> 0", $foot)
                };
            }
            macro_rules! of_deployment_key {
                ($incarnation:expr) => {
                    concat!($head, $incarnation, "
               k.id AS k_id, k.digest AS k_digest, k.scopes AS k_scopes, k.networks AS k_networks, k.expires_at AS k_expires_at,
               k.last_used_at AS k_last_used_at, ", live_session::columns!(), $from, "tenant_auth_deployment_keys k
          LEFT JOIN tenant_auth_organizations o ON o.slug = a.value ->> 2
          LEFT JOIN tenant_auth_sessions s ON s.id = a.value ->> 1 AND s.org_id = o.id
          LEFT JOIN tenant_auth_users u ON u.id = s.user_id AND u.epoch = s.user_epoch
          LEFT JOIN tenant_auth_memberships m ON m.org_id = s.org_id AND m.user_id = s.user_id
         WHERE k.id = a.value ->> 0", $foot)
                };
            }
            macro_rules! of_session {
                ($incarnation:expr) => {
                    concat!($head, $incarnation, live_session::columns!(), $from, "tenant_auth_sessions s
          JOIN tenant_auth_users u ON u.id = s.user_id AND u.epoch = s.user_epoch
          JOIN tenant_auth_memberships m ON m.org_id = s.org_id AND m.user_id = s.user_id
          JOIN tenant_auth_organizations o ON o.id = s.org_id AND o.removed_at IS NULL
         WHERE s.id = a.value ->> 1", $foot)
                };
            }

            statements! {
                pub(super) OF_API_KEY = of_api_key!("CAST(NULL AS TEXT) AS incarnation, ");
                pub(super) OF_API_KEY_TO_KEEP = of_api_key!(live_session::incarnation!());
                pub(super) OF_DEPLOYMENT_KEY = of_deployment_key!("CAST(NULL AS TEXT) AS incarnation, ");
                pub(super) OF_DEPLOYMENT_KEY_TO_KEEP = of_deployment_key!(live_session::incarnation!());
                pub(super) OF_SESSION = of_session!("CAST(NULL AS TEXT) AS incarnation, ");
                pub(super) OF_SESSION_TO_KEEP = of_session!(live_session::incarnation!());
            }
        }
    };
}

#[cfg(feature = "sqlite")]
lookups!(sqlite: "
        SELECT a.key AS number, ", "
          FROM json_each($1) AS a CROSS JOIN ", "");
// LIMIT keeps PostgreSQL from joining all questions at once: while it counts a table as small, because nobody has analyzed it, it would
// read the whole of it for that. Elements of JSON, for it takes those of an array for as many as there are, and plans anew each time.
#[cfg(feature = "postgres")]
lookups!(postgres: "
        SELECT a.place - 1 AS number, found.*
          FROM json_array_elements(CAST($1 AS json)) WITH ORDINALITY AS a (value, place),
               LATERAL (
        SELECT ", "
          FROM ", "
         LIMIT 1) AS found");

/// The answers to questions by one of two statements, which know what is said of each as `a.value`.
macro_rules! answers {
    ($asking:ident, $questions:ident, $row:ident, $once:ident, $kept:ident, |$question:ident| $said:expr) => {{
        let said: Vec<[&str; 3]> = $questions.iter().map(|$question| $said).collect();
        let questions = serde_json::to_string(&said).map_err(Error::internal)?;
        let (mut reader, used) = $asking;
        let mut reader = &mut reader;
        let rows = match used {
            Use::Once => fetch_all_of!(reader, $row, $once, questions)?,
            Use::Kept => fetch_all_of!(reader, $row, $kept, questions)?,
        };
        Ok(rows.into_iter().map(|row| row.0).collect())
    }};
}

#[async_trait]
impl Question for OfApiKey {
    type Desk = Desk;
    type Ready = Asking;
    type Answer = Witnessed<Asked>;

    const WRITES: bool = false;

    async fn ready(desk: &Desk) -> Result<Asking, Error> {
        desk.asking().await
    }

    async fn ask(asking: Asking, questions: &[Self]) -> Result<Vec<Numbered<Witnessed<Asked>>>, Error> {
        answers!(asking, questions, FoundApiKey, OF_API_KEY, OF_API_KEY_TO_KEEP, |question| {
            [question.key.as_str(), question.session.as_ref().map_or("", Id::as_str), ""]
        })
    }
}

#[async_trait]
impl Question for OfDeploymentKey {
    type Desk = Desk;
    type Ready = Asking;
    type Answer = Witnessed<Asked>;

    const WRITES: bool = false;

    async fn ready(desk: &Desk) -> Result<Asking, Error> {
        desk.asking().await
    }

    async fn ask(asking: Asking, questions: &[Self]) -> Result<Vec<Numbered<Witnessed<Asked>>>, Error> {
        answers!(asking, questions, FoundDeploymentKey, OF_DEPLOYMENT_KEY, OF_DEPLOYMENT_KEY_TO_KEEP, |question| {
            [
                question.key.as_str(),
                question.session.as_ref().map_or("", Id::as_str),
                question.slug.as_ref().map_or("", Slug::as_str),
            ]
        })
    }
}

#[async_trait]
impl Question for OfSession {
    type Desk = Desk;
    type Ready = Asking;
    type Answer = Witnessed<LiveSession>;

    const WRITES: bool = false;

    async fn ready(desk: &Desk) -> Result<Asking, Error> {
        desk.asking().await
    }

    async fn ask(asking: Asking, questions: &[Self]) -> Result<Vec<Numbered<Witnessed<LiveSession>>>, Error> {
        answers!(asking, questions, FoundSession, OF_SESSION, OF_SESSION_TO_KEEP, |question| { ["", question.0.as_str(), ""] })
    }
}
