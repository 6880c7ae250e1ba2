//! Lookups of verification, by whatever key: those that come together are asked together ([`Gathering`]). So a crowd that nobody
//! remembers anything of, after a restart or a deployment of the callers, costs a fraction of a statement each.

use tokio::runtime::Handle;

use super::{
    Asked, LiveSession, Store, Witnessed,
    gathering::{Gathering, Question},
    sql::lookups::{Desk, OfApiKey, OfDeploymentKey, OfSession, Use},
};
use crate::{
    error::Error,
    id::{KeyId, SessionId},
    value::Slug,
};

/// Asks what verification wants to know.
#[derive(Debug)]
pub(crate) struct Lookups {
    of_api_keys: Purposes<OfApiKey>,
    of_deployment_keys: Purposes<OfDeploymentKey>,
    of_sessions: Purposes<OfSession>,
}

/// Questions of one kind. What may be remembered is asked apart: on a standby the database refuses that alone.
#[derive(Debug)]
struct Purposes<Q: Question<Desk = Desk>> {
    once: Gathering<Q>,
    kept: Gathering<Q>,
}

impl Lookups {
    /// Asks this database, by tasks of this runtime.
    pub(crate) fn new(store: &Store, runtime: &Handle) -> Self {
        Self {
            of_api_keys: Purposes::new(store, runtime),
            of_deployment_keys: Purposes::new(store, runtime),
            of_sessions: Purposes::new(store, runtime),
        }
    }

    /// What a backend asks about with a key: the key, its organization (a deployment key's is the one named), and the session when it is a
    /// live one there. `is_kept`: the answer may be remembered, and has its incarnation then.
    ///
    /// # Errors
    /// [`Error::Unavailable`] when the database refused or did not answer.
    pub(crate) async fn of_key(
        &self,
        key: &KeyId,
        slug: Option<&Slug>,
        session: Option<&SessionId>,
        is_kept: bool,
    ) -> Result<Option<Witnessed<Asked>>, Error> {
        let session = session.cloned();
        match key {
            KeyId::ApiKey(key) => self.of_api_keys.ask(OfApiKey { key: key.clone(), session }, is_kept).await,
            KeyId::DeploymentKey(key) => {
                self.of_deployment_keys.ask(OfDeploymentKey { key: key.clone(), slug: slug.cloned(), session }, is_kept).await
            }
        }
    }

    /// A live session.
    ///
    /// # Errors
    /// As [`Lookups::of_key`].
    pub(crate) async fn of_session(&self, session: &SessionId, is_kept: bool) -> Result<Option<Witnessed<LiveSession>>, Error> {
        self.of_sessions.ask(OfSession(session.clone()), is_kept).await
    }
}

impl<Q: Question<Desk = Desk>> Purposes<Q> {
    fn new(store: &Store, runtime: &Handle) -> Self {
        let gathering = |used| Gathering::new(Desk { store: store.clone(), used }, runtime.clone());
        Self { once: gathering(Use::Once), kept: gathering(Use::Kept) }
    }

    async fn ask(&self, question: Q, is_kept: bool) -> Result<Option<Q::Answer>, Error> {
        Ok(if is_kept { self.kept.ask(question).await? } else { self.once.ask(question).await? })
    }
}
