//! One row of an import: a line of JSON, parsed into values like a request's body.

use serde::Deserialize;

use crate::{
    model::Role,
    ports::ForeignHash,
    value::{DisplayName, Email, Metadata},
};

/// A person to import. A field that is not known is refused, because a misspelt `hash` would cost everybody their passwords.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Row {
    pub(super) email: Email,
    pub(super) name: DisplayName,
    #[serde(default)]
    pub(super) hash: Option<ForeignHash>,
    #[serde(default)]
    pub(super) role: Option<Role>,
    #[serde(default)]
    pub(super) metadata: Option<Metadata>,
    #[serde(default)]
    pub(super) email_verified: Option<bool>,
}

impl Row {
    /// Reads a line.
    ///
    /// # Errors
    /// Why it is refused: the field, and what it must be.
    pub(super) fn parse(line: &[u8]) -> Result<Self, String> {
        let text = str::from_utf8(line).map_err(|_| "must be UTF-8".to_owned())?;
        // serde would also take an array for a struct.
        if !text.trim_ascii_start().starts_with('{') {
            return Err("must be a JSON object".to_owned());
        }
        let mut reader = serde_json::Deserializer::from_str(text);
        let row = serde_path_to_error::deserialize(&mut reader).map_err(|error| {
            let path = error.path().to_string();
            match (path.as_str(), reason(error.inner())) {
                (field, reason) if field != "." && error.inner().is_data() => printable(&format!("{field}: {reason}")),
                (_, reason) => printable(&reason),
            }
        })?;
        reader.end().map_err(|error| reason(&error))?;
        Ok(row)
    }
}

/// The longest reason that is told.
const MOST_SAID: usize = 300;

/// serde_json appends a position within the line, which is nobody's line number.
fn reason(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let reason = text.split(" at line ").next().unwrap_or(&text);
    if error.is_data() { reason.to_owned() } else { format!("must be well-formed JSON: {reason}") }
}

/// A field's name is the file's, and a terminal obeys control characters.
fn printable(reason: &str) -> String {
    reason.chars().filter(|c| !c.is_control()).take(MOST_SAID).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reason_shows_no_control_character_of_the_file() {
        let line = "{\"email\":\"a@example.com\",\"name\":\"A\",\"\\u001b[2Jx\":1}";
        let refused = Row::parse(line.as_bytes()).expect_err("an unknown field");
        assert!(refused.contains("unknown field") && !refused.contains('\u{1b}'), "{refused:?}");
    }
}
