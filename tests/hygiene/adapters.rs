//! Adapters translate, they do not decide: neither is long, and neither names a path, a cookie, a role, a header or a status.

use super::{code, sources};

const ADAPTERS: [&str; 2] = ["tenant-auth-axum/src", "tenant-auth-actix/src"];
/// Lines of code; what is longer decides something.
const MOST: usize = 220;
/// What only the core may speak of.
const DECISIONS: [&str; 13] = [
    "cookie",
    "role",
    "slug",
    "\"/api",
    "origin\"",
    "x-org",
    "x-api",
    "authorization",
    "forwarded",
    "badrequest",
    "unauthorized",
    "forbidden",
    "notfound",
];

#[test]
fn an_adapter_is_short() {
    for adapter in ADAPTERS {
        let lines: usize = sources(adapter).iter().map(|(_, text)| code(text).count()).sum();
        assert!(lines < MOST, "{adapter} has {lines} lines of code");
    }
}

#[test]
fn an_adapter_decides_nothing() {
    for adapter in ADAPTERS {
        for (path, text) in sources(adapter) {
            for line in code(&text) {
                let lower = line.to_lowercase();
                let decision = DECISIONS.iter().find(|word| lower.contains(**word));
                assert!(decision.is_none(), "{path} speaks of {decision:?}: {line}");
                assert!(!has_status(line), "{path} names a status: {line}");
            }
        }
    }
}

/// A number such as 403, or a status of any name but that of "what cannot be".
fn has_status(line: &str) -> bool {
    let number = line
        .split(|c: char| !c.is_ascii_alphanumeric())
        .any(|word| word.len() == 3 && word.parse::<u16>().is_ok_and(|number| (100..600).contains(&number)));
    let named = line
        .split("StatusCode::")
        .skip(1)
        .any(|rest| rest.starts_with(|c: char| c.is_ascii_uppercase()) && !rest.starts_with("INTERNAL_SERVER_ERROR"));
    number || named
}
