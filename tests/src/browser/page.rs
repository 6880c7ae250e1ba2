//! The verbs of a person at a page. Each verb waits, within limits, until it can be done, as a person would; none knows more of the
//! page than its words.

use std::sync::Arc;

use fantoccini::{
    actions::{InputSource, KeyAction, KeyActions},
    wd::WindowHandle,
};
use serde_json::json;

use super::{Region, session::Session};

/// One tab, or a part of what it shows.
#[derive(Debug, Clone)]
pub struct Page {
    pub(super) session: Arc<Session>,
    pub(super) window: WindowHandle,
    pub(super) region: Region,
}

impl Page {
    pub(super) fn new(session: Arc<Session>, window: WindowHandle) -> Self {
        Self { session, window, region: Region::Page }
    }

    /// Another tab of the same browser.
    pub async fn another_tab(&self) -> Self {
        Self::new(Arc::clone(&self.session), self.session.new_tab().await)
    }

    /// Closes this tab; the first one stays.
    pub async fn close(self) {
        self.is_calm().await;
        self.session.client.close_window().await.expect("the tab closes");
        self.session.turn_to_first().await;
    }

    /// The row or list entry with a text.
    pub fn row(&self, text: &str) -> Self {
        Self { region: Region::Row(text.to_owned()), ..self.clone() }
    }

    /// The section under a heading.
    pub fn part(&self, heading: &str) -> Self {
        Self { region: Region::Part(heading.to_owned()), ..self.clone() }
    }

    /// Goes to a path of the service, or to a link in full.
    pub async fn open(&self, address: &str) {
        let url = if address.starts_with('/') { format!("{}{address}", self.session.origin) } else { address.to_owned() };
        self.here().await;
        // A link in a mail opens a page; it does not merely change the fragment of the one that is there.
        self.session.client.goto("about:blank").await.expect("an empty page");
        self.session.client.goto(&url).await.unwrap_or_else(|error| panic!("{url}: {error}"));
    }

    /// Makes the tab one that showed the panel before, to which a sign-in leads back.
    pub async fn was_sent_by_the_panel(&self) {
        let script = "sessionStorage.setItem(`tenant-auth${new URL('api/v1', location).pathname}:place`, '\"#/\"'); return true";
        self.run(script, vec![]).await;
    }

    /// Loads the page again.
    pub async fn reload(&self) {
        self.here().await;
        self.session.client.refresh().await.expect("the page loads");
    }

    /// Presses the browser's own button.
    pub async fn goes_back(&self) {
        self.here().await;
        self.session.client.back().await.expect("there is a page before this one");
    }

    /// Runs a script on every page from now on, before the page's own: what a browser may be like.
    pub async fn begins_with(&self, script: &str) {
        self.here().await;
        self.session.devtools("Page.addScriptToEvaluateOnNewDocument", json!({ "source": script })).await;
    }

    /// Asks for pages in this language from now on, whatever the browser's own is.
    pub async fn prefers(&self, language: &str) {
        self.here().await;
        self.session.devtools("Network.enable", json!({})).await;
        let headers = json!({ "headers": { "Accept-Language": language } });
        self.session.devtools("Network.setExtraHTTPHeaders", headers).await;
    }

    /// Loads nothing from these addresses any more, where `*` stands for any text.
    pub async fn cannot_load(&self, addresses: &[&str]) {
        self.here().await;
        self.session.devtools("Network.enable", json!({})).await;
        self.session.devtools("Network.setBlockedURLs", json!({ "urls": addresses })).await;
    }

    /// Presses a button or follows a link.
    pub async fn press(&self, name: &str) {
        self.on("press", name, |element| async move { element.click().await.map_err(|error| error.to_string()) }).await;
    }

    /// Replaces what stands in a field.
    pub async fn fill(&self, field: &str, text: &str) {
        self.on("field", field, |element| async move {
            element.clear().await.map_err(|error| error.to_string())?;
            element.send_keys(text).await.map_err(|error| error.to_string())
        })
        .await;
    }

    /// Chooses from a list.
    pub async fn choose(&self, field: &str, option: &str) {
        let what = format!("the choice {option:?} of {field:?}");
        let region = self.region.to_json();
        self.element(&what, "return option(...arguments)", vec![json!(field), json!(option), region])
            .await
            .click()
            .await
            .expect("it can be chosen");
    }

    /// Ticks a box, or takes the tick away.
    pub async fn tick(&self, name: &str) {
        self.on("box", name, |element| async move { element.click().await.map_err(|error| error.to_string()) }).await;
    }

    /// Types into the element that has the focus.
    pub async fn type_keys(&self, keys: &str) {
        self.here().await;
        let actions = keys.chars().fold(KeyActions::new("keyboard".to_owned()), |actions, value| {
            actions.then(KeyAction::Down { value }).then(KeyAction::Up { value })
        });
        self.session.client.perform_actions(actions).await.expect("keys can be pressed");
    }

    /// Presses the same in two tabs at the same moment.
    pub async fn press_together(&self, other: &Self, name: &str) {
        let at = self.run("return Date.now() + 1500", vec![]).await;
        for page in [self, other] {
            let script = "const it = usable('press', arguments[1]); setTimeout(() => it.click(), arguments[0] - Date.now())";
            page.run(script, vec![at.clone(), json!(name)]).await;
        }
    }
}
