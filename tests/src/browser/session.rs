//! One browser: its tabs, and what it logged. WebDriver speaks to one tab at a time, so each step begins by turning to its own.

use std::sync::{
    Arc, Mutex, PoisonError,
    atomic::{AtomicBool, Ordering},
};

use fantoccini::{Client, wd::WindowHandle};
use serde_json::{Value, json};

use tempfile::TempDir;
use url::Url;

use super::{commands::Command, driver::Driver, journal::Journal};
use crate::scratch;

/// A window of 360 pixels, of which a scroll bar takes fifteen.
pub(super) const NARROW: (u32, u32) = (345, 740);
/// A window as README shows it.
pub(super) const WIDE: (u32, u32) = (1280, 800);
const WATCH: &str = include_str!("watch.js");

/// A running browser.
#[derive(Debug)]
pub(super) struct Session {
    pub(super) client: Client,
    /// The service's URL; a request to any other host is a fault.
    pub(super) origin: String,
    /// Where what is downloaded goes.
    pub(super) downloads: TempDir,
    /// See [`Session::are_colours_forced`].
    pub(super) forces_colours: AtomicBool,
    current: tokio::sync::Mutex<WindowHandle>,
    journal: Mutex<Journal>,
}

impl Session {
    /// Starts a browser, and returns its first tab.
    pub(super) async fn start(driver: &Driver, origin: String) -> (Arc<Self>, WindowHandle) {
        let (client, first) = driver.session().await;
        let session = Self {
            client,
            origin,
            downloads: scratch::directory("downloads"),
            forces_colours: AtomicBool::new(false),
            current: tokio::sync::Mutex::new(first.clone()),
            journal: Mutex::default(),
        };
        let origin = Url::parse(&session.origin).expect("a URL").origin().ascii_serialization();
        let grant = json!({ "origin": origin, "permissions": ["clipboardReadWrite", "clipboardSanitizedWrite"] });
        session.devtools("Browser.grantPermissions", grant).await;
        let downloads = json!({ "behavior": "allow", "downloadPath": session.downloads.path() });
        session.devtools("Browser.setDownloadBehavior", downloads).await;
        session.prepare().await;
        (Arc::new(session), first)
    }

    /// Opens another tab and turns to it.
    pub(super) async fn new_tab(&self) -> WindowHandle {
        let window = self.client.new_window(true).await.expect("another tab").handle;
        self.turn_to(&window).await;
        self.prepare().await;
        window
    }

    /// Speaks to this tab from now on.
    pub(super) async fn turn_to(&self, window: &WindowHandle) {
        let mut current = self.current.lock().await;
        if *current != *window {
            self.client.switch_to_window(window.clone()).await.expect("the tab is open");
            *current = window.clone();
        }
    }

    /// Speaks to the first tab, when the one it spoke to is gone.
    pub(super) async fn turn_to_first(&self) {
        let first = self.client.windows().await.expect("a list of tabs").into_iter().next().expect("a tab");
        self.client.switch_to_window(first.clone()).await.expect("the tab is open");
        *self.current.lock().await = first;
    }

    /// A method of the DevTools protocol, in the current tab.
    pub(super) async fn devtools(&self, method: &str, parameters: Value) -> Value {
        let answer = self.client.issue_cmd(Command::devtools(method, parameters)).await;
        answer.unwrap_or_else(|error| panic!("{method}: {error}"))
    }

    /// Reads the logs.
    pub(super) async fn read_logs(&self) {
        let mut read = Vec::new();
        for kind in ["browser", "performance"] {
            let entries = self.client.issue_cmd(Command::log(kind)).await.unwrap_or_else(|error| panic!("the {kind} log: {error}"));
            read.push(entries.as_array().cloned().unwrap_or_default());
        }
        self.with_journal(|journal| {
            journal.console(&read[0], &self.origin);
            journal.requests(&read[1], &self.origin);
        });
    }

    /// What the logs said so far.
    pub(super) fn with_journal<T>(&self, look: impl FnOnce(&mut Journal) -> T) -> T {
        look(&mut self.journal.lock().unwrap_or_else(PoisonError::into_inner))
    }

    async fn prepare(&self) {
        self.devtools("Page.addScriptToEvaluateOnNewDocument", json!({ "source": WATCH })).await;
        self.size(WIDE).await;
    }

    /// The size of the page's window, in CSS pixels.
    pub(super) async fn size(&self, (width, height): (u32, u32)) {
        let metrics = json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": false });
        self.devtools("Emulation.setDeviceMetricsOverride", metrics).await;
    }

    /// Whether pages are shown in the system's few colours.
    pub(super) fn are_colours_forced(&self) -> bool {
        self.forces_colours.load(Ordering::SeqCst)
    }

    /// Whether people like it dark. Colours that are forced stay so.
    pub(super) async fn dark(&self, is_dark: bool) {
        let scheme = if is_dark { "dark" } else { "light" };
        let forced = if self.are_colours_forced() { "active" } else { "none" };
        let features = [("prefers-color-scheme", scheme), ("forced-colors", forced)];
        let features = features.map(|(name, value)| json!({ "name": name, "value": value }));
        self.devtools("Emulation.setEmulatedMedia", json!({ "features": features })).await;
    }
}
