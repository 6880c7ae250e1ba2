//! A deployment to be raced against: one server or two on a database of their own, started as an operator starts them, and the
//! library beside them on the same database. The library does what no client may, so that a round begins where the one before did:
//! it makes people, and sends the mails that the servers, which have no SMTP server, leave in the outbox.

use std::{
    collections::HashMap,
    net::SocketAddr,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use async_trait::async_trait;
use tenant_auth_conformance::{Caller, PASSWORD, Person, empty_postgres, run_sql};
use tenant_auth_core::{
    Config, MasterKeys, Postgres, Sqlite, Store, StoreOptions, TenantAuth,
    id::DeploymentKeyId,
    model::{DeploymentScope, Role},
    operator::{NewDeploymentKey, NewOrganization, NewUser},
    ports::{Argon2Params, MailError, Mailer, Message},
    secret::Password,
};
use tokio::runtime::Runtime;

use crate::{
    MASTER_KEY, Program,
    running::{DEADLINE, Running},
};

/// Where every race takes place.
const SLUG: &str = "acme";
/// What the limits have counted, and the mails by which some of them count: a thousand rounds are more than any limit allows.
const FORGET_COUNTS: &str = "DELETE FROM tenant_auth_throttles; DELETE FROM tenant_auth_mails";

/// The database of a deployment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Database {
    Sqlite,
    Postgres,
}

/// The servers, and the library beside them.
pub(super) struct Deployment {
    /// One or two; the directory of the first may hold the database.
    servers: Vec<(Running, Program)>,
    database: String,
    library: TenantAuth,
    letters: Arc<Letters>,
    people: AtomicUsize,
}

/// The newest letter to each address.
#[derive(Debug, Default)]
struct Letters(Mutex<HashMap<String, String>>);

#[async_trait]
impl Mailer for Letters {
    async fn send(&self, message: &Message) -> Result<(), MailError> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(message.to.as_str().to_owned(), message.text.clone());
        Ok(())
    }
}

impl Deployment {
    /// `None` where PostgreSQL is wanted and not installed.
    pub(super) fn start(runtime: &Runtime, database: Database, processes: usize) -> Option<Self> {
        let first = Program::new();
        let file = first.path().join("shared.db").display().to_string();
        let url = match database {
            Database::Sqlite => format!("sqlite:{file}"),
            Database::Postgres => empty_postgres()?,
        };
        let programs = std::iter::once(first).chain((1..processes).map(|_| Program::new()));
        let cheap = |program: Program| {
            // A superseded refresh token is reuse at once; hashes cost nothing, for they decide nothing here.
            let program = program.with("DATABASE_URL", &url).with("REFRESH_GRACE", "0");
            program.with("ACCESS_TOKEN_TTL", "36000").with("ARGON2", "8,1,1")
        };
        let started = |program: Program| (Running::start(&program, &["serve"]), program);
        let servers = programs.map(cheap).map(started).collect();
        let letters = Arc::new(Letters::default());
        let library = runtime.block_on(async {
            let options = StoreOptions::with_connections(2);
            let store: Store = match database {
                Database::Sqlite => Sqlite::open_with(&file, options).await.expect("SQLite opens").into(),
                Database::Postgres => Postgres::connect_with(&url, options).await.expect("PostgreSQL answers").into(),
            };
            library(store, Arc::clone(&letters)).await
        });
        Some(Self { servers, database: url, library, letters, people: AtomicUsize::new(0) })
    }

    /// Someone without a session, who speaks to one of the servers: with two of them, 0 and 1 are different ones.
    pub(super) fn caller(&self, side: usize) -> Caller {
        Caller::at(self.address(side), SLUG)
    }

    /// The address of a server.
    pub(super) fn address(&self, side: usize) -> SocketAddr {
        self.servers[side % self.servers.len()].0.address.parse().expect("an address")
    }

    /// A new person, whose session is with the first server.
    pub(super) async fn person(&self, role: Role) -> Caller {
        let number = self.people.fetch_add(1, Ordering::Relaxed);
        let email = format!("person{number}@acme.example");
        let new = NewUser {
            email: email.parse().expect("an address"),
            name: "Pat".parse().expect("a name"),
            role,
            password: Password::new(PASSWORD),
        };
        let created = self.library.operator().create_user(&SLUG.parse().expect("a slug"), new).await.expect("they are new");
        let person = Person { id: created.user.id.to_string(), name: "Pat".to_owned(), email, password: PASSWORD.to_owned() };
        self.caller(0).named(person).logged_in().await
    }

    /// A new deployment key with the scope `admin`: its id and text.
    pub(super) async fn product_key(&self) -> (DeploymentKeyId, String) {
        let (name, scopes) = ("The product".parse().expect("a name"), vec![DeploymentScope::Admin]);
        let new = NewDeploymentKey { name, scopes, networks: Vec::new(), expires_at: None };
        let created = self.library.operator().create_deployment_key(new).await.expect("a key");
        (created.deployment_key.id, created.key.expose().to_owned())
    }

    /// Ends a deployment key, as the command line does.
    pub(super) async fn revoke_product_key(&self, key: &DeploymentKeyId) {
        self.library.operator().revoke_deployment_key(key).await.expect("it lives");
    }

    /// Lets every so many rounds begin as if nothing had ever been counted.
    pub(super) fn forget_counts(&self, round: usize, every: usize) {
        if round.is_multiple_of(every) {
            self.sql(FORGET_COUNTS);
        }
    }

    /// Changes the database behind the servers' backs.
    pub(super) fn sql(&self, statement: &str) {
        run_sql(&self.database, statement);
    }

    /// The token of the link that is on its way to an address. What is on its way to others is sent, too, so that whoever asks for many
    /// links first waits once.
    pub(super) async fn mailed_token(&self, email: &str) -> String {
        let deadline = Instant::now() + DEADLINE;
        loop {
            let letter = self.letters.0.lock().unwrap_or_else(PoisonError::into_inner).remove(email).unwrap_or_default();
            if let Some((_, rest)) = letter.split_once("token=") {
                return rest.chars().take_while(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_')).collect();
            }
            assert!(Instant::now() < deadline, "no link was mailed to {email}");
            self.library.worker().tick().await.expect("the database answers");
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    }
}

async fn library(store: Store, letters: Arc<Letters>) -> TenantAuth {
    let mut config = Config::new("http://localhost:8080".parse().expect("a URL"));
    config.passwords.argon2 = Argon2Params { memory_kib: 8, iterations: 1, parallelism: 1 };
    let builder = TenantAuth::builder().store(store).master_keys(MasterKeys::parse(MASTER_KEY).expect("a key"));
    let library = builder.config(config).mailer(letters).build().await.expect("it builds");
    let (name, admin) = ("Acme".parse().expect("a name"), "first@acme.example".parse().expect("an address"));
    let new = NewOrganization::new(name, SLUG.parse().expect("a slug"), admin);
    library.operator().create_organization(new).await.expect("it is new");
    library
}
