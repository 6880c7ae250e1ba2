//! Refusals to start. All errors in the settings are reported at once, each by the name of its environment variable, so that an
//! operator with five mistakes does not have to start the server five times.

use std::fmt;

use tenant_auth_core::config::ConfigError;

use super::{row::Row, table};

/// One setting that cannot be used, and what to do about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct InvalidSetting {
    /// `TENANT_AUTH_…`, or `--config` for the file itself.
    name: String,
    /// Read after the name: `must be …`, `is missing: …`.
    reason: String,
}

/// Everything that keeps the program from starting; never empty.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct InvalidSettings(pub(super) Vec<InvalidSetting>);

impl InvalidSetting {
    /// About a setting.
    pub(super) fn of(row: &Row, reason: impl Into<String>) -> Self {
        Self { name: row.variable(), reason: reason.into() }
    }

    /// About the settings file.
    pub(super) fn of_file(reason: impl Into<String>) -> Self {
        Self { name: "--config".to_owned(), reason: reason.into() }
    }

    /// About an environment variable that cannot even be looked at.
    pub(super) fn of_variable(name: String, reason: impl Into<String>) -> Self {
        Self { name, reason: reason.into() }
    }

    /// Whether it is about this setting.
    pub(super) fn is_about(&self, row: &Row) -> bool {
        self.name == row.variable()
    }

    /// Why, to be read after the name.
    pub(super) fn reason(&self) -> &str {
        &self.reason
    }
}

impl InvalidSettings {
    /// A single setting that turned out to be unusable after it was read.
    pub(crate) fn setting(row: &Row, reason: impl Into<String>) -> Self {
        InvalidSetting::of(row, reason).into()
    }
}

impl From<ConfigError> for InvalidSetting {
    /// What the core refuses, by the name that the operator knows; a field without a setting by its own.
    fn from(error: ConfigError) -> Self {
        match table::by_core(error.setting) {
            Some(row) => Self::of(row, error.reason),
            None => Self::of_variable(error.setting.to_string(), error.reason),
        }
    }
}

impl From<ConfigError> for InvalidSettings {
    fn from(error: ConfigError) -> Self {
        InvalidSetting::from(error).into()
    }
}

impl From<InvalidSetting> for InvalidSettings {
    fn from(refusal: InvalidSetting) -> Self {
        Self(vec![refusal])
    }
}

impl fmt::Display for InvalidSetting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.name, self.reason)
    }
}

impl fmt::Display for InvalidSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lines: Vec<String> = self.0.iter().map(InvalidSetting::to_string).collect();
        f.write_str(&lines.join("\n"))
    }
}

impl std::error::Error for InvalidSettings {}
