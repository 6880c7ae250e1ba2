//! The service under test, running: one cell of the matrix with a database of its own, and the callers a scenario needs.

use std::{
    net::{SocketAddr, TcpListener},
    ops::Deref,
    sync::Arc,
    time::Duration,
};

use tenant_auth_core::{
    Config, MasterKeys, TenantAuth,
    ports::{Message, MockClock, RecordingMailer, RecordingSender, ScriptedResolver},
};

use crate::{
    Adapter, Caller, Cell, CookieRules, Org, Setup,
    caller::Target,
    database::Database,
    server::{self, Server},
};

/// A running service. Its own organization is `acme`; [`App::other_org`] is the neighbour.
#[derive(Debug)]
pub struct App {
    /// Where in the matrix this is.
    pub cell: Cell,
    /// The service behind the server, for what has no endpoint: the operator's operations and the worker.
    pub auth: TenantAuth,
    /// Moves only when told to.
    pub clock: Arc<MockClock>,
    /// The settings it was built with.
    pub config: Config,
    outbox: Arc<RecordingMailer>,
    /// What was sent to webhooks, and how they answer.
    pub webhooks: Arc<RecordingSender>,
    /// Where names lead.
    pub resolver: Arc<ScriptedResolver>,
    setup: Setup,
    server: Server,
    database: Arc<Database>,
}

impl App {
    /// Builds and serves `setup` over `database`.
    pub async fn start(cell: Cell, setup: Setup, database: Arc<Database>) -> Self {
        Self::start_on(server::listener(), cell, setup, database).await
    }

    /// Builds and serves `setup` over `database`, on a port that was chosen before: its public URL may have to name it.
    pub(crate) async fn start_on(listener: TcpListener, cell: Cell, setup: Setup, database: Arc<Database>) -> Self {
        let keys = setup.master_keys.as_ref().unwrap_or(&database.template().master_key);
        let keys = MasterKeys::parse(keys).expect("well-formed master keys");
        let mut builder = TenantAuth::builder()
            .store(database.store().await)
            .master_keys(keys)
            .config(setup.config.clone())
            .clock(Arc::clone(&setup.clock) as _)
            .sender(setup.sender.clone().unwrap_or_else(|| Arc::clone(&setup.webhooks) as _))
            .resolver(setup.names.clone().unwrap_or_else(|| Arc::clone(&setup.resolver) as _))
            .mailer(setup.mailer.clone().unwrap_or_else(|| Arc::clone(&setup.outbox) as _));
        if let Some(hasher) = &setup.hasher {
            builder = builder.hasher(Arc::clone(hasher));
        }
        let auth = builder.build().await.expect("the service builds");
        Self {
            cell,
            clock: Arc::clone(&setup.clock),
            config: setup.config.clone(),
            outbox: Arc::clone(&setup.outbox),
            webhooks: Arc::clone(&setup.webhooks),
            resolver: Arc::clone(&setup.resolver),
            server: Server::start_on(listener, &auth, cell.adapter),
            auth,
            setup,
            database,
        }
    }

    /// Another server over the same database and clock, built differently: another process of the same deployment.
    pub async fn beside(&self, change: impl FnOnce(&mut Setup)) -> Self {
        let mut setup = self.setup.clone();
        change(&mut setup);
        Self::start(self.cell, setup, Arc::clone(&self.database)).await
    }

    /// The very same service, served by another adapter too.
    pub fn served_by(&self, adapter: Adapter) -> Self {
        Self {
            cell: Cell { adapter, ..self.cell },
            auth: self.auth.clone(),
            clock: Arc::clone(&self.clock),
            config: self.config.clone(),
            outbox: Arc::clone(&self.outbox),
            webhooks: Arc::clone(&self.webhooks),
            resolver: Arc::clone(&self.resolver),
            setup: self.setup.clone(),
            server: Server::start(&self.auth, adapter),
            database: Arc::clone(&self.database),
        }
    }

    /// The organization most scenarios take place in.
    pub fn org(&self) -> Org<'_> {
        Org::new(self, &self.database.template().acme)
    }

    /// The neighbour, which must never be reached from [`App::org`].
    pub fn other_org(&self) -> Org<'_> {
        Org::new(self, &self.database.template().globex)
    }

    /// A caller without a session, asking for `acme`.
    pub fn anonymous(&self) -> Caller {
        self.org().anonymous()
    }

    /// `acme`'s org_admin on a new device: not logged in yet.
    pub fn admin(&self) -> Caller {
        self.org().admin()
    }

    /// `acme`'s plain member on a new device: not logged in yet.
    pub fn member(&self) -> Caller {
        self.org().member()
    }

    /// `acme`'s own backend, with its API key.
    pub fn backend(&self) -> Caller {
        self.org().backend()
    }

    /// Moves time.
    pub fn advance(&self, seconds: u64) {
        self.clock.advance(Duration::from_secs(seconds));
    }

    /// Lets the worker do what is due.
    pub async fn tick(&self) {
        self.auth.worker().tick().await.expect("the database answers");
    }

    /// What was mailed to an address, oldest first, after the worker has sent what is due.
    pub async fn mail_to(&self, address: &str) -> Vec<Message> {
        self.tick().await;
        self.outbox.sent().into_iter().filter(|mail| mail.to.as_str().eq_ignore_ascii_case(address)).collect()
    }

    /// The token of the newest link mailed to an address.
    pub async fn link_token_of(&self, address: &str) -> String {
        let mail = self.mail_to(address).await.pop().unwrap_or_else(|| panic!("no mail to {address}"));
        link_token(&mail.text).unwrap_or_else(|| panic!("no link in: {}", mail.text))
    }

    /// The database, for what only an outage or a look at the bytes on disk can show.
    pub fn database(&self) -> &Database {
        self.database.deref()
    }

    /// The master key that sealed what the template's database held from the start.
    pub fn master_key(&self) -> &str {
        &self.database.template().master_key
    }

    /// The socket it listens on, for requests that no client would send.
    pub fn address(&self) -> SocketAddr {
        self.server.address()
    }

    pub(crate) fn target(&self) -> Target {
        Target {
            address: self.server.address(),
            adapter: self.cell.adapter,
            cookies: CookieRules::of(&self.config),
            is_host: false,
        }
    }
}

/// The token in a link of the default form, `…/invite#org={slug}&token={token}`.
pub(crate) fn link_token(text: &str) -> Option<String> {
    let (_, rest) = text.split_once("token=")?;
    let token: String = rest.chars().take_while(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_')).collect();
    Some(token).filter(|token| !token.is_empty())
}
