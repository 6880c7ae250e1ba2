//! An organization with webhooks, in a database of its own: made through the library, by an admin whose token then changes things
//! through the service under test.

use std::{sync::Arc, time::Duration};

use tenant_auth_core::{
    Client, Credentials, Login, MasterKeys, Store, StoreOptions, TenantAuth,
    id::UserId,
    model::{EventSelection, Role},
    operator::{NewOrganization, NewUser},
    secret::StoredPassword,
    value::Plan,
    webhooks::NewWebhook,
};

use super::{
    Database, PASSWORD, requests,
    service::{self, Believing, Nowhere},
};
use crate::Failure;

/// How long the admin's token is good for: as long as a run may take.
const LONG: Duration = Duration::from_secs(12 * 3_600);

/// An organization whose events go somewhere.
#[derive(Debug)]
pub(crate) struct Subscribers {
    slug: String,
    token: String,
    admin: UserId,
}

impl Subscribers {
    /// Makes an organization with a webhook for each of these URLs, all of which get every change of a member.
    pub(crate) async fn settle(database: &Database, master_key: &str, slug: &str, urls: &[String]) -> Result<Self, Failure> {
        let store = Store::open_with(&database.url, StoreOptions::with_connections(2)).await?;
        let builder = TenantAuth::builder().store(store.clone()).master_keys(MasterKeys::parse(master_key)?);
        let builder = builder.hasher(Arc::new(Believing(StoredPassword::new("")))).mailer(Arc::new(Nowhere));
        let mut config = service::config()?;
        config.sessions.access_token_ttl = LONG;
        let auth = builder.config(config).build().await?;
        let (email, slug) = (format!("admin@{slug}.example.com"), slug.to_owned());
        let organization = NewOrganization {
            name: "Subscribers".parse()?,
            slug: slug.parse()?,
            plan: Plan::default(),
            app_url: None,
            admin_email: format!("first@{slug}.example.com").parse()?,
        };
        auth.operator().create_organization(organization).await?;
        let user = NewUser { email: email.parse()?, name: "Admin".parse()?, role: Role::OrgAdmin, password: PASSWORD.into() };
        auth.operator().create_user(&slug.parse()?, user).await?;
        let tenant = auth.tenant(&slug.parse()?).await?;
        let credentials = Credentials { email: email.parse()?, password: PASSWORD.into(), client: Client::default() };
        let Login::Session(opened) = tenant.login(credentials).await? else { return Err("a login took another step".into()) };
        let token = opened.tokens.access.expose().to_owned();
        let member = tenant.authenticate(&token).await?;
        let (id, admin) = (member.user().id.clone(), member.into_admin()?);
        for url in urls {
            let (url, events) = (url.clone(), EventSelection::parse(&["member.*"])?);
            admin.create_webhook(NewWebhook { url, events, description: "".parse()? }).await?;
        }
        auth.worker().tick().await?;
        store.close().await;
        Ok(Self { slug, token, admin: id })
    }

    /// A change with this number in its event.
    pub(crate) fn change(&self, counter: usize) -> Vec<u8> {
        requests::count(&self.slug, &self.token, self.admin.as_str(), counter)
    }

    /// A page of the audit log.
    pub(crate) fn audit(&self, filter: &str) -> Vec<u8> {
        requests::audit(&self.slug, &self.token, filter)
    }

    /// The admin's id.
    pub(crate) fn admin(&self) -> &str {
        self.admin.as_str()
    }
}
