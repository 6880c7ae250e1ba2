//! The judgement of an answer: what a stranger may be told, and what shows a hole.

use super::{
    ask::{Answer, Ask},
    belongings::Belongings,
};

/// The codes of refusals that only those get who are somebody in the organization.
const ADMITTED: [&str; 4] = ["admin_required", "operator_required", "missing_scope", "suspended"];

/// What a sound deployment answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Expected {
    /// That these credentials open nothing here, whatever is asked.
    Refused,
    /// That there is no such thing.
    Unknown,
    /// Anything of one's own.
    Own,
    /// That a token of the other organization is not valid here.
    NotValid,
}

/// What an answer shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Judgement {
    /// What was to be kept is kept.
    Kept,
    /// Something of the other organization was reached; why this is thought.
    Hole(String),
    /// Neither; why.
    Unclear(String),
}

/// Judges an answer to a stranger of `theirs`.
pub(super) fn of(ask: &Ask, answer: Result<&Answer, &String>, expected: Expected, theirs: &Belongings) -> Judgement {
    let answer = match answer {
        Ok(answer) => answer,
        Err(reason) => return Judgement::Unclear(format!("no answer: {reason}")),
    };
    if let Some(mark) = theirs.marks().find(|mark| answer.text.contains(mark) && !ask.says(mark)) {
        return Judgement::Hole(format!("the answer holds {mark}, which is the other organization's"));
    }
    let Answer { status, code, .. } = answer;
    if expected == Expected::NotValid && answer.data()["valid"] == true {
        return Judgement::Hole("a token of the other organization is valid here".to_owned());
    }
    let kept = match (expected, status) {
        // A host that nobody serves may be sent elsewhere.
        (Expected::Own, 300..400) => true,
        (_, 300..400 | 408 | 429 | 500..) => return Judgement::Unclear(format!("{status} {code} says nothing")),
        (_, 401) => true,
        // By these codes a stranger was taken for somebody who may come in.
        (Expected::Refused, 403) => !ADMITTED.contains(&code.as_str()),
        (Expected::Refused, 404) => false,
        (_, 403 | 404) => true,
        // No organization was named, so nobody was let in.
        (_, 400) if code == "invalid_slug" => true,
        (Expected::Refused, 405) | (Expected::Unknown, 400 | 405 | 415) => {
            return Judgement::Unclear(format!("{status} {code} says nothing"));
        }
        (Expected::Refused | Expected::Unknown, _) => false,
        (Expected::Own | Expected::NotValid, _) => true,
    };
    if kept { Judgement::Kept } else { Judgement::Hole(format!("{status} {code} is no refusal: the request was let through")) }
}
