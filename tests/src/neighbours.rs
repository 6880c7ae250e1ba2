//! Two organizations on a socket, each with something of everything that an organization may have: for programs that try whether one
//! reaches what is the other's.

use std::net::SocketAddr;

use serde_json::json;
use tenant_auth_core::{
    backend::NewApiKey,
    model::{Role, Scope},
    operator::NewOrganization,
    testing::TestAuth,
};

use crate::{
    Adapter, Caller, PASSWORD,
    caller::Person,
    id_of,
    server::{self, Server},
    template,
};

/// `acme` and `globex`, served.
#[derive(Debug)]
pub struct Neighbours {
    test: TestAuth,
    server: Server,
    keys: [String; 2],
}

const SLUGS: [&str; 2] = ["acme", "globex"];
const RECEIVER: &str = "hooks.example.com";

impl Neighbours {
    /// Serves them by this adapter.
    ///
    /// # Panics
    /// When they cannot be made.
    pub async fn start(adapter: Adapter) -> Self {
        let test = TestAuth::new().await;
        test.resolver.answer(RECEIVER, vec!["93.184.216.34".parse().expect("an address")]);
        let email = "first@globex.example".parse().expect("an address");
        let globex = NewOrganization::new("Globex".parse().expect("a name"), "globex".parse().expect("a slug"), email);
        test.auth.operator().create_organization(globex).await.expect("it is new");
        let server = Server::start_on(server::listener(), &test.auth, adapter);
        let mut keys = Vec::new();
        for slug in SLUGS {
            keys.push(furnish(&test, server.address(), slug).await);
        }
        Self { test, server, keys: keys.try_into().expect("two") }
    }

    /// Where they are served.
    pub fn address(&self) -> SocketAddr {
        self.server.address()
    }

    /// The environment that gives `isolation-check` the credentials of everybody.
    pub fn environment(&self) -> Vec<(String, String)> {
        let mut environment = Vec::new();
        for ((side, slug), key) in ["A", "B"].into_iter().zip(SLUGS).zip(&self.keys) {
            let mut set = |name: &str, value: &str| environment.push((format!("ISOLATION_{side}_{name}"), value.to_owned()));
            set("EMAIL", &format!("olga@{slug}.example"));
            set("PASSWORD", PASSWORD);
            set("MEMBER_EMAIL", &format!("pat@{slug}.example"));
            set("MEMBER_PASSWORD", PASSWORD);
            set("API_KEY", key);
        }
        environment
    }

    /// A session of an org_admin of `globex`: its access token.
    pub async fn token_at_globex(&self) -> String {
        let caller = Caller::at(self.address(), "globex");
        caller.login_with("olga@globex.example", PASSWORD).await.expect(200);
        caller.access_token()
    }

    /// Everything that both organizations show of themselves, but for sessions and for when keys were used.
    pub async fn seen(&self) -> Vec<String> {
        let mut seen = Vec::new();
        for slug in SLUGS {
            let caller = Caller::at(self.address(), slug);
            caller.login_with(&format!("olga@{slug}.example"), PASSWORD).await.expect(200);
            for path in ["/org", "/org/members", "/org/invites", "/org/webhooks"] {
                seen.push(caller.get(path).await.expect(200).body);
            }
            let keys = caller.get("/org/api-keys").await.expect_ok();
            let keys = keys["apiKeys"].as_array().expect("a list").iter().map(|key| id_of(key).to_owned());
            seen.push(keys.collect::<Vec<_>>().join(" "));
        }
        seen
    }

    /// The service behind them.
    pub fn service(&self) -> &TestAuth {
        &self.test
    }
}

/// Olga the org_admin, Pat the member, a pending invite, a webhook with a delivery, a key with every scope that an admin may give.
async fn furnish(test: &TestAuth, address: SocketAddr, slug: &str) -> String {
    let olga: Person = template::person(&test.auth, slug, "Olga", Role::OrgAdmin).await;
    template::person(&test.auth, slug, "Pat", Role::Member).await;
    let scopes = vec![Scope::Verify, Scope::UsersRead, Scope::MembersRead, Scope::EventsRead];
    let new = NewApiKey { name: "Back end".parse().expect("a name"), scopes, expires_at: None };
    let key = test.auth.operator().create_api_key(&slug.parse().expect("a slug"), new).await.expect("room for a key");
    let admin = Caller::at(address, slug).named(olga).logged_in().await;
    let webhook = json!({ "url": format!("https://{RECEIVER}/{slug}"), "events": ["*"] });
    let webhook = admin.post("/org/webhooks", webhook).await.expect(201).data();
    admin.post_nothing(&format!("/org/webhooks/{}/test", id_of(&webhook["webhook"]))).await.expect(202);
    test.tick().await;
    key.key.expose().to_owned()
}
