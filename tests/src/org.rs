//! One organization of the running service, and the people in it.

use tenant_auth_core::{
    backend::NewApiKey,
    model::{Role, Scope, Status},
};

use crate::{
    App, Caller,
    caller::Person,
    template::{self, Tenant},
};

/// An organization and those who may call it.
#[derive(Debug, Clone, Copy)]
pub struct Org<'a> {
    app: &'a App,
    tenant: &'a Tenant,
}

impl<'a> Org<'a> {
    pub(crate) fn new(app: &'a App, tenant: &'a Tenant) -> Self {
        Self { app, tenant }
    }

    /// What goes into `X-Org-Slug`.
    pub fn slug(&self) -> &'a str {
        &self.tenant.slug
    }

    /// The API key of [`Org::backend`].
    pub fn api_key(&self) -> &'a str {
        &self.tenant.api_key
    }

    /// That key's id.
    pub fn api_key_id(&self) -> &'a str {
        &self.tenant.api_key_id
    }

    /// A caller without a session.
    pub fn anonymous(&self) -> Caller {
        Caller::new(self.app.target(), self.slug())
    }

    /// Its org_admin, not logged in.
    pub fn admin(&self) -> Caller {
        self.anonymous().named(self.tenant.admin.clone())
    }

    /// Its plain member, not logged in.
    pub fn member(&self) -> Caller {
        self.anonymous().named(self.tenant.member.clone())
    }

    /// Its backend.
    pub fn backend(&self) -> Caller {
        self.anonymous().with("X-API-Key", &self.tenant.api_key)
    }

    /// A key with these scopes, made by the operator's command: the only way to the scope `proxy`.
    pub async fn operators_key(&self, scopes: &[Scope]) -> String {
        let slug = self.slug().parse().expect("a slug");
        let new = NewApiKey { name: "Made by the operator".parse().expect("a name"), scopes: scopes.to_vec(), expires_at: None };
        let created = self.app.auth.operator().create_api_key(&slug, new).await.expect("a key");
        created.key.expose().to_owned()
    }

    /// A new plain member, created by the operator's command, not logged in, whose address nobody has proved.
    pub async fn new_member(&self, name: &str) -> Caller {
        self.person(name, Role::Member).await
    }

    /// A new org_admin, created by the operator's command, not logged in, whose address nobody has proved.
    pub async fn new_admin(&self, name: &str) -> Caller {
        self.person(name, Role::OrgAdmin).await
    }

    /// A device of a person whom a scenario knows from elsewhere.
    pub fn device_of(&self, person: &Person) -> Caller {
        self.anonymous().named(person.clone())
    }

    /// Closes the organization.
    pub async fn suspend(&self) {
        self.set_status(Status::Suspended).await;
    }

    /// Opens it again.
    pub async fn reactivate(&self) {
        self.set_status(Status::Active).await;
    }

    async fn person(&self, name: &str, role: Role) -> Caller {
        let person = template::person(&self.app.auth, self.slug(), name, role).await;
        self.device_of(&person)
    }

    async fn set_status(&self, status: Status) {
        let slug = self.slug().parse().expect("a slug");
        self.app.auth.operator().set_organization_status(&slug, status).await.expect("the organization exists");
    }
}
