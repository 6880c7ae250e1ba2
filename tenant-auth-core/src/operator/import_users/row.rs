//! One row of an import: a line of JSON, parsed into values like a request's body.

use std::fmt;

use serde::{Deserialize, Deserializer};
use zeroize::Zeroizing;

use crate::{
    account::read_second_factor,
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
    #[serde(default)]
    pub(super) totp_secret: Option<TotpSecret>,
}

/// What the person's authenticator was set up with.
pub(super) struct TotpSecret(Zeroizing<Vec<u8>>);

impl TotpSecret {
    pub(super) fn as_bytes(&self) -> &[u8] {
        &self.0
    }
}

impl<'de> Deserialize<'de> for TotpSecret {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = Zeroizing::new(String::deserialize(deserializer)?);
        let malformed = || serde::de::Error::custom("must be an authenticator's secret in base 32, of 16 to 64 bytes");
        read_second_factor(&text).map(Self).ok_or_else(malformed)
    }
}

impl fmt::Debug for TotpSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[second factor]")
    }
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

    /// Refuses a second factor of an address that does not count as verified: whoever first proves the address owns the account without it
    /// (behaviour.md, B142), so that it would guard nothing.
    pub(super) fn expect_guardable(self, trust: bool) -> Result<Self, String> {
        let is_verified = trust && self.email_verified == Some(true);
        if self.totp_secret.is_some() && !is_verified {
            return Err("totpSecret: needs emailVerified true, and somebody who vouches for the file (--trust)".to_owned());
        }
        Ok(self)
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
