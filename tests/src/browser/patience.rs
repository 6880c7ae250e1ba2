//! Polling: asks the page again and again until a condition holds, because pages load and lists are redrawn, and a person would
//! wait for that, too.

use std::{future::Future, time::Duration};

use fantoccini::elements::{Element, ElementRef};
use serde_json::{Value, json};
use tokio::time::Instant;

use super::Page;

pub(super) const NAMES: &str = include_str!("names.js");
/// The time limit of a wait for a page.
const PATIENCE: Duration = Duration::from_secs(60);
const PAUSE: Duration = Duration::from_millis(30);
/// The key under which WebDriver refers to an element.
const ELEMENT: &str = "element-6066-11e4-a52e-4f735466cecf";

impl Page {
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
                Ok(Value::Null | Value::Bool(false)) => panic!("waited in vain for {what}, in {:?}", self.region),
                Ok(answer) => return answer,
                Err(error) => panic!("waited in vain for {what}, in {:?}: {error}", self.region),
            }
        }
    }

    pub(super) async fn element(&self, what: &str, script: &str, arguments: Vec<Value>) -> Element {
        let answer = self.eventually(what, script, arguments).await;
        let id = answer[ELEMENT].as_str().unwrap_or_else(|| panic!("no element: {answer}"));
        Element::from_element_id(self.session.client.clone(), ElementRef::from(id.to_owned()))
    }

    /// Does something with what is called so; again, if it was replaced or covered meanwhile.
    pub(super) async fn on<F: Future<Output = Result<(), String>>>(&self, kind: &str, name: &str, act: impl Fn(Element) -> F) {
        let patience = Instant::now() + PATIENCE;
        loop {
            let arguments = vec![json!(kind), json!(name), self.region.to_json()];
            let element = self.element(&format!("{name:?} to {kind}"), "return usable(...arguments)", arguments).await;
            match act(element).await {
                Ok(()) => return,
                Err(error) if Instant::now() >= patience => panic!("{name:?}: {error}"),
                Err(_) => tokio::time::sleep(PAUSE).await,
            }
        }
    }
}

/// A text, or nothing.
pub(super) fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}
