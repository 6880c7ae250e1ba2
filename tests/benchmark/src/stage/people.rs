//! A database with people in it, a part of whom are logged in: their tokens are the service's own, issued through the library.

use std::{sync::Arc, time::Duration};

use rand::{SeedableRng, rngs::StdRng, seq::index};
use tenant_auth_core::{
    Client, Credentials, Login, MasterKeys, Store, StoreOptions, Tenant, TenantAuth,
    backend::NewApiKey,
    id::OrgId,
    operator::NewOrganization,
    ports::{Argon2Hasher, Argon2Params, Clock, PasswordHasher, QueueShare},
    secret::StoredPassword,
    value::Plan,
};

use super::{
    Database, filler, requests,
    service::{self, Believing, MovableClock, Nowhere},
};
use crate::Failure;

/// Everybody's.
pub(crate) const PASSWORD: &str = "mauve-otter-plinth-42";

/// How many people are logged in, at most.
const LOGGED_IN: u32 = 10_000;
/// Longer than any filler is old, so that tokens issued in the past are still good.
const LONG: Duration = Duration::from_secs(30 * 24 * 3_600);

/// A database with people.
#[derive(Debug)]
pub(crate) struct People {
    pub(crate) database: Database,
    /// As it stands in every account.
    pub(crate) password: StoredPassword,
    orgs: Vec<Org>,
    count: u32,
    sessions: Vec<OpenSession>,
}

#[derive(Debug)]
struct Org {
    id: OrgId,
    slug: String,
    key: String,
}

#[derive(Debug)]
struct OpenSession {
    org: usize,
    access: String,
    refresh: String,
}

impl People {
    /// Populates an empty database with people in so many organizations.
    pub(crate) async fn settle(database: Database, master_key: &str, count: u32, orgs: u32) -> Result<Self, Failure> {
        let share = QueueShare::new(&"org_00000000000000000000000000".parse()?, None);
        let password = Argon2Hasher::new(Argon2Params::default(), None)?.hash(&PASSWORD.into(), &share).await?;
        let clock = Arc::new(MovableClock::now());
        let (now, mut chance) = (clock.now(), StdRng::seed_from_u64(u64::from(count)));
        let store = Store::open_with(&database.url, StoreOptions::with_connections(2)).await?;
        let mut config = service::config()?;
        (config.sessions.access_token_ttl, config.sessions.refresh_token_ttl) = (LONG, LONG);
        let builder = TenantAuth::builder().store(store.clone()).master_keys(MasterKeys::parse(master_key)?).config(config);
        let builder = builder.clock(clock.clone()).hasher(Arc::new(Believing(password.clone()))).mailer(Arc::new(Nowhere));
        let auth = builder.build().await?;

        let mut people = Self { orgs: organizations(&auth, orgs).await?, database, password, count, sessions: Vec::new() };
        auth.worker().tick().await?; // the invites' mails, which the worker under test would otherwise send
        let ids: Vec<OrgId> = people.orgs.iter().map(|org| org.id.clone()).collect();
        let mut raw = people.database.raw().await?;
        filler::add(&mut raw, count, &ids, &people.password, (now, &mut chance)).await?;
        for person in index::sample(&mut chance, count as usize, count.min(LOGGED_IN) as usize) {
            clock.move_to(filler::some_time(now, &mut chance));
            people.log_in(&auth, person).await?;
        }
        store.close().await;
        filler::age(&mut raw, people.database.engine).await?;
        Ok(people)
    }

    async fn log_in(&mut self, auth: &TenantAuth, person: usize) -> Result<(), Failure> {
        let org = person % self.orgs.len();
        let tenant: Tenant = auth.tenant(&self.orgs[org].slug.parse()?).await?;
        let client = Client {
            ip: requests::client(person).parse().ok(),
            user_agent: Some(filler::USER_AGENT.to_owned()),
            ..Client::default()
        };
        let credentials = Credentials { email: filler::email(person).parse()?, password: PASSWORD.into(), client };
        let Login::Session(opened) = tenant.login(credentials).await? else { return Err("a login took another step".into()) };
        let (access, refresh) = (opened.tokens.access.expose().to_owned(), opened.tokens.refresh.expose().to_owned());
        self.sessions.push(OpenSession { org, access, refresh });
        Ok(())
    }

    /// Questions about the first half of the open sessions; the other half's tokens may be refreshed meanwhile.
    pub(crate) fn verifications(&self) -> Arc<Vec<Vec<u8>>> {
        let asked = self.sessions.iter().take(self.sessions.len() / 2);
        let request = |session: &OpenSession| {
            let org = &self.orgs[session.org];
            requests::verify(&org.slug, &org.key, &session.access)
        };
        Arc::new(asked.map(request).collect())
    }

    /// An organization's slug, its backend's key, and the access tokens of its people among the first half.
    pub(crate) fn backend(&self) -> (&str, &str, Vec<&str>) {
        let of_first = self.sessions.iter().take(self.sessions.len() / 2).filter(|session| session.org == 0);
        (&self.orgs[0].slug, &self.orgs[0].key, of_first.map(|session| &*session.access).collect())
    }

    /// Slug and refresh token of the other half.
    pub(crate) fn refreshable(&self) -> Vec<(String, String)> {
        let others = self.sessions.iter().skip(self.sessions.len() / 2);
        others.map(|session| (self.orgs[session.org].slug.clone(), session.refresh.clone())).collect()
    }

    /// Lists of the members of everybody's organization, of so many each.
    pub(crate) fn listings(&self, limit: u32) -> Arc<Vec<Vec<u8>>> {
        let listing = |session: &OpenSession| requests::members(&self.orgs[session.org].slug, &session.access, limit);
        Arc::new(self.sessions.iter().map(listing).collect())
    }

    /// Everybody's login.
    pub(crate) fn logins(&self) -> Arc<Vec<Vec<u8>>> {
        let login = |person| requests::login(self.slug_of(person), &requests::client(person), &filler::email(person), PASSWORD);
        Arc::new((0..self.count as usize).map(login).collect())
    }

    /// A person's login, with another password.
    pub(crate) fn wrong_login(&self, person: usize, client: &str) -> Vec<u8> {
        requests::login(self.slug_of(person), client, &filler::email(person), "mauve-otter-plinth-43")
    }

    /// The login of a person who has no account.
    pub(crate) fn unknown_login(&self, person: usize, client: &str) -> Vec<u8> {
        requests::login(self.slug_of(person), client, &filler::email(person).replace("person", "nobody"), "mauve-otter-plinth-43")
    }

    fn slug_of(&self, person: usize) -> &str {
        &self.orgs[person % self.orgs.len()].slug
    }
}

/// So many organizations, each with a backend's key.
async fn organizations(auth: &TenantAuth, count: u32) -> Result<Vec<Org>, Failure> {
    let mut orgs = Vec::new();
    for number in 0..count {
        let slug = format!("organization-{number}");
        let new = NewOrganization {
            name: format!("Organization {number}").parse()?,
            slug: slug.parse()?,
            plan: Plan::default(),
            app_url: Some(format!("https://app-{number}.example.com").parse()?),
            admin_email: format!("admin-{number}@example.com").parse()?,
        };
        let id = auth.operator().create_organization(new).await?.org.id;
        let key = NewApiKey { name: "backend".parse()?, scopes: NewApiKey::default_scopes(), expires_at: None };
        let key = auth.operator().create_api_key(&slug.parse()?, key).await?.key.expose().to_owned();
        orgs.push(Org { id, slug, key });
    }
    Ok(orgs)
}
