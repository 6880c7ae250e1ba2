//! The report of the isolation check, for people and for programs: what was tried, what was not and why, and what came of it. It holds
//! no credential.

use std::{collections::BTreeMap, fmt::Write};

use serde::Serialize;
use tenant_auth_core::Timestamp;

use super::{
    attempts::{Attempt, Attempts, Omission},
    judge::Judgement,
    operations::Operations,
};

/// What the check comes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Verdict {
    /// Every attempt was refused.
    Isolated,
    /// Something was reached.
    Hole,
    /// Nothing was reached, and not everything could be tried.
    Incomplete,
}

/// What the report is made of.
pub(super) struct Checked<'a> {
    pub(super) url: String,
    pub(super) at: Timestamp,
    pub(super) orgs: [String; 2],
    pub(super) wanting: Vec<String>,
    pub(super) operations: &'a Operations,
    pub(super) attempts: Attempts<'a>,
}

/// The report.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Report {
    url: String,
    checked_at: String,
    org_a: String,
    org_b: String,
    /// The version of this program.
    version: &'static str,
    /// The version that the deployment states.
    deployment_version: String,
    pub(crate) verdict: Verdict,
    operations: usize,
    attempts: Vec<AttemptEntry>,
    not_asked: Vec<OmissionEntry>,
    /// What an organization has nothing of, so that no id of it was tried.
    wanting: Vec<String>,
    /// What this program knows and the deployment does not publish.
    unpublished: Vec<String>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct AttemptEntry {
    operation: String,
    with: String,
    credential: &'static str,
    at: String,
    manner: &'static str,
    status: Option<u16>,
    outcome: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<String>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct OmissionEntry {
    operation: String,
    manner: &'static str,
    reason: &'static str,
}

impl Report {
    pub(super) fn of(checked: Checked<'_>) -> Self {
        let Checked { url, at, orgs: [org_a, org_b], wanting, operations, attempts } = checked;
        let has = |wanted: fn(&Judgement) -> bool| attempts.made.iter().any(|attempt| wanted(&attempt.judgement));
        let verdict = if has(|judgement| matches!(judgement, Judgement::Hole(_))) {
            Verdict::Hole
        } else if has(|judgement| matches!(judgement, Judgement::Unclear(_))) || attempts.omitted.iter().any(|one| one.is_gap) {
            Verdict::Incomplete
        } else {
            Verdict::Isolated
        };
        Self {
            url,
            checked_at: at.to_iso(),
            org_a,
            org_b,
            version: env!("CARGO_PKG_VERSION"),
            deployment_version: operations.version.clone(),
            verdict,
            operations: operations.all.len(),
            attempts: attempts.made.into_iter().map(AttemptEntry::from).collect(),
            not_asked: attempts.omitted.into_iter().map(OmissionEntry::from).collect(),
            wanting,
            unpublished: operations.unpublished.clone(),
        }
    }

    /// For people.
    pub(crate) fn text(&self) -> String {
        let mut text = format!(
            "Isolation of {} and {} at {}, {}\nProgram {}, deployment {}: {} operations, {} attempts\n\n",
            self.org_a,
            self.org_b,
            self.url,
            self.checked_at,
            self.version,
            self.deployment_version,
            self.operations,
            self.attempts.len()
        );
        for (operation, attempts) in self.by_operation() {
            let _ = writeln!(text, "{operation:<58} {}", summary(&attempts));
        }
        let mut list = |title: &str, lines: Vec<String>| {
            if !lines.is_empty() {
                let _ = write!(text, "\n{title}\n  {}\n", lines.join("\n  "));
            }
        };
        let not_asked = |one: &OmissionEntry| format!("{} {}: {}", one.operation, one.manner, one.reason);
        list("Not asked:", self.not_asked.iter().map(not_asked).collect());
        list("Nothing of this kind was there, so made-up ids stood for it:", self.wanting.clone());
        list("Known to this program and not published by the deployment; asked all the same:", self.unpublished.clone());
        list("Unclear:", self.lines("unclear"));
        list("HOLES:", self.lines("hole"));
        text.push_str(match self.verdict {
            Verdict::Isolated => "\nIsolated: every attempt was refused, and no answer held anything of the other organization.\n",
            Verdict::Hole => "\nNOT ISOLATED.\n",
            Verdict::Incomplete => "\nNothing was reached, but not everything could be tried.\n",
        });
        text
    }

    fn by_operation(&self) -> BTreeMap<&str, Vec<&AttemptEntry>> {
        let mut all: BTreeMap<&str, Vec<&AttemptEntry>> = BTreeMap::new();
        for attempt in &self.attempts {
            all.entry(&attempt.operation).or_default().push(attempt);
        }
        all
    }

    fn lines(&self, outcome: &str) -> Vec<String> {
        let line = |attempt: &AttemptEntry| {
            let AttemptEntry { operation, with, credential, at, manner, why, .. } = attempt;
            format!("{operation}: {with}'s {credential} at {at}, {manner}: {}", why.as_deref().unwrap_or_default())
        };
        self.attempts.iter().filter(|attempt| attempt.outcome == outcome).map(line).collect()
    }
}

/// `12 attempts: 401 ×8, 404 ×4`
fn summary(attempts: &[&AttemptEntry]) -> String {
    let mut statuses: BTreeMap<u16, usize> = BTreeMap::new();
    for attempt in attempts {
        *statuses.entry(attempt.status.unwrap_or_default()).or_default() += 1;
    }
    let statuses = statuses.into_iter().map(|(status, count)| match status {
        0 => format!("no answer ×{count}"),
        status => format!("{status} ×{count}"),
    });
    let holes = attempts.iter().filter(|attempt| attempt.outcome == "hole").count();
    let holes = if holes == 0 { String::new() } else { format!("  HOLES: {holes}") };
    format!("{:>3} attempts: {}{holes}", attempts.len(), statuses.collect::<Vec<_>>().join(", "))
}

impl From<Attempt> for AttemptEntry {
    fn from(attempt: Attempt) -> Self {
        let Attempt { operation, of, at, credential, manner, status, judgement } = attempt;
        let (outcome, why) = match judgement {
            Judgement::Kept => ("kept", None),
            Judgement::Hole(why) => ("hole", Some(why)),
            Judgement::Unclear(why) => ("unclear", Some(why)),
        };
        Self { operation, with: of, credential, at, manner, status, outcome, why }
    }
}

impl From<Omission> for OmissionEntry {
    fn from(Omission { operation, manner, reason, .. }: Omission) -> Self {
        Self { operation, manner, reason }
    }
}
