//! Callers and their rights. A [`Tenant`] is an organization by its slug; a [`Member`], an [`OrgAdmin`] and a [`Backend`] are
//! rights: a value of these types exists only for a caller who was checked, and operations take the value instead of an id.
//!
//! A right can be lost between the check and the commit. So every write with a session begins with [`Member::begin_write`], which
//! locks the organization and the session and judges the right again inside the transaction; [`OrgAdmin::begin_write`] does so for
//! each origin of that right.

mod live;
mod org_admin;
mod product;
mod write;

use std::{marker::PhantomData, net::IpAddr, sync::Arc};

#[cfg(feature = "http")]
use crate::token::AccessToken;
use crate::{
    audit::context::RequestContext,
    bounded::QueueShare,
    error::Error,
    id::{KeyId, OrgId, SessionId, UserId},
    memory::View,
    model::{Membership, Organization, Role, Scope, Session, Status, User},
    scope::{Granted, Unjudged},
    service::TenantAuth,
    store::{Actor, LiveSession, Tx},
    value::{Language, ReturnAddress, Slug},
};

#[cfg(feature = "http")]
pub(crate) use live::LiveToken;
pub use org_admin::OrgAdmin;
pub use product::DeploymentBackend;
pub(crate) use product::Product;
pub(crate) use write::{Author, OrgWrite, Write};

/// One organization. Operations on it cannot reach another one's data.
#[derive(Clone, Debug)]
pub struct Tenant {
    pub(crate) auth: TenantAuth,
    pub(crate) org: Arc<Organization>,
    /// The client of the request; the audit log tells it.
    pub(crate) client: Client,
}

/// The client of a request; stored with the session it opens, so that the session's owner can recognise it.
#[derive(Debug, Clone, Default)]
pub struct Client {
    /// The client's address.
    pub ip: Option<IpAddr>,
    /// The organization whose backend stated the address beside its key. What is counted by the address is counted in that
    /// organization alone then: no tenant steers another's counts.
    pub stated_by: Option<OrgId>,
    /// The client's `User-Agent`.
    pub user_agent: Option<String>,
    /// The language that the client asks for (`Accept-Language`), of those that the service has. Mails that it causes are written in it,
    /// except to people who were logged in with another.
    pub language: Option<Language>,
}

impl Client {
    /// The client's share of the hashing queue, for a password typed in this organization.
    pub(crate) fn queue_share(&self, org_id: &OrgId) -> QueueShare {
        QueueShare::new(org_id, self.ip).stated(self.stated_by.is_some())
    }

    /// A request of this client, as the audit log of the organization tells it.
    pub(crate) fn request_in(&self, org_id: &OrgId, session_id: Option<&SessionId>) -> RequestContext {
        RequestContext {
            org_id: org_id.clone(),
            ip: self.ip.map(|ip| ip.to_canonical().to_string()),
            user_agent: self.user_agent.clone(),
            language: self.language.clone(),
            session_id: session_id.cloned(),
        }
    }
}

/// An active member of an active organization, with a live session there.
#[derive(Clone, Debug)]
pub struct Member {
    pub(crate) auth: TenantAuth,
    pub(crate) live: Arc<LiveSession>,
    /// The client of the request; the rate limiter counts wrong passwords by its address.
    pub(crate) client: Client,
}

/// A customer's backend, known by its API key, or the product's own, known by a deployment key. `S` is the scope that the key was found to have; see [`Backend::having`].
#[derive(Clone, Debug)]
pub struct Backend<S = Unjudged> {
    pub(crate) auth: TenantAuth,
    pub(crate) org: Arc<Organization>,
    pub(crate) key: KeyId,
    pub(crate) scopes: Vec<Scope>,
    pub(crate) found: PhantomData<S>,
}

impl TenantAuth {
    /// The organization with this slug.
    ///
    /// # Errors
    /// [`Error::UnknownOrganization`] when there is none.
    pub async fn tenant(&self, slug: &Slug) -> Result<Tenant, Error> {
        let org = match self.memory().view().await? {
            Some(view) => self.remembered_organization(view, slug).await?,
            None => self.store().read().await?.organizations().find_by_slug(slug).await?.map(Arc::new),
        };
        Ok(Tenant { auth: self.clone(), org: org.ok_or(Error::UnknownOrganization)?, client: Client::default() })
    }

    async fn remembered_organization(&self, view: View<'_>, slug: &Slug) -> Result<Option<Arc<Organization>>, Error> {
        if let Some(org) = view.organization(slug) {
            return Ok(Some(org));
        }
        let fill = view.fill();
        let read = self.store().read().await?.organizations().find_by_slug_to_keep(slug).await?;
        Ok(read.map(|read| {
            let org = Arc::new(read.value);
            view.keep_organization(fill, &org, read.incarnation.as_deref());
            org
        }))
    }
}

impl Tenant {
    /// The organization.
    pub fn organization(&self) -> &Organization {
        &self.org
    }

    /// The address to which a person may return after signing in here (`next`), where `asked` is one: its origin must be the public
    /// URL's, one of the organization's (its application's, or one it allows) or one of the operator's settings. `None` otherwise:
    /// nobody is sent anywhere else.
    pub fn return_address(&self, asked: &str) -> Option<ReturnAddress> {
        self.auth.return_address(&self.org, asked)
    }

    /// Sets the client of the request, as the audit log tells it where an operation takes none. A member who is
    /// [authenticated](Self::authenticate) through this tenant has the same client.
    #[must_use]
    pub fn seen_from(mut self, client: Client) -> Self {
        self.client = client;
        self
    }

    /// Authenticates a member by an access token.
    ///
    /// # Errors
    /// [`Error::SessionRequired`] for a token that is no live access token, [`Error::WrongOrganization`] for a live one of another
    /// organization, [`Error::Suspended`] when the membership or the organization is.
    pub async fn authenticate(&self, access_token: &str) -> Result<Member, Error> {
        let live = self.auth.live_session(access_token).await?.ok_or(Error::SessionRequired)?;
        self.admitting(live)
    }

    /// The same beside the token's content.
    #[cfg(feature = "http")]
    pub(crate) async fn authenticate_by(&self, access_token: &str) -> Result<(Member, Arc<AccessToken>), Error> {
        let LiveToken { token, live } = self.auth.live_token(access_token).await?.ok_or(Error::SessionRequired)?;
        Ok((self.admitting(live)?, token))
    }

    fn admitting(&self, live: Arc<LiveSession>) -> Result<Member, Error> {
        if live.org.id != self.org.id {
            return Err(Error::WrongOrganization);
        }
        live.admitted()?;
        Ok(Member { auth: self.auth.clone(), live, client: self.client.clone() })
    }
}

impl TenantAuth {
    fn return_address(&self, org: &Organization, asked: &str) -> Option<ReturnAddress> {
        let address = ReturnAddress::parse(asked).ok()?;
        let origin = address.origin().as_str();
        (self.config().allows_origin(origin) || org.allows_origin(origin)).then_some(address)
    }
}

impl Member {
    /// The person.
    pub fn user(&self) -> &User {
        &self.live.user
    }

    /// The person's membership in this organization.
    pub fn membership(&self) -> &Membership {
        &self.live.membership
    }

    /// The organization.
    pub fn organization(&self) -> &Organization {
        &self.live.org
    }

    /// The address to which the person may return; see [`Tenant::return_address`].
    pub fn return_address(&self, asked: &str) -> Option<ReturnAddress> {
        self.auth.return_address(&self.live.org, asked)
    }

    /// The session.
    pub fn session(&self) -> &Session {
        &self.live.session
    }

    /// Sets the client of the request, so that the rate limiter counts wrong passwords and codes by its address.
    #[must_use]
    pub fn seen_from(mut self, client: Client) -> Self {
        self.client = client;
        self
    }

    /// The right of an org_admin.
    ///
    /// # Errors
    /// [`Error::AdminRequired`] for any other role.
    pub fn into_admin(self) -> Result<OrgAdmin, Error> {
        match self.live.membership.role {
            Role::OrgAdmin => Ok(OrgAdmin::of_member(self)),
            Role::Member => Err(Error::AdminRequired),
        }
    }

    pub(crate) fn org_id(&self) -> &OrgId {
        &self.live.org.id
    }

    pub(crate) fn user_id(&self) -> &UserId {
        &self.live.user.id
    }

    pub(crate) fn actor(&self) -> Actor {
        Actor::User(self.user_id().clone())
    }

    /// Begins a write in the organization. It is serialised with every other write in that organization, so that what is read after
    /// it stays true until the commit, and with the end of the caller's own session.
    pub(crate) async fn begin_write(&self) -> Result<Write, Error> {
        let mut tx = self.auth.begin_in_turn(self.org_id()).await?;
        tx.organizations().lock(self.org_id()).await?.ok_or(Error::SessionRequired)?;
        tx.members().hold(self.org_id(), self.user_id()).await?.ok_or(Error::SessionRequired)?;
        self.judge_again(tx).await
    }

    /// Begins a write to the caller's own account, which sessions in every organization share.
    pub(crate) async fn begin_own_write(&self) -> Result<Write, Error> {
        self.own_write_in(self.auth.begin_in_turn(self.org_id()).await?).await
    }

    /// Begins such a write in a transaction that was begun in the organization's turn, and has done nothing but settle counters.
    pub(crate) async fn own_write_in(&self, mut tx: Tx) -> Result<Write, Error> {
        tx.organizations().lock(self.org_id()).await?.ok_or(Error::SessionRequired)?;
        hold_account(&mut tx, self.user_id()).await?;
        self.judge_again(tx).await
    }

    /// Reads the caller again and judges the right. This is a statement of its own after the locks: PostgreSQL judges the
    /// conditions of a statement that waited for a lock by the rows as they were before it waited.
    pub(crate) async fn judge_again(&self, mut tx: Tx) -> Result<Write, Error> {
        if !tx.sessions().hold(&self.live.session.id).await? {
            return Err(Error::SessionRequired);
        }
        let live = tx.sessions().find_live(&self.live.session.id).await?;
        let live = live.filter(|live| live.is_live(tx.now())).ok_or(Error::SessionRequired)?;
        live.admitted()?;
        tx.serve(self.client.request_in(self.org_id(), Some(&live.session.id)));
        Ok(Write { tx, live })
    }
}

/// Locks an account and all its memberships. Lock order: organizations, memberships by organization, account, sessions, event
/// sequences.
pub(crate) async fn hold_account(tx: &mut Tx, user: &UserId) -> Result<(), Error> {
    hold_memberships(tx, user).await?;
    tx.users().hold(user).await
}

/// The same for the end of the account: what others write of it is committed then, or cannot be.
pub(crate) async fn hold_account_alone(tx: &mut Tx, user: &UserId) -> Result<(), Error> {
    hold_memberships(tx, user).await?;
    tx.users().hold_alone(user).await
}

async fn hold_memberships(tx: &mut Tx, user: &UserId) -> Result<(), Error> {
    for org in tx.users().organizations_of(user).await? {
        tx.members().hold(&org.id, user).await?;
    }
    Ok(())
}

impl Backend {
    /// The same backend, once its key was found to have the scope `S`.
    ///
    /// # Errors
    /// [`Error::MissingScope`] when the key was not given it; [`Error::Suspended`] when it is the key of a suspended organization and
    /// the scope reads its people.
    pub fn having<S: Granted>(self) -> Result<Backend<S>, Error> {
        self.allows(S::SCOPE)?;
        let judged = if S::WHILE_SUSPENDED { self } else { self.of_open_organization()? };
        let Self { auth, org, key, scopes, .. } = judged;
        Ok(Backend { auth, org, key, scopes, found: PhantomData })
    }

    /// The same backend, unless it came with the key of a suspended organization. A deployment key acts there.
    ///
    /// # Errors
    /// [`Error::Suspended`].
    pub(crate) fn of_open_organization(self) -> Result<Self, Error> {
        let is_closed = self.org.status == Status::Suspended && matches!(self.key, KeyId::ApiKey(_));
        if is_closed { Err(Error::Suspended) } else { Ok(self) }
    }
}

impl<S> Backend<S> {
    /// The organization whose key was presented, or that was named beside a deployment key.
    pub fn organization(&self) -> &Organization {
        &self.org
    }

    /// Checks that the key was given a scope, and nothing else: whether the organization is suspended is judged by [`Backend::having`],
    /// and by the gate that lets a backend in.
    ///
    /// # Errors
    /// [`Error::MissingScope`] when it was not.
    pub fn allows(&self, scope: Scope) -> Result<(), Error> {
        if self.scopes.contains(&scope) { Ok(()) } else { Err(Error::MissingScope(scope.as_str())) }
    }
}
