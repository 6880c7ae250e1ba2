//! The effective settings: every setting with its value and where the value comes from, or why the value is refused. Secrets stay
//! hidden.

use serde::Serialize;
use url::Url;

use super::{
    Input, read_all,
    reading::{Reading, Source},
    row::{Default, Disclosure, Row},
    rules,
    table::GROUPS,
};

/// What stands in the place of a secret.
const HIDDEN: &str = "(hidden)";

/// Every setting, as `serve` would read it.
#[derive(Debug, Serialize)]
pub(crate) struct Effective {
    settings: Vec<Entry>,
    /// Errors outside single settings: an unreadable file, an unknown key in it.
    refusals: Vec<String>,
    warnings: Vec<String>,
}

/// One setting.
#[derive(Debug, Serialize)]
struct Entry {
    group: &'static str,
    name: &'static str,
    variable: String,
    /// As text; none where the setting has no value.
    value: Option<String>,
    source: Source,
    /// What holds in place of a value.
    #[serde(skip_serializing_if = "Option::is_none")]
    unset: Option<&'static str>,
    /// Why `serve` would refuse the setting.
    #[serde(skip_serializing_if = "Option::is_none")]
    refusal: Option<String>,
}

impl Effective {
    /// Reads everything, refused or not.
    pub(crate) fn of(input: &Input) -> Self {
        let mut reading = read_all(input);
        rules::sender(&mut reading);
        let entries = GROUPS.iter().flat_map(|group| group.rows.iter().map(|row| entry(group.title, row, &reading)));
        let settings: Vec<Entry> = entries.collect();
        let general = reading.refusals().iter().filter(|refusal| !super::table::rows().any(|row| refusal.is_about(row)));
        let refusals = general.map(ToString::to_string).collect();
        Self { settings, refusals, warnings: reading.take_warnings() }
    }

    /// Whether `serve` would refuse any of it.
    pub(crate) fn is_refused(&self) -> bool {
        !self.refusals.is_empty() || self.settings.iter().any(|entry| entry.refusal.is_some())
    }

    /// For people: one line for each setting, in groups.
    pub(crate) fn to_text(&self) -> String {
        let width = self.settings.iter().map(|entry| entry.variable.len()).max().unwrap_or_default();
        let mut lines = Vec::new();
        let mut group = "";
        for entry in &self.settings {
            if entry.group != group {
                group = entry.group;
                lines.push(format!("{}# {group}", if lines.is_empty() { "" } else { "\n" }));
            }
            let value = entry.value.clone().unwrap_or_else(|| format!("(not set: {})", entry.unset.unwrap_or_default()));
            lines.push(format!("{:width$}  {:<11}  {value}", entry.variable, entry.source.word()));
            lines.extend(entry.refusal.as_ref().map(|reason| format!("{:width$}  REFUSED: {reason}", "")));
        }
        lines.extend(self.refusals.iter().map(|refusal| format!("\nREFUSED: {refusal}")));
        lines.extend(self.warnings.iter().map(|warning| format!("\nWarning: {warning}")));
        lines.join("\n")
    }
}

fn entry(group: &'static str, row: &Row, reading: &Reading) -> Entry {
    let given = reading.given(row);
    let (value, unset) = match (given, row.default) {
        (Some(given), _) => (Some(shown(row, &given.text)), None),
        (None, Default::Is(default)) => (Some(default.to_owned()), None),
        (None, Default::Unset(words) | Default::Required(words)) => (None, Some(words)),
    };
    Entry {
        group,
        name: row.name,
        variable: row.variable(),
        value,
        source: given.map_or(Source::Default, |given| given.source),
        unset,
        refusal: reading.refusal(row).map(|refusal| refusal.reason().to_owned()),
    }
}

/// A value without its secrets.
fn shown(row: &Row, text: &str) -> String {
    match row.disclosure {
        Disclosure::Whole => text.to_owned(),
        Disclosure::Hidden => HIDDEN.to_owned(),
        // A path of a file is no URL with a host, and has no secret in it.
        Disclosure::UrlWithoutSecrets if text.starts_with("sqlite:") => text.split('?').next().unwrap_or_default().to_owned(),
        Disclosure::UrlWithoutSecrets => without_secrets(text).unwrap_or_else(|| HIDDEN.to_owned()),
    }
}

/// Scheme, host, port and path. User names are left out too: with some mail services the user name is the secret. An `@` behind the
/// host is that of a mistyped URL, and what stands before it may be a password: such a URL is not shown.
fn without_secrets(text: &str) -> Option<String> {
    let url = Url::parse(text).ok().filter(|url| url.has_host() && !url.path().contains('@'))?;
    let port = url.port().map(|port| format!(":{port}")).unwrap_or_default();
    let user = if url.username().is_empty() && url.password().is_none() { "" } else { "***@" };
    Some(format!("{}://{user}{}{port}{}", url.scheme(), url.host_str()?, url.path()))
}

impl Source {
    fn word(self) -> &'static str {
        match self {
            Self::Default => "default",
            Self::File => "file",
            Self::Environment => "environment",
        }
    }
}
