//! One row of the settings table: a setting's name, parser, default and meaning. Reading, refusals and the documents all follow the
//! row.

use std::fmt;

use tenant_auth_core::config::Setting;

use super::values::Values;

/// The prefix of a setting's environment variable.
pub(super) const PREFIX: &str = "TENANT_AUTH_";

/// One setting.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Row {
    /// The key in a settings file; in upper case after the prefix, the environment variable.
    pub(super) name: &'static str,
    /// How many values the setting has.
    pub(super) shape: Shape,
    /// The value or behaviour in force when the operator gives no value.
    pub(super) default: Default,
    /// What the setting decides, with its unit: one sentence, or two.
    pub(super) meaning: &'static str,
    /// What a value must be, to be read after "must be". Everything else is refused in these words.
    pub(super) must: &'static str,
    /// Parses a value and puts it where it belongs.
    pub(super) read: fn(&mut Values, &str) -> Result<(), Fault>,
    /// How much of a value may be shown.
    pub(super) disclosure: Disclosure,
    /// The core's name for the setting, where the core may refuse it.
    pub(super) core: Option<Setting>,
}

/// How many values a setting has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    /// One value.
    One,
    /// `true` or `false`, in a file also as TOML's own.
    Switch,
    /// Several values: comma-separated, in a file also an array.
    List,
    /// The same, and spaces at the ends of each count.
    Verbatim,
}

/// The value or behaviour in force when the operator gives no value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Default {
    /// This value, as one would write it.
    Is(&'static str),
    /// No value; the words say what happens then.
    Unset(&'static str),
    /// Nothing: the setting must be given, and the words say how.
    Required(&'static str),
}

impl Shape {
    /// Whether a file may give the values as an array.
    pub(super) fn is_list(self) -> bool {
        matches!(self, Self::List | Self::Verbatim)
    }
}

/// How much of a value may be shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Disclosure {
    /// All of it.
    Whole,
    /// A URL without user name, password and query.
    UrlWithoutSecrets,
    /// Nothing.
    Hidden,
}

/// Why a value is refused.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Fault {
    /// It is not what the row says that it must be.
    Other,
    /// The same, with what is wrong, read after the row's words: `; 'x' is not`, `: …`.
    Because(String),
    /// It is refused for another reason, whose text is read after the name.
    Instead(String),
}

impl Row {
    /// The row that every other row starts from.
    pub(super) const BLANK: Self = Self {
        name: "",
        shape: Shape::One,
        default: Default::Unset(""),
        meaning: "",
        must: "",
        read: |_, _| Ok(()),
        disclosure: Disclosure::Whole,
        core: None,
    };

    /// The name of the environment variable, by which people know the setting.
    pub(crate) fn variable(&self) -> String {
        format!("{PREFIX}{}", self.name.to_ascii_uppercase())
    }

    /// Why a value was refused, to be read after the name.
    pub(super) fn reason(&self, fault: Fault) -> String {
        match fault {
            Fault::Other => format!("must be {}", self.must),
            Fault::Because(detail) => format!("must be {}{detail}", self.must),
            Fault::Instead(reason) => reason,
        }
    }
}

impl Fault {
    /// A fault with the message of a library or of the core.
    pub(super) fn because(error: impl fmt::Display) -> Self {
        Self::Because(format!(": {error}"))
    }

    /// A fault that names the wrong item of a list.
    pub(super) fn of_item(item: &str) -> Self {
        Self::Because(format!("; '{item}' is not"))
    }
}
