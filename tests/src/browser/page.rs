//! What somebody does at a page, and what they see. Each verb waits, within reason, until it can be done, as a person would; none
//! knows more of the page than its words.

use std::{future::Future, sync::Arc, time::Duration};

use fantoccini::{
    actions::{InputSource, KeyAction, KeyActions},
    elements::{Element, ElementRef},
    wd::WindowHandle,
};
use serde_json::{Value, json};
use tokio::time::Instant;

use super::{Place, journal::Journal, qr, session::Session};

const NAMES: &str = include_str!("names.js");
const SCAN: &str = include_str!("scan.js");
const REACH: &str = include_str!("reach.js");
/// How long somebody waits for a page.
const PATIENCE: Duration = Duration::from_secs(15);
const PAUSE: Duration = Duration::from_millis(30);
/// The key under which WebDriver refers to an element.
const ELEMENT: &str = "element-6066-11e4-a52e-4f735466cecf";

/// One tab, or a part of what it shows.
#[derive(Debug, Clone)]
pub struct Page {
    pub(super) session: Arc<Session>,
    window: WindowHandle,
    place: Place,
}

impl Page {
    pub(super) fn new(session: Arc<Session>, window: WindowHandle) -> Self {
        Self { session, window, place: Place::Page }
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
        Self { place: Place::Row(text.to_owned()), ..self.clone() }
    }

    /// The section under a heading.
    pub fn part(&self, heading: &str) -> Self {
        Self { place: Place::Part(heading.to_owned()), ..self.clone() }
    }

    /// Goes to a path of the service, or to a link in full.
    pub async fn open(&self, address: &str) {
        let url = if address.starts_with('/') { format!("{}{address}", self.session.origin) } else { address.to_owned() };
        self.here().await;
        // A link in a mail opens a page; it does not merely change the fragment of the one that is there.
        self.session.client.goto("about:blank").await.expect("an empty page");
        self.session.client.goto(&url).await.unwrap_or_else(|error| panic!("{url}: {error}"));
    }

    /// Loads the page again.
    pub async fn reload(&self) {
        self.here().await;
        self.session.client.refresh().await.expect("the page loads");
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
        let place = self.place.to_json();
        self.element(&what, "return option(...arguments)", vec![json!(field), json!(option), place])
            .await
            .click()
            .await
            .expect("it can be chosen");
    }

    /// Ticks a box, or takes the tick away.
    pub async fn tick(&self, name: &str) {
        self.on("box", name, |element| async move { element.click().await.map_err(|error| error.to_string()) }).await;
    }

    /// Types into whatever has the focus.
    pub async fn type_keys(&self, keys: &str) {
        self.here().await;
        let actions = keys.chars().fold(KeyActions::new("keyboard".to_owned()), |actions, value| {
            actions.then(KeyAction::Down { value }).then(KeyAction::Up { value })
        });
        self.session.client.perform_actions(actions).await.expect("keys can be pressed");
    }

    /// The name of what has the focus.
    pub async fn focused(&self) -> String {
        text(&self.run("return nameOf(document.activeElement)", vec![]).await)
    }

    /// What stands in a field.
    pub async fn value(&self, field: &str) -> String {
        let found = self
            .element(
                &format!("the field {field:?}"),
                "return find('field', ...arguments)",
                vec![json!(field), self.place.to_json()],
            )
            .await;
        found.prop("value").await.expect("it has a value").unwrap_or_default()
    }

    /// What a camera reads from a QR code that is called so.
    pub async fn scan(&self, picture: &str) -> String {
        let rows = self.eventually(&format!("the picture {picture:?}"), SCAN, vec![json!(picture), self.place.to_json()]).await;
        let rows = rows.as_array().expect("rows").iter().map(|row| text(row).chars().map(|module| module == '1').collect());
        qr::read(&rows.collect::<Vec<_>>())
    }

    /// What the clipboard holds.
    pub async fn clipboard(&self) -> String {
        text(&self.run("return navigator.clipboard.readText()", vec![]).await)
    }

    /// Waits until this text can be read.
    pub async fn reads(&self, text: &str) {
        self.eventually(&format!("the text {text:?}"), "return reads(...arguments)", vec![json!(text), self.place.to_json()]).await;
    }

    /// Waits until this text can be read no more.
    pub async fn reads_no(&self, text: &str) {
        let what = format!("no text {text:?}");
        self.eventually(&what, "return resting() && !reads(...arguments)", vec![json!(text), self.place.to_json()]).await;
    }

    /// Waits until there is something of that name to press.
    pub async fn offers(&self, name: &str) {
        self.eventually(
            &format!("something called {name:?}"),
            "return usable('press', ...arguments)",
            vec![json!(name), self.place.to_json()],
        )
        .await;
    }

    /// Waits until there is nothing of that name to press.
    pub async fn offers_no(&self, name: &str) {
        let what = format!("nothing called {name:?}");
        self.eventually(&what, "return resting() && !usable('press', ...arguments)", vec![json!(name), self.place.to_json()]).await;
    }

    /// Waits until the page of this title is there, and holds it to what every page must obey.
    pub async fn arrives_at(&self, title: &str) {
        self.eventually(&format!("the page {title:?}"), "return resting() && title() === arguments[0]", vec![json!(title)]).await;
        self.is_calm().await;
    }

    /// Waits until a dialog of this name is open.
    pub async fn asks(&self, name: &str) {
        self.eventually(&format!("the dialog {name:?}"), "return dialog() && nameOf(dialog()) === arguments[0]", vec![json!(name)])
            .await;
    }

    /// Waits until no dialog is open.
    pub async fn asks_nothing(&self) {
        self.eventually("no dialog", "return !dialog()", vec![]).await;
    }

    /// The service refused something on this page, as the scenario meant it to.
    pub async fn was_refused(&self, status: u16, path: &str) {
        self.session.read_logs().await;
        let times = self.session.with_journal(|journal| journal.account_for(status, path));
        assert!(
            times > 0,
            "{path} never answered {status}: {:?}",
            self.session.with_journal(|journal| journal.refusals().to_vec())
        );
    }

    /// Like [`Page::was_refused`], when nothing on the page says that the answer is there.
    pub async fn was_eventually_refused(&self, status: u16, path: &str) {
        self.eventually(
            "an answer",
            "return resting() && document.querySelector('[aria-invalid=true], [role=alert]:not([hidden])')",
            vec![],
        )
        .await;
        self.was_refused(status, path).await;
    }

    /// The access token had run out, and the page got itself another one: whatever it asked meanwhile was refused at first.
    pub async fn was_refreshed(&self) {
        self.session.read_logs().await;
        let times = self.session.with_journal(|journal| journal.account_for_any(401));
        assert!(times > 0, "nothing was asked with the old token");
    }

    /// Presses the same in two tabs at the same moment.
    pub async fn press_together(&self, other: &Self, name: &str) {
        let at = self.run("return Date.now() + 1500", vec![]).await;
        for page in [self, other] {
            let script = "const it = usable('press', arguments[1]); setTimeout(() => it.click(), arguments[0] - Date.now())";
            page.run(script, vec![at.clone(), json!(name)]).await;
        }
    }

    /// Nothing happened that must not: see [`super`].
    pub async fn is_calm(&self) {
        let offences = self.offences().await;
        assert!(offences.is_empty(), "{offences:#?}");
    }

    /// The end of a scenario: calm, and nothing refused that was not meant to be.
    pub(super) async fn finish(&self) {
        self.is_calm().await;
        let refusals = self.session.with_journal(|journal| journal.refusals().to_vec());
        assert!(refusals.is_empty(), "refused, but not announced: {refusals:?}");
    }

    /// The page as it is seen, written to `$TENANT_AUTH_SCREENSHOTS/{name}.png` if somebody asked for pictures.
    pub async fn is_pictured_as(&self, name: &str) {
        let Some(directory) = std::env::var_os("TENANT_AUTH_SCREENSHOTS") else { return };
        self.here().await;
        self.session.devtools("Emulation.setScrollbarsHidden", json!({ "hidden": true })).await;
        let picture = self.session.client.screenshot().await.expect("a picture");
        self.session.devtools("Emulation.setScrollbarsHidden", json!({ "hidden": false })).await;
        std::fs::create_dir_all(&directory).expect("a directory");
        std::fs::write(std::path::Path::new(&directory).join(format!("{name}.png")), picture).expect("it can be written");
    }

    /// Moves a part of the page to where it is seen whole.
    pub async fn scrolls_there(&self) {
        let script = "scope(...arguments).scrollIntoView({ block: 'end', behavior: 'instant' }); return true";
        self.eventually("the part", script, vec![self.place.to_json()]).await;
    }

    /// Shows the page to somebody who likes it dark.
    pub async fn is_dark(&self, is_dark: bool) {
        self.here().await;
        self.session.dark(is_dark).await;
    }

    /// What is on the page and was on the console, for whoever reads of a failure.
    pub(super) async fn shown(&self) -> String {
        let script = "return `${location}\\n${document.title}\\n${scope(null)?.innerText}`";
        let page = self.session.client.execute(&format!("{NAMES}{script}"), vec![]).await;
        let page = page.map_or_else(|error| error.to_string(), |page| text(&page));
        let logged = self.session.with_journal(|journal| format!("{journal:#?}"));
        format!("on the page:\n{page}\n{logged}")
    }

    /// What happened that must not, and what is within reach of scripts that must not be; asked for, it is forgiven.
    pub async fn offences(&self) -> Vec<String> {
        self.session.read_logs().await;
        let mut offences = self.session.with_journal(Journal::take_complaints);
        offences.extend(self.run(REACH, vec![]).await.as_array().into_iter().flatten().map(text));
        offences
    }

    /// Runs a script that knows `names.js`.
    pub async fn run(&self, script: &str, arguments: Vec<Value>) -> Value {
        self.here().await;
        let script = format!("{NAMES}{script}");
        self.session.client.execute(&script, arguments).await.unwrap_or_else(|error| panic!("{error}"))
    }

    pub(super) async fn here(&self) {
        self.session.turn_to(&self.window).await;
    }

    /// Waits until a script answers something that is true.
    pub(super) async fn eventually(&self, what: &str, script: &str, arguments: Vec<Value>) -> Value {
        self.here().await;
        let script = format!("{NAMES}{script}");
        let patience = Instant::now() + PATIENCE;
        loop {
            // A page that is just being replaced runs no script.
            let answer = self.session.client.execute(&script, arguments.clone()).await;
            match answer {
                Ok(Value::Null | Value::Bool(false)) | Err(_) if Instant::now() < patience => tokio::time::sleep(PAUSE).await,
                Ok(Value::Null | Value::Bool(false)) => panic!("waited in vain for {what}, in {:?}", self.place),
                Ok(answer) => return answer,
                Err(error) => panic!("waited in vain for {what}, in {:?}: {error}", self.place),
            }
        }
    }

    async fn element(&self, what: &str, script: &str, arguments: Vec<Value>) -> Element {
        let answer = self.eventually(what, script, arguments).await;
        let id = answer[ELEMENT].as_str().unwrap_or_else(|| panic!("no element: {answer}"));
        Element::from_element_id(self.session.client.clone(), ElementRef::from(id.to_owned()))
    }

    /// Does something with what is called so; again, if it was replaced or covered meanwhile.
    async fn on<F: Future<Output = Result<(), String>>>(&self, kind: &str, name: &str, act: impl Fn(Element) -> F) {
        let patience = Instant::now() + PATIENCE;
        loop {
            let arguments = vec![json!(kind), json!(name), self.place.to_json()];
            let element = self.element(&format!("{name:?} to {kind}"), "return usable(...arguments)", arguments).await;
            match act(element).await {
                Ok(()) => return,
                Err(error) if Instant::now() >= patience => panic!("{name:?}: {error}"),
                Err(_) => tokio::time::sleep(PAUSE).await,
            }
        }
    }
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}
