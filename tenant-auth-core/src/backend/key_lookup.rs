//! Authenticates a backend by its API key or deployment key. Key, organization and the session that is asked about are remembered, or
//! read in one statement, so that the answer is true at one moment; what was read is kept.

use std::{marker::PhantomData, net::IpAddr, sync::Arc};

use tracing::Instrument;

use super::presented_key::PresentedKey;
use crate::{
    caller::Backend,
    error::Error,
    id::{KeyId, SessionId},
    memory::{Recalled, View},
    model::Organization,
    secret::ApiKeyText,
    service::TenantAuth,
    store::{KeyRecord, LiveSession, Witnessed},
    time::Timestamp,
    token::AccessToken,
    value::Slug,
};

/// What a backend asks: with which key of which organization, and about which genuine token.
pub(super) struct Question<'a> {
    pub(super) slug: &'a Slug,
    pub(super) key: &'a PresentedKey,
    pub(super) token: Option<&'a AccessToken>,
}

/// What was found of a question: a key that counts, the organization, and the session if there is one.
pub(super) struct Found {
    pub(super) key: Arc<KeyRecord>,
    pub(super) org: Arc<Organization>,
    pub(super) live: Option<Arc<LiveSession>>,
}

/// The same where the organization may not exist, or none was named.
struct Read {
    key: Arc<KeyRecord>,
    org: Option<Arc<Organization>>,
    live: Option<Arc<LiveSession>>,
}

impl TenantAuth {
    /// Authenticates a backend by its API key. A wrong key, another organization's key and an unknown slug give the same refusal,
    /// so that a caller cannot find out which slugs exist.
    ///
    /// # Errors
    /// [`Error::InvalidApiKey`].
    pub async fn backend(&self, slug: &Slug, key: &ApiKeyText) -> Result<Backend, Error> {
        let key = PresentedKey::parse(key).ok_or(Error::InvalidApiKey)?;
        self.holder_of(slug, &key).await
    }

    /// Authenticates the product's own backend by a deployment key, in any organization. `sender` is the address that shows the key,
    /// for a key that counts from some networks only.
    ///
    /// # Errors
    /// [`Error::InvalidApiKey`], the same for every reason; [`Error::UnknownOrganization`].
    pub async fn backend_of_deployment(&self, slug: &Slug, key: &ApiKeyText, sender: Option<IpAddr>) -> Result<Backend, Error> {
        let key = PresentedKey::of_deployment(key, sender).ok_or(Error::InvalidApiKey)?;
        self.holder_of(slug, &key).await
    }

    /// Authenticates a backend by its API key.
    ///
    /// # Errors
    /// [`Error::InvalidApiKey`], the same for every reason.
    pub(crate) async fn holder_of(&self, slug: &Slug, key: &PresentedKey) -> Result<Backend, Error> {
        let view = self.memory().view().await?;
        Ok(self.ask(view, &Question { slug, key, token: None }).await?.0)
    }

    /// The backend of a key and the session it asks about: both remembered, or both of one statement.
    pub(super) async fn ask(
        &self,
        view: Option<View<'_>>,
        question: &Question<'_>,
    ) -> Result<(Backend, Option<Arc<LiveSession>>), Error> {
        let Found { key, org, live } = self.find(view, question).await?;
        Ok((self.holder(&key, org), live))
    }

    /// A key that counts in this organization, and the organization.
    ///
    /// # Errors
    /// [`Error::InvalidApiKey`], the same for every reason; [`Error::UnknownOrganization`] for a deployment key.
    pub(super) async fn key_in(&self, slug: &Slug, key: &PresentedKey) -> Result<(Arc<KeyRecord>, Arc<Organization>), Error> {
        let view = self.memory().view().await?;
        let Found { key, org, .. } = self.find(view, &Question { slug, key, token: None }).await?;
        Ok((key, org))
    }

    /// The record of a deployment key that counts, in whatever organization.
    ///
    /// # Errors
    /// [`Error::InvalidApiKey`], the same for every reason.
    pub(super) async fn key_record(&self, key: &PresentedKey) -> Result<Arc<KeyRecord>, Error> {
        let view = self.memory().view().await?;
        match view.and_then(|view| self.recalled_key(view, key, None)) {
            Some(record) => Ok(record),
            None => Ok(self.read_key(view, key, None, None).await?.key),
        }
    }

    async fn find(&self, view: Option<View<'_>>, question: &Question<'_>) -> Result<Found, Error> {
        let found = match view.and_then(|view| self.recalled(view, question)) {
            Some(found) => found,
            None => self.read_for(view, question).await?,
        };
        // The operators' own organization is not the product's.
        if found.key.home().is_none() && self.config().organizations.operator_org.as_ref() == Some(question.slug) {
            return Err(Error::UnknownOrganization);
        }
        Ok(found)
    }

    /// The answer from memory; `None` when it does not know the key, the organization or the session, or would refuse the key.
    pub(super) fn recalled(&self, view: View<'_>, question: &Question<'_>) -> Option<Found> {
        let key = self.recalled_key(view, question.key, Some(question.slug))?;
        let org = match key.home() {
            Some(org) => Arc::clone(org),
            None => view.organization(question.slug)?,
        };
        match question.token.map(|token| view.recall(token, self.now())) {
            Some(Recalled::Live(live)) => Some(Found { key, org, live: Some(live) }),
            Some(Recalled::Superseded) | None => Some(Found { key, org, live: None }),
            Some(Recalled::Unknown) => None,
        }
    }

    fn recalled_key(&self, view: View<'_>, key: &PresentedKey, slug: Option<&Slug>) -> Option<Arc<KeyRecord>> {
        view.key(key.id()).filter(|record| key.is_believed(record, slug, self.now()))
    }

    async fn read_for(&self, view: Option<View<'_>>, question: &Question<'_>) -> Result<Found, Error> {
        let session = question.token.map(|token| &token.session);
        let Read { key, org, live } = self.read_key(view, question.key, Some(question.slug), session).await?;
        Ok(Found { key, org: org.ok_or(Error::UnknownOrganization)?, live })
    }

    /// The answer of the database, which is kept.
    async fn read_key(
        &self,
        view: Option<View<'_>>,
        shown: &PresentedKey,
        slug: Option<&Slug>,
        session: Option<&SessionId>,
    ) -> Result<Read, Error> {
        let fill = view.map(|view| (view, view.fill()));
        let asked = self.lookups().of_key(shown.id(), slug, session, fill.is_some()).await?;
        let Witnessed { value: asked, incarnation } = asked.ok_or(Error::InvalidApiKey)?;
        let (key, live) = (Arc::new(asked.key), asked.live.map(Arc::new));
        if let Some((view, fill)) = fill {
            let incarnation = incarnation.as_deref();
            view.keep_key(fill, &key, incarnation);
            // A key of an organization holds it.
            if let (None, Some(org)) = (key.home(), &asked.org) {
                view.keep_organization(fill, org, incarnation);
            }
            if let Some(live) = &live {
                view.keep_session(fill, live, incarnation);
            }
        }
        if !shown.is_believed(&key, slug, self.now()) {
            return Err(Error::InvalidApiKey);
        }
        Ok(Read { key, org: asked.org, live })
    }

    /// Whether memory believes the key: then its tag need not be computed.
    pub(super) fn is_remembered(&self, slug: &Slug, key: &PresentedKey) -> bool {
        let remembered = self.memory().view_now().and_then(|view| view.peek_key(key.id()));
        remembered.is_some_and(|record| key.is_believed(&record, Some(slug), self.now()))
    }

    fn holder(&self, key: &KeyRecord, org: Arc<Organization>) -> Backend {
        self.note_key_use(&key.id, key.last_used_at);
        Backend { auth: self.clone(), org, key: key.id.clone(), scopes: key.scopes.clone(), found: PhantomData }
    }

    /// Writes that a key was used, in a task of its own.
    pub(super) fn note_key_use(&self, key: &KeyId, last_used_at: Option<Timestamp>) {
        let now = self.now();
        if !self.key_uses().is_news(key, last_used_at, now) {
            return;
        }
        let (auth, key) = (self.clone(), key.clone());
        let noting = async move {
            let written = async {
                let mut tx = auth.begin().await?;
                match &key {
                    KeyId::ApiKey(id) => tx.api_keys().mark_used(id).await?,
                    KeyId::DeploymentKey(id) => tx.deployment_keys().mark_used(id).await?,
                }
                tx.commit().await
            };
            if let Err(error) = written.await {
                auth.key_uses().failed(&key, now, auth.now());
                tracing::debug!(key = %key, error = %error.causes(), "the use of a key was not written");
            }
        };
        self.runtime().spawn(noting.in_current_span());
    }
}
