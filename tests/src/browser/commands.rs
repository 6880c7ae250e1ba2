//! The commands of chromedriver that are not in the WebDriver standard: its logs and the DevTools protocol.

use fantoccini::wd::WebDriverCompatibleCommand;
use serde_json::{Value, json};
use url::{ParseError, Url};

/// A POST to the session.
#[derive(Debug)]
pub(super) struct Command {
    path: &'static str,
    body: Value,
}

impl Command {
    /// What was logged since it was last asked: `browser` (the console) or `performance` (DevTools events).
    pub(super) fn log(kind: &str) -> Self {
        Self { path: "se/log", body: json!({ "type": kind }) }
    }

    /// A method of the DevTools protocol, in the current tab.
    pub(super) fn devtools(method: &str, parameters: Value) -> Self {
        Self { path: "goog/cdp/execute", body: json!({ "cmd": method, "params": parameters }) }
    }
}

impl WebDriverCompatibleCommand for Command {
    fn endpoint(&self, base: &Url, session: Option<&str>) -> Result<Url, ParseError> {
        base.join(&format!("session/{}/{}", session.unwrap_or_default(), self.path))
    }

    fn method_and_body(&self, _: &Url) -> (http::Method, Option<String>) {
        (http::Method::POST, Some(self.body.to_string()))
    }
}
