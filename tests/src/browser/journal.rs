//! What the browser logged: the console, and each request that left it. Nothing may stand on the console, except Chromium's own
//! advice to authors, and its note of every answer of 400 and above; a scenario that provokes one of those says so.

use serde_json::Value;

/// What was logged so far and not yet accounted for.
#[derive(Debug, Default)]
pub(super) struct Journal {
    complaints: Vec<String>,
    refusals: Vec<(u16, String)>,
}

impl Journal {
    /// Entries of the console.
    pub(super) fn console(&mut self, entries: &[Value], origin: &str) {
        for entry in entries {
            let message = entry["message"].as_str().unwrap_or_default();
            match refusal(message, origin).filter(|_| entry["source"] == "network") {
                Some(refusal) => self.refusals.push(refusal),
                None if entry["source"] == "recommendation" => {}
                None => self.complaints.push(format!("console, {}: {message}", entry["source"])),
            }
        }
    }

    /// DevTools events, each as JSON in a string.
    pub(super) fn requests(&mut self, entries: &[Value], origin: &str) {
        for entry in entries {
            let event: Value = entry["message"].as_str().and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default();
            let parameters = &event["message"]["params"];
            match event["message"]["method"].as_str() {
                Some("Network.requestWillBeSent") => {
                    let url = parameters["request"]["url"].as_str().unwrap_or_default();
                    let is_own = url.strip_prefix(origin).is_some_and(|rest| rest.starts_with('/'));
                    if !is_own && !["data:", "blob:", "about:"].iter().any(|scheme| url.starts_with(scheme)) {
                        self.complaints.push(format!("a request to another host: {url}"));
                    }
                }
                Some("Network.loadingFailed") if parameters["blockedReason"].is_string() => {
                    self.complaints.push(format!("blocked: {parameters}"));
                }
                _ => {}
            }
        }
    }

    /// Takes out the refusals of one kind; how many there were.
    pub(super) fn account_for(&mut self, status: u16, path: &str) -> usize {
        let before = self.refusals.len();
        self.refusals.retain(|(have, at)| !(*have == status && at == path));
        before - self.refusals.len()
    }

    /// Takes out the refusals of one status, for any URL; returns their number.
    pub(super) fn account_for_any(&mut self, status: u16) -> usize {
        let before = self.refusals.len();
        self.refusals.retain(|(have, _)| *have != status);
        before - self.refusals.len()
    }

    /// Takes out what must not be there.
    pub(super) fn take_complaints(&mut self) -> Vec<String> {
        std::mem::take(&mut self.complaints)
    }

    /// The entries that no scenario announced.
    pub(super) fn refusals(&self) -> &[(u16, String)] {
        &self.refusals
    }
}

/// `{url} - Failed to load resource: the server responded with a status of 401 (Unauthorized)`
fn refusal(message: &str, origin: &str) -> Option<(u16, String)> {
    let (url, said) = message.split_once(" - Failed to load resource: the server responded with a status of ")?;
    let path = url.strip_prefix(origin)?.strip_prefix(crate::BASE)?;
    Some((said.get(..3)?.parse().ok()?, path.split('?').next().unwrap_or(path).to_owned()))
}
