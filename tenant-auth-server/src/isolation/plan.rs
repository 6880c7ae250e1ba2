//! The plan of the isolation check: how an operation may be asked so that a hole is seen and not used. What is sent is chosen so that
//! it could change nothing if it were carried out:
//!
//! - under the other organization's slug, an operation that takes a body gets `[]`, which is none: whoever is let through to it
//!   is told 400. One without a body gets ids that are nobody's: whoever is let through is told 404.
//! - with ids of the other organization, an operation that takes a body states what is true already.
//!
//! What cannot be asked so is not asked, and the report says it.

use serde_json::{Value, json};

use super::{
    belongings::Belongings,
    operations::{Carries, Opens, Operation},
};

/// A way to ask.
#[derive(Debug)]
pub(super) struct Way {
    pub(super) path: String,
    pub(super) body: Option<Value>,
}

/// Why something is not asked.
#[derive(Debug, Clone, Copy)]
pub(super) struct Reason {
    pub(super) text: &'static str,
    /// Whether a hole there would stay unseen.
    pub(super) is_gap: bool,
}

const OPEN: Reason = Reason { text: "anybody may ask: no credential is looked at", is_gap: false };
const PASSAGE: Reason = Reason { text: "asks for a token between two steps, which these credentials are not", is_gap: false };
const RISKY: Reason = Reason { text: "would be carried out if there were a hole; --at-risk asks it", is_gap: false };
const NEW: Reason = Reason { text: "not known to this version of the check, nor what is safe to send", is_gap: true };

/// What is asked under the other organization's slug; why nothing is, when nothing is.
pub(super) fn under_their_slug(operation: &Operation, theirs: &Belongings, at_risk: bool) -> Result<Way, Reason> {
    match operation.opens {
        Opens::Anybody => return Err(OPEN),
        Opens::Passage => return Err(PASSAGE),
        Opens::Session | Opens::Key => {}
    }
    let path = theirs.fill(operation);
    let way = |body| Way { path: path.clone(), body };
    if operation.reads() {
        return Ok(way(None));
    }
    if operation.path == "/public/verify" {
        return Ok(way(Some(json!({ "token": theirs.tokens().first() }))));
    }
    match operation.carries {
        Carries::Body | Carries::OptionalBody => Ok(way(Some(json!([])))),
        Carries::Nothing if at_risk && operation.is_known => Ok(way(None)),
        Carries::Nothing if operation.names_something() => Ok(Way { path: Belongings::fill_with_nobodys(operation), body: None }),
        Carries::Nothing if operation.is_known => Err(RISKY),
        Carries::Nothing => Err(NEW),
    }
}

/// What is asked under one's own slug with ids of the other organization; why nothing is, when nothing is.
pub(super) fn with_their_ids(operation: &Operation, theirs: &Belongings, at_risk: bool) -> Result<Way, Reason> {
    let path = theirs.fill(operation);
    let way = |body| Ok(Way { path: path.clone(), body });
    let member = theirs.member();
    match (operation.method.as_str(), operation.path.as_str()) {
        _ if operation.opens == Opens::Anybody => Err(OPEN),
        ("GET", _) => way(None),
        ("PATCH", "/org/members/{userId}") => way(Some(json!({ "metadata": member["metadata"] }))),
        ("PUT", "/org/members/{userId}/role") => way(Some(json!({ "role": member["role"] }))),
        ("PUT", "/org/members/{userId}/status") => way(Some(json!({ "status": member["status"] }))),
        ("PATCH", "/org/webhooks/{id}") => way(Some(json!({}))),
        // A body that is refused protects only where a body is read.
        (_, path) if path.starts_with("/admin/") && operation.carries != Carries::Nothing => way(Some(json!([]))),
        _ if !operation.is_known => Err(NEW),
        _ if at_risk => way((operation.carries != Carries::Nothing).then(|| json!({}))),
        _ => Err(RISKY),
    }
}
