//! Why the program does not start. All that is wrong is said at once, each setting by the name of its environment variable:
//! nobody should have to start a server five times to learn of five mistakes.

use std::fmt;

use tenant_auth_core::ConfigError;

use super::names::{env_name, name_of};

/// One setting that cannot be used, and what to do about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Refusal {
    /// `TENANT_AUTH_…`, or `--config` for the file itself.
    name: String,
    /// Read after the name: `must be …`, `is missing: …`.
    reason: String,
}

/// Everything that keeps the program from starting; never empty.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Refused(pub(super) Vec<Refusal>);

impl Refusal {
    /// About a setting, by its name in a file.
    pub(super) fn of(setting: &str, reason: impl Into<String>) -> Self {
        Self { name: env_name(setting), reason: reason.into() }
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
    pub(super) fn is_about(&self, setting: &str) -> bool {
        self.name == env_name(setting)
    }
}

impl Refused {
    /// A single setting that turned out to be unusable after it was read.
    pub(crate) fn setting(name: &str, reason: impl Into<String>) -> Self {
        Self(vec![Refusal::of(name, reason)])
    }
}

impl From<ConfigError> for Refused {
    fn from(error: ConfigError) -> Self {
        Self::setting(name_of(error.setting), error.reason)
    }
}

impl From<Refusal> for Refused {
    fn from(refusal: Refusal) -> Self {
        Self(vec![refusal])
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.name, self.reason)
    }
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lines: Vec<String> = self.0.iter().map(Refusal::to_string).collect();
        f.write_str(&lines.join("\n"))
    }
}

impl std::error::Error for Refused {}
