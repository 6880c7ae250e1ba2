//! The people of the races, each of whom loses a right once. The library makes them, beside the servers and without memory.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
    time::Duration,
};

use serde_json::json;
use tenant_auth_conformance::PASSWORD;
use tenant_auth_core::{
    Config, MasterKeys, Postgres, Sqlite, Store, StoreOptions, TenantAuth,
    model::{Role, Scope},
    operator::{NewOrganization, NewUser},
    ports::Argon2Params,
    secret::Password,
    value::Slug,
};
use tokio::runtime::Runtime;

use super::{client::Question, servers::Servers};
use crate::MASTER_KEY;

/// Someone with a session.
#[derive(Debug, Clone)]
pub(super) struct Person {
    pub(super) id: String,
    pub(super) email: String,
    pub(super) token: String,
}

/// Those who make them, and the organization's admin and backend.
pub(super) struct People<'a> {
    servers: &'a Servers,
    runtime: Runtime,
    library: TenantAuth,
    made: AtomicUsize,
    /// The token of an org_admin.
    pub(super) admin: Arc<str>,
    /// A key that may verify.
    pub(super) key: Arc<str>,
}

fn slug() -> Slug {
    "acme".parse().expect("a slug")
}

impl<'a> People<'a> {
    pub(super) fn of_new_organization(servers: &'a Servers) -> Self {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().expect("a runtime");
        let library = runtime.block_on(library(servers));
        let mut people = Self { servers, runtime, library, made: AtomicUsize::new(0), admin: "".into(), key: "".into() };
        people.admin = people.new_person(Role::OrgAdmin).token.into();
        people.key = people.new_key().1.into();
        people
    }

    /// A new member, logged in at one of the servers.
    pub(super) fn new_person(&self, role: Role) -> Person {
        let (id, email) = loop {
            let email = format!("person{}@acme.example", self.made.fetch_add(1, Ordering::SeqCst));
            let new = NewUser {
                email: email.parse().expect("an address"),
                name: "Pat".parse().expect("a name"),
                role,
                password: Password::new(PASSWORD),
            };
            match self.runtime.block_on(self.library.operator().create_user(&slug(), new)) {
                Ok(created) => break (created.user.id.to_string(), email),
                Err(_) => thread::sleep(Duration::from_millis(100)),
            }
        };
        let token = self.login(&email);
        Person { id, email, token }
    }

    /// Another session of a person: its token.
    pub(super) fn login(&self, email: &str) -> String {
        let login = Question::by("", "POST /auth/login", json!({ "email": email, "password": PASSWORD }));
        let data = self.servers.insist(&Question { credential: "X-Nobody: 1".to_owned(), ..login });
        data["accessToken"].as_str().expect("a token in the body").to_owned()
    }

    /// A new API key: its id and its text.
    pub(super) fn new_key(&self) -> (String, String) {
        let data = self.servers.insist(&Question::by(
            &self.admin,
            "POST /org/api-keys",
            json!({ "name": "doomed", "scopes": [Scope::Verify.as_str()] }),
        ));
        let text = |value: &serde_json::Value| value.as_str().expect("a text").to_owned();
        (text(&data["apiKey"]["id"]), text(&data["key"]))
    }
}

async fn library(servers: &Servers) -> TenantAuth {
    let options = StoreOptions::with_connections(2);
    let store: Store = match servers.file() {
        Some(file) => Sqlite::open_with(&file.display().to_string(), options).await.expect("SQLite opens").into(),
        None => Postgres::connect_with(&servers.url, options).await.expect("PostgreSQL answers").into(),
    };
    let mut config = Config::new("http://localhost:8080".parse().expect("a URL"));
    config.passwords.argon2 = Argon2Params { memory_kib: 8, iterations: 1, parallelism: 1 };
    config.memory.mebibytes = 0;
    let builder = TenantAuth::builder().store(store).master_keys(MasterKeys::parse(MASTER_KEY).expect("a key"));
    let library = builder.config(config).build().await.expect("it builds");
    let new = NewOrganization::new("Acme".parse().expect("a name"), slug(), "first@acme.example".parse().expect("an address"));
    library.operator().create_organization(new).await.expect("it is new");
    library
}
