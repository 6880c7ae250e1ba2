//! A whole service for a host's own tests: a temporary SQLite file, a clock that stands still, a mailer and a sender of webhooks
//! that record what they get, cheap hashing, and an organization with an admin and a member who can log in at once. It panics where
//! a service would return an error: a test that cannot be set up has failed.
//!
//! | A test wants to | With |
//! |---|---|
//! | let time pass | `test.clock.advance(duration)` |
//! | read a mail | [`TestAuth::tick`], then `test.mails.sent()` |
//! | use a mailed link | [`TestAuth::mailed_token`] |
//! | see what a webhook was sent | `test.resolver.answer(host, addresses)`, [`TestAuth::tick`], `test.sender.sent()` |
//! | let a webhook's receiver fail | `test.sender.answer(url, answer)` |
//! | act as a person | [`TestAuth::signed_in`], [`TestAuth::org_admin`], [`TestAuth::api_key`] |
//! | pass a second factor | [`TestAuth::one_time_password`] |
//!
//! ```
//! use tenant_auth_core::{Verification, testing::TestAuth};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() {
//! let test = TestAuth::new().await;
//! let tokens = test.login(&test.member).await;
//! let Verification::Valid(principal) = test.org.verify(tokens.access.expose()).await.unwrap() else { panic!("a live token") };
//! assert_eq!(principal.user.email, test.member.email);
//! test.clock.advance(test.auth.config().sessions.access_token_ttl);
//! assert!(matches!(test.org.verify(tokens.access.expose()).await.unwrap(), Verification::Invalid));
//! # }
//! ```

pub mod change_log;
pub mod internals;

use std::sync::Arc;

use tempfile::TempDir;

use crate::{
    account::{Login, SecondFactorSetup, login::Credentials},
    backend::NewApiKey,
    caller::{Client, Member, OrgAdmin, Tenant},
    config::Config,
    id::UserId,
    model::{Role, Scope, Status},
    operator::{NewOrganization, NewUser},
    ports::{Argon2Params, Clock, MockClock, RecordingMailer, RecordingSender, ScriptedResolver},
    sealed::MasterKeys,
    secret::{ApiKeyText, LinkToken, Password},
    service::TenantAuth,
    store::Sqlite,
    time::Timestamp,
    token::Tokens,
    value::{Email, Plan, Slug},
};

/// The slug of [`TestAuth::org`].
pub const SLUG: &str = "acme";
/// The password of every test person.
pub const PASSWORD: &str = "mauve-otter-plinth-42";

/// A service with an organization, its admin and its member. The file goes with it.
#[derive(Debug)]
pub struct TestAuth {
    /// The service.
    pub auth: TenantAuth,
    /// Moves only when told to; begins at 2026-11-20T08:21:00Z.
    pub clock: Arc<MockClock>,
    /// What was mailed; [`TestAuth::tick`] sends what waits.
    pub mails: Arc<RecordingMailer>,
    /// What webhooks were sent, and what their receivers answer: 200, unless a test says otherwise.
    pub sender: Arc<RecordingSender>,
    /// The addresses of the receivers' hosts; a host without an answer does not exist.
    pub resolver: Arc<ScriptedResolver>,
    /// The organization `acme`.
    pub org: Tenant,
    /// `ada@acme.example`, an org_admin.
    pub admin: TestPerson,
    /// `max@acme.example`, a plain member.
    pub member: TestPerson,
    _file: TempDir,
}

/// A person who can log in.
#[derive(Debug, Clone)]
pub struct TestPerson {
    /// `usr_…`
    pub id: UserId,
    /// The address.
    pub email: Email,
    /// The password as typed.
    pub password: Password,
}

impl TestAuth {
    /// A service at `http://localhost` with default settings.
    ///
    /// # Panics
    /// When it cannot be set up, such as outside a tokio runtime.
    pub async fn new() -> Self {
        Self::with(|_| ()).await
    }

    /// The same with other settings.
    ///
    /// # Panics
    /// As [`TestAuth::new`].
    pub async fn with(change: impl FnOnce(&mut Config)) -> Self {
        let file = tempfile::tempdir().expect("a temporary directory");
        let clock = Arc::new(MockClock::at(Timestamp::parse("2026-11-20T08:21:00Z").expect("a time")));
        let mails = Arc::new(RecordingMailer::default());
        let (sender, resolver) = (Arc::new(RecordingSender::default()), Arc::new(ScriptedResolver::default()));
        let mut config = Config::new("http://localhost".parse().expect("a URL"));
        config.passwords.argon2 = Argon2Params { memory_kib: 64, iterations: 1, parallelism: 1 };
        change(&mut config);
        let path = file.path().join("auth.db");
        let auth = TenantAuth::builder()
            .store(Sqlite::open(&path.to_string_lossy()).await.expect("SQLite opens"))
            .master_keys(MasterKeys::parse(&MasterKeys::generate_text()).expect("a generated key"))
            .config(config)
            .clock(Arc::clone(&clock) as _)
            .mailer(Arc::clone(&mails) as _)
            .sender(Arc::clone(&sender) as _)
            .resolver(Arc::clone(&resolver) as _)
            .build()
            .await
            .expect("the service can be built");
        let new = NewOrganization {
            name: "Acme Rockets".parse().expect("a name"),
            slug: SLUG.parse().expect("a slug"),
            plan: Plan::default(),
            app_url: None,
            admin_email: "first@acme.example".parse().expect("an address"),
        };
        auth.operator().create_organization(new).await.expect("the organization is new");
        let admin = person(&auth, "Ada Admin", Role::OrgAdmin).await;
        let member = person(&auth, "Max Member", Role::Member).await;
        let org = auth.tenant(&slug()).await.expect("the organization exists");
        Self { auth, clock, mails, sender, resolver, org, admin, member, _file: file }
    }

    /// Adds a person; the address is the first name's, `grace@acme.example` for `Grace Hopper`.
    ///
    /// # Panics
    /// When the name is none, or taken.
    pub async fn person(&self, name: &str, role: Role) -> TestPerson {
        person(&self.auth, name, role).await
    }

    /// Logs a person in: the tokens of a new session.
    ///
    /// # Panics
    /// When the login is refused.
    pub async fn login(&self, person: &TestPerson) -> Tokens {
        let (email, password) = (person.email.clone(), person.password.clone());
        match self.org.login(Credentials { email, password, client: Client::default() }).await {
            Ok(Login::Session(opened)) => opened.tokens,
            other => panic!("{} cannot log in: {other:?}", person.email),
        }
    }

    /// A person as a member with a new session.
    ///
    /// # Panics
    /// As [`TestAuth::login`].
    pub async fn signed_in(&self, person: &TestPerson) -> Member {
        let tokens = self.login(person).await;
        self.org.authenticate(tokens.access.expose()).await.expect("a session that has just begun")
    }

    /// [`TestAuth::admin`] in a new session, with the rights of an org_admin.
    ///
    /// # Panics
    /// When they are none any more.
    pub async fn org_admin(&self) -> OrgAdmin {
        self.signed_in(&self.admin).await.into_admin().expect("an org_admin")
    }

    /// One round of the worker: delivers and sends what is due.
    ///
    /// # Panics
    /// When the database is away.
    pub async fn tick(&self) {
        self.auth.worker().tick().await.expect("the database is there");
    }

    /// The token of the newest link mailed to an address, after a [`TestAuth::tick`].
    ///
    /// # Panics
    /// When the newest mail to that address holds no link.
    pub async fn mailed_token(&self, to: &Email) -> LinkToken {
        self.tick().await;
        let mails = self.mails.sent();
        let mail = mails.iter().rfind(|mail| mail.to == *to).expect("a mail to that address");
        let (_, rest) = mail.text.split_once("token=").expect("a link in the newest mail");
        rest.split_whitespace().next().unwrap_or_default().into()
    }

    /// What an authenticator shows now. No code works twice: let 30 seconds pass before the next.
    ///
    /// # Panics
    /// When the setup is not of this crate's making.
    pub fn one_time_password(&self, setup: &SecondFactorSetup) -> String {
        let totp = totp_rs::Totp::from_url(setup.otpauth_url.expose()).expect("a URL of this crate's making");
        totp.generate(u64::try_from(self.clock.now().secs()).expect("a time after 1970")).to_string()
    }

    /// Suspends or reactivates a person, as an org_admin does.
    ///
    /// # Panics
    /// When the admin may not.
    pub async fn set_status(&self, person: &TestPerson, status: Status) {
        self.org_admin().await.set_status(&person.id, status).await.expect("the admin may");
    }

    /// An API key of the organization.
    ///
    /// # Panics
    /// Beyond the limit of keys.
    pub async fn api_key(&self, scopes: &[Scope]) -> ApiKeyText {
        let new = NewApiKey { name: "test".parse().expect("a name"), scopes: scopes.to_vec(), expires_at: None };
        self.auth.operator().create_api_key(&slug(), new).await.expect("a key can be made").key
    }
}

async fn person(auth: &TenantAuth, name: &str, role: Role) -> TestPerson {
    let first = name.split_whitespace().next().unwrap_or(name).to_lowercase();
    let email: Email = format!("{first}@{SLUG}.example").parse().expect("an address");
    let new = NewUser { email: email.clone(), name: name.parse().expect("a name"), role, password: PASSWORD.into() };
    let created = auth.operator().create_user(&slug(), new).await.expect("the person is new");
    TestPerson { id: created.user.id, email, password: PASSWORD.into() }
}

fn slug() -> Slug {
    SLUG.parse().expect("a slug")
}
