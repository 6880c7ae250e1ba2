//! The patterns of the description say of a character what the checks say: a client that obeys them is not refused, and one that is
//! refused was told. Beyond U+FFFF, where patterns have no form that every language reads, they are the milder ones.

use std::fs;

use serde_json::Value;
use tenant_auth_core::value::{Description, DisplayName};

use super::repository;

#[test]
fn names_are_judged_as_they_are_described() {
    let document = fs::read_to_string(repository("tenant-auth-core/openapi.json")).expect("the description");
    let document: Value = serde_json::from_str(&document).expect("JSON");
    let pattern = |name: &str| {
        let schema = serde_json::json!({ "type": "string", "pattern": document["components"]["schemas"][name]["pattern"] });
        jsonschema::validator_for(&schema).expect("a schema")
    };
    let (name, description) = (pattern("DisplayName"), pattern("Description"));
    // Without the planes of Chinese characters, of which all are seen.
    for c in ('\0'..='\u{1FFFF}').chain('\u{E0000}'..='\u{EFFFF}') {
        let (text, value) = (c.to_string(), Value::from(c.to_string()));
        for (what, described, judged) in [
            ("name", name.is_valid(&value), DisplayName::parse(&text).is_ok()),
            ("description", description.is_valid(&value), Description::parse(&text).is_ok()),
        ] {
            let is_mild = c > '\u{FFFF}' && described;
            assert!(described == judged || is_mild, "{c:?} as a {what}: described {described}, judged {judged}");
        }
    }
}
