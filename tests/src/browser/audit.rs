//! The accessibility audit of a page: by axe-core's rules, by Chromium's accessibility tree, which is what a screen reader gets,
//! and by a script of our own for what neither judges. In light and in dark, on a wide and on a narrow window.

use serde_json::{Value, json};

use super::{Page, keys, session};

const AUDIT: &str = include_str!("audit.js");
/// What people operate or look at: each needs a name.
const OPERABLE: [&str; 13] = [
    "button",
    "link",
    "textbox",
    "searchbox",
    "combobox",
    "checkbox",
    "radio",
    "switch",
    "tab",
    "menuitem",
    "image",
    "dialog",
    "navigation",
];

impl Page {
    /// Panics, naming what is wrong with the page as it is now.
    pub async fn is_accessible(&self) {
        let faults = self.faults().await;
        assert!(faults.is_empty(), "{faults:#?}");
        self.is_calm().await;
    }

    /// What is wrong with the page as it is now.
    pub async fn faults(&self) -> Vec<String> {
        self.eventually("a page at rest", "return resting()", vec![]).await;
        // Browsers show the focus to those who use a keyboard.
        self.type_keys(keys::TAB).await;
        let mut wrong = self.judged(&["conventions", "focusShows", "fits"]).await;
        wrong.extend(self.violations().await);
        wrong.extend(self.unnamed().await);
        self.session.dark(true).await;
        // Of forced colours axe knows what a page wanted and not what is shown; the system's own have contrast.
        let contrast = if self.session.are_colours_forced() { Vec::new() } else { self.violations_by_light().await };
        let dark = [self.judged(&["focusShows"]).await, contrast].concat();
        wrong.extend(dark.into_iter().map(|problem| format!("dark: {problem}")));
        self.session.dark(false).await;
        self.session.size(session::NARROW).await;
        let narrow = [self.judged(&["fits", "conventions"]).await, self.violations().await].concat();
        wrong.extend(narrow.into_iter().map(|problem| format!("narrow: {problem}")));
        self.session.size(session::WIDE).await;
        wrong
    }

    async fn judged(&self, checks: &[&str]) -> Vec<String> {
        let wrong = self.run(AUDIT, vec![json!(checks)]).await;
        wrong.as_array().into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect()
    }

    /// The elements that Chromium would announce without a name.
    async fn unnamed(&self) -> Vec<String> {
        let tree = self.session.devtools("Accessibility.getFullAXTree", json!({})).await;
        let nodes = tree["nodes"].as_array().cloned().unwrap_or_default();
        assert!(nodes.len() > 3, "an accessibility tree: {tree}");
        let is_operable = |node: &Value| node["ignored"] == false && OPERABLE.iter().any(|role| node["role"]["value"] == *role);
        let has_name = |node: &Value| node["name"]["value"].as_str().is_some_and(|name| !name.trim().is_empty());
        nodes
            .iter()
            .filter(|node| is_operable(node) && !has_name(node))
            .map(|node| format!("announced without a name: {node}"))
            .collect()
    }
}
