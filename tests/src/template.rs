//! The template database that every test's database is copied from: migrated by the product itself, with the organizations `acme`
//! and `globex`, an admin, a member and an API key in each. Its secrets are kept here, for the callers.

use std::{
    sync::{Arc, Mutex, OnceLock, PoisonError},
    time::Duration,
};

use sqlx::{AssertSqlSafe, Connection, Executor, PgConnection, SqliteConnection};
use tempfile::TempDir;
use tenant_auth_core::{
    MasterKeys, Postgres, Sqlite, StoreOptions, TenantAuth,
    backend::NewApiKey,
    model::{Role, Scope},
    operator::{NewOrganization, NewUser},
    ports::{Clock, MockClock},
    secret::Password,
};

use crate::{Engine, PASSWORD, PUBLIC_URL, Setup, caller::Person, postgres::Cluster, scratch};

static SQLITE: OnceLock<Template> = OnceLock::new();
static POSTGRES: OnceLock<Template> = OnceLock::new();

/// A populated database to be copied, and what one must know to use the copies.
#[derive(Debug)]
pub(crate) struct Template {
    source: String,
    /// The master key that sealed what is in it.
    pub(crate) master_key: String,
    /// Where most scenarios take place.
    pub(crate) acme: Tenant,
    /// The neighbour.
    pub(crate) globex: Tenant,
    /// Where a SQLite template's file lies until the run ends.
    directory: Mutex<Option<TempDir>>,
}

/// One organization of the template.
#[derive(Debug, Clone)]
pub(crate) struct Tenant {
    /// `X-Org-Slug`
    pub(crate) slug: String,
    /// Its only org_admin.
    pub(crate) admin: Person,
    /// Its only plain member.
    pub(crate) member: Person,
    /// An API key with the default scopes.
    pub(crate) api_key: String,
    /// That key's id.
    pub(crate) api_key_id: String,
}

impl Template {
    /// The engine's template, made by the first who asks.
    pub(crate) fn of(engine: Engine) -> &'static Self {
        let place = match engine {
            Engine::Sqlite => &SQLITE,
            Engine::Postgres => &POSTGRES,
        };
        // On a thread of its own: the caller may be inside a runtime, which cannot wait for another one.
        place.get_or_init(|| std::thread::spawn(move || made(engine)).join().expect("the template can be made"))
    }

    /// Removes what the templates left on disk; statics are never dropped.
    pub(crate) fn remove_all() {
        for template in [&SQLITE, &POSTGRES].into_iter().filter_map(OnceLock::get) {
            template.directory.lock().unwrap_or_else(PoisonError::into_inner).take();
        }
    }

    /// The file, or the database's name.
    pub(crate) fn source(&self) -> &str {
        &self.source
    }
}

fn made(engine: Engine) -> Template {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().expect("a runtime");
    runtime.block_on(async {
        match engine {
            Engine::Sqlite => {
                let directory = scratch::directory("template");
                let (worked, source) = (directory.path().join("worked.db"), directory.path().join("template.db"));
                let store = Sqlite::open(&worked.display().to_string()).await.expect("SQLite opens");
                let mut template = populated(store).await;
                // A copy without a write-ahead log, even if the pool still holds connections open.
                let mut connection = SqliteConnection::connect(&format!("sqlite://{}", worked.display())).await.expect("it opens");
                connection.execute(PROVE_ALL).await.expect("it can be changed");
                connection.execute(SIGN_LATER).await.expect("it can be changed");
                connection.execute(AssertSqlSafe(format!("VACUUM INTO '{}'", source.display()))).await.expect("it can be copied");
                template.source = source.display().to_string();
                template.directory = Mutex::new(Some(directory));
                template
            }
            Engine::Postgres => {
                let cluster = Cluster::shared();
                cluster.run("CREATE DATABASE template_auth");
                let mut template = populated(
                    Postgres::connect_with(&cluster.url("template_auth"), StoreOptions::with_connections(2))
                        .await
                        .expect("it answers"),
                )
                .await;
                let mut connection = PgConnection::connect(&cluster.url("template_auth")).await.expect("it answers");
                connection.execute(PROVE_ALL).await.expect("it can be changed");
                connection.execute(SIGN_LATER).await.expect("it can be changed");
                connection.close().await.expect("it closes");
                "template_auth".clone_into(&mut template.source);
                template
            }
        }
    })
}

/// The template's people have proved their addresses, as people do who were invited; those made later have not.
const PROVE_ALL: &str = "UPDATE tenant_auth_users SET is_email_verified = TRUE";

/// The template's organizations were made days before the scenarios begin: without this the first round of each worker would sign their
/// logs. The scenarios about that (`audit/checkpoints.rs`) say when a log is due.
const SIGN_LATER: &str = "UPDATE tenant_auth_event_sequences SET checkpointed = 9000000000000000";

/// Organizations begin with an invite to their first admin. It is made so long ago that it has expired when the scenarios begin,
/// which therefore see none.
const AGO: Duration = Duration::from_secs(8 * 24 * 60 * 60);

async fn populated(store: impl Into<tenant_auth_core::Store>) -> Template {
    let master_key = MasterKeys::generate_text();
    let setup = Setup::new();
    let clock = Arc::new(MockClock::at(setup.clock.now().minus(AGO)));
    let auth = TenantAuth::builder()
        .store(store)
        .master_keys(MasterKeys::parse(&master_key).expect("a generated key is well-formed"))
        .config(setup.config.clone())
        .clock(Arc::clone(&clock) as _)
        .build()
        .await
        .expect("it migrates and builds");
    organization(&auth, "Acme Rockets", "acme").await;
    organization(&auth, "Globex Corporation", "globex").await;
    clock.advance(AGO);
    let acme = tenant(&auth, "acme", ["Ada Admin", "Max Member"]).await;
    let globex = tenant(&auth, "globex", ["Greta Admin", "Gus Member"]).await;
    Template { source: String::new(), master_key, acme, globex, directory: Mutex::default() }
}

async fn organization(auth: &TenantAuth, name: &str, slug: &str) {
    let new = NewOrganization {
        name: name.parse().expect("a name"),
        slug: slug.parse().expect("a slug"),
        plan: "pro".parse().expect("a plan"),
        app_url: Some(format!("https://app.{slug}.example").parse().expect("a URL")),
        admin_email: format!("first@{slug}.example").parse().expect("an address"),
    };
    auth.operator().create_organization(new).await.expect("the organization is new");
}

async fn tenant(auth: &TenantAuth, slug: &str, [admin, member]: [&str; 2]) -> Tenant {
    let scopes = vec![Scope::Verify, Scope::UsersRead, Scope::MembersRead];
    let new_key = NewApiKey { name: "backend".parse().expect("a name"), scopes, expires_at: None };
    let created = auth.operator().create_api_key(&slug.parse().expect("a slug"), new_key).await.expect("the first key");
    Tenant {
        slug: slug.to_owned(),
        admin: person(auth, slug, admin, Role::OrgAdmin).await,
        member: person(auth, slug, member, Role::Member).await,
        api_key: created.key.expose().to_owned(),
        api_key_id: created.api_key.id.to_string(),
    }
}

/// Creates a person with [`PASSWORD`], whose address is their first name's at the organization.
pub(crate) async fn person(auth: &TenantAuth, slug: &str, name: &str, role: Role) -> Person {
    let first = name.split_whitespace().next().unwrap_or(name).to_lowercase();
    let email = format!("{first}@{slug}.example");
    let new = NewUser {
        email: email.parse().expect("an address"),
        name: name.parse().expect("a name"),
        role,
        password: Password::new(PASSWORD),
    };
    let created = auth.operator().create_user(&slug.parse().expect("a slug"), new).await.expect("the person is new");
    Person { id: created.user.id.to_string(), name: name.to_owned(), email, password: PASSWORD.to_owned() }
}

/// The issuer and every link begin with it.
pub(crate) fn public_url() -> url::Url {
    PUBLIC_URL.parse().expect("a URL")
}
