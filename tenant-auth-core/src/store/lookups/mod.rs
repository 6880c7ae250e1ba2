//! Lookups of verification: questions that come while others are being asked go together, in one statement, as soon as one of the few
//! turns is free. A crowd that nobody remembers anything of (a restart, many first requests) then costs a fraction of a statement each,
//! and a single question is asked at once. An answer is of no earlier moment than its question: a statement is begun after all of its
//! questions were put.

mod gathering;

use tokio::runtime::Handle;

use super::{
    Asked, LiveSession, Store, Witnessed,
    sql::lookups::{OfApiKey, OfDeploymentKey, OfSession, Question, Use},
};
use crate::{
    error::Error,
    id::{KeyId, SessionId},
    value::Slug,
};
use gathering::Gathering;

/// Asks what verification wants to know.
#[derive(Debug)]
pub(crate) struct Lookups {
    of_api_keys: Purposes<OfApiKey>,
    of_deployment_keys: Purposes<OfDeploymentKey>,
    of_sessions: Purposes<OfSession>,
}

/// Questions of one kind. What may be remembered is asked apart: on a standby the database refuses that alone.
#[derive(Debug)]
struct Purposes<Q: Question> {
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

impl<Q: Question> Purposes<Q> {
    fn new(store: &Store, runtime: &Handle) -> Self {
        let gathering = |used| Gathering::new(store.clone(), used, runtime.clone());
        Self { once: gathering(Use::Once), kept: gathering(Use::Kept) }
    }

    async fn ask(&self, question: Q, is_kept: bool) -> Result<Option<Witnessed<Q::Found>>, Error> {
        if is_kept { self.kept.ask(question).await } else { self.once.ask(question).await }
    }
}

#[cfg(all(test, feature = "sqlite"))]
mod tests;
