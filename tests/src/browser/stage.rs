//! The stage of a browser scenario: a service at `http://localhost:{port}`, which browsers trust like https, with its worker
//! running as in production, and a person with a browser.

use std::{ops::Deref, sync::Arc, sync::Mutex, sync::PoisonError, time::Duration};

use tenant_auth_core::ports::{Clock, HttpSender, RecordingMailer, SystemClock};
use tokio::{task::JoinHandle, time::Instant};

use super::{Page, driver::Driver, session::Session};
use crate::{Adapter, App, Cell, Engine, Setup, database::Database, server};

/// How long a mail may be on its way.
const PATIENCE: Duration = Duration::from_secs(10);

/// A running service and a browser before it.
#[derive(Debug)]
pub struct Stage {
    app: App,
    /// The browser's first tab.
    pub page: Page,
    outbox: Arc<RecordingMailer>,
    /// How many mails were looked at.
    read: Mutex<usize>,
    worker: JoinHandle<()>,
}

impl Deref for Stage {
    type Target = App;

    fn deref(&self) -> &App {
        &self.app
    }
}

impl Stage {
    pub(super) async fn set(adapter: Adapter, driver: &Driver, below: &str) -> Self {
        let listener = server::listener();
        let origin = format!("http://localhost:{}{below}", listener.local_addr().expect("a bound socket").port());
        let mut setup = Setup::new();
        setup.config.public_url = origin.parse().expect("a URL");
        setup.config.organizations.operator_org = Some("acme".parse().expect("a slug"));
        setup.config.webhooks.allow_private_networks = true;
        setup.sender = Some(Arc::new(HttpSender::new().expect("a sender")));
        // Pages tell times against the browser's clock, so the service starts there.
        setup.clock.advance(SystemClock.now().since(setup.clock.now()));
        let outbox = Arc::clone(&setup.outbox);
        let cell = Cell { adapter, engine: Engine::Sqlite };
        let app = App::start_on(listener, cell, setup, Arc::new(Database::create(cell.engine))).await;
        let worker = app.auth.worker();
        let worker = tokio::spawn(async move { worker.run_until(std::future::pending()).await });
        let (session, window) = Session::start(driver, origin).await;
        Self { app, page: Page::new(session, window), outbox, read: Mutex::new(0), worker }
    }

    /// Closes the browser, or gives it back where all was well in it.
    pub(super) async fn strike(self, driver: &Driver, was_well: bool) {
        self.worker.abort();
        let client = self.page.session.client.clone();
        if was_well {
            driver.keep(client);
        } else {
            let _ = client.close().await;
        }
    }

    /// Where the pages are.
    pub fn origin(&self) -> &str {
        &self.page.session.origin
    }

    /// Waits for an unread mail to an address with a link to this page, such as `/invite`; returns the link.
    pub async fn link(&self, address: &str, page: &str) -> String {
        let start = format!("{}{page}#", self.origin());
        let patience = Instant::now() + PATIENCE;
        loop {
            if let Some(link) = self.unread_link(address, &start) {
                return link;
            }
            assert!(Instant::now() < patience, "no mail to {address} leads to {start}…");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    fn unread_link(&self, address: &str, start: &str) -> Option<String> {
        let mut read = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        let sent = self.outbox.sent();
        let unread = sent.iter().enumerate().skip(*read);
        let mut to_them = unread.filter(|(_, mail)| mail.to.as_str().eq_ignore_ascii_case(address));
        let (index, link) = to_them.find_map(|(index, mail)| Some((index, link_in(&mail.text, start)?)))?;
        *read = index + 1;
        Some(link)
    }

    /// Ends the session at the browser.
    pub async fn signs_out(&self) {
        self.page.press("Sign out").await;
        self.page.arrives_at("Sign in").await;
    }

    /// A person who is already signed in; how to sign in is another scenario's subject.
    pub async fn signs_in(&self, email: &str, password: &str) {
        self.page.open("/sign-in#org=acme").await;
        self.page.arrives_at("Sign in").await;
        self.page.was_sent_by_the_panel().await;
        self.page.fill("Email address", email).await;
        self.page.fill("Password", password).await;
        self.page.press("Sign in").await;
    }
}

fn link_in(text: &str, start: &str) -> Option<String> {
    let (at, _) = text.match_indices(start).next()?;
    text[at..].split_whitespace().next().map(str::to_owned)
}
