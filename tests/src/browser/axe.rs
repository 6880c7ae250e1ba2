//! axe-core, the accessibility checker of the field: its rules for names, labels, contrast and structure, run on the page as it is.
//! It is no part of this repository: `.ci/run` installs it from npm, and a path in `TENANT_AUTH_AXE` goes before that one. Where
//! it is missing, its rules are not checked, and the scenario that shows it at work is ignored.

use std::{
    path::{Path, PathBuf},
    sync::LazyLock,
};

use serde_json::{Value, json};

use super::{Page, patience::NAMES};

const RUN: &str = include_str!("axe.js");
/// Where npm puts it below the directory of the tools.
const INSTALLED: &str = "tools/axe/node_modules/axe-core/axe.min.js";
/// The rule that depends on whether it is dark.
const BY_LIGHT: [&str; 1] = ["color-contrast"];

static SOURCE: LazyLock<Option<String>> = LazyLock::new(|| std::fs::read_to_string(place()).ok());

/// Where it is, if it is anywhere.
fn place() -> PathBuf {
    if let Some(named) = std::env::var_os("TENANT_AUTH_AXE") {
        return named.into();
    }
    let target = std::env::var_os("CARGO_TARGET_DIR").map(PathBuf::from);
    target.unwrap_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../target")).join(INSTALLED)
}

/// Whether pages can be checked with it.
pub(super) fn is_installed() -> bool {
    SOURCE.is_some()
}

/// What there is to say where it is missing.
pub(super) fn missing() -> String {
    let place = place();
    format!(
        "axe-core is not at {}: its accessibility rules are NOT checked. Install it: npm install --prefix target/tools/axe axe-core",
        place.display()
    )
}

impl Page {
    /// What axe-core says of the page by all of its rules; nothing where it is not installed.
    pub(super) async fn violations(&self) -> Vec<String> {
        self.checked(&[]).await
    }

    /// Likewise, by the rules that depend on whether it is dark.
    pub(super) async fn violations_by_light(&self) -> Vec<String> {
        self.checked(&BY_LIGHT).await
    }

    async fn checked(&self, rules: &[&str]) -> Vec<String> {
        let Some(source) = SOURCE.as_ref() else { return Vec::new() };
        if !self.run("return Boolean(window.axe)", vec![]).await.as_bool().unwrap_or_default() {
            self.run(&format!("{source}\n;return null"), vec![]).await;
        }
        let script = format!("{NAMES}{RUN}");
        let answer = self.session.client.execute_async(&script, vec![json!(rules)]).await.unwrap_or_else(|error| panic!("{error}"));
        answer.as_array().into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect()
    }
}
