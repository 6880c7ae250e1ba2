//! A part of a page: all of it, the row with a text, the section under a heading. While a dialog is open, it is the page.

use serde_json::{Value, json};

/// Where to look for something.
#[derive(Debug, Clone, Default)]
pub enum Region {
    /// Everywhere.
    #[default]
    Page,
    /// The row or list entry in which a text stands.
    Row(String),
    /// The section under a heading.
    Part(String),
}

impl Region {
    /// As `names.js` takes it.
    pub(super) fn to_json(&self) -> Value {
        match self {
            Self::Page => Value::Null,
            Self::Row(text) => json!({ "row": text }),
            Self::Part(heading) => json!({ "part": heading }),
        }
    }
}
