//! The attempts of the isolation check: every operation, with every credential of one organization, at what belongs to another. One
//! after the other, so that a deployment at work hardly notices.

use serde_json::json;

use super::{
    ask::{Ask, Service},
    belongings::Belongings,
    judge::{self, Expected, Judgement},
    operations::{Opens, Operation, Operations},
    plan::{self, Way},
    side::{Shown, Side},
};

/// What was tried, and what came of it.
#[derive(Debug)]
pub(super) struct Attempt {
    pub(super) operation: String,
    /// The slug whose credential it was.
    pub(super) of: String,
    /// The slug that was to be reached.
    pub(super) at: String,
    pub(super) credential: &'static str,
    pub(super) manner: &'static str,
    /// `None` where there was no answer.
    pub(super) status: Option<u16>,
    pub(super) judgement: Judgement,
}

/// What was not tried, and why.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Omission {
    pub(super) operation: String,
    pub(super) manner: &'static str,
    pub(super) reason: &'static str,
    /// Whether something could be told only by asking.
    pub(super) is_gap: bool,
}

/// The attempts so far.
pub(super) struct Attempts<'a> {
    service: &'a Service,
    operations: &'a Operations,
    at_risk: bool,
    pub(super) made: Vec<Attempt>,
    pub(super) omitted: Vec<Omission>,
}

const THEIR_SLUG: &str = "under the other's slug";
const THEIR_IDS: &str = "with the other's ids";
const OWN: &str = "under the own slug";
const THEIR_TOKEN: &str = "with the other's token";

/// Ways to name two organizations at once. Only `X-Org-Slug`, sent once, names one; these must not name the other.
const FORMS: [&str; 5] = [
    "two slugs, own first",
    "two slugs, own last",
    "other slug in the query",
    "other slug as Host",
    "other slug as X-Forwarded-Host",
];

/// Who tries what.
struct Trial<'a> {
    operation: &'a Operation,
    of: &'a Side,
    theirs: &'a Belongings,
    at: &'a Side,
    shown: &'a Shown,
}

impl<'a> Attempts<'a> {
    pub(super) fn new(service: &'a Service, operations: &'a Operations, at_risk: bool) -> Self {
        Self { service, operations, at_risk, made: Vec::new(), omitted: Vec::new() }
    }

    /// Tries everything with the credentials of `of` against `at`, to which `theirs` belongs.
    pub(super) async fn make(&mut self, of: &Side, at: &Side, theirs: &Belongings) {
        let operations = self.operations;
        for operation in &operations.all {
            for shown in &of.shown() {
                let trial = Trial { operation, of, theirs, at, shown };
                self.try_their_slug(&trial).await;
                if shown.is_key == (operation.opens == Opens::Key) {
                    self.try_own_slug(&trial).await;
                }
            }
        }
    }

    async fn try_their_slug(&mut self, trial: &Trial<'_>) {
        match plan::under_their_slug(trial.operation, trial.theirs, self.at_risk) {
            Ok(way) => {
                let ask = asked(trial, &way).with("X-Org-Slug", &trial.at.slug);
                self.ask(trial, THEIR_SLUG, &ask, Expected::Refused).await;
            }
            Err(reason) => self.omit(trial, THEIR_SLUG, reason),
        }
    }

    async fn try_own_slug(&mut self, trial: &Trial<'_>) {
        let operation = trial.operation;
        if operation.names_something() {
            match plan::with_their_ids(operation, trial.theirs, self.at_risk) {
                Ok(way) => {
                    let ask = asked(trial, &way).with("X-Org-Slug", &trial.of.slug);
                    self.ask(trial, THEIR_IDS, &ask, Expected::Unknown).await;
                }
                Err(reason) => self.omit(trial, THEIR_IDS, reason),
            }
        } else if operation.path == "/public/verify" {
            for token in trial.theirs.tokens() {
                let way = Way { path: operation.path.clone(), body: Some(json!({ "token": token })) };
                let ask = asked(trial, &way).with("X-Org-Slug", &trial.of.slug);
                self.ask(trial, THEIR_TOKEN, &ask, Expected::NotValid).await;
            }
        } else if operation.reads() && operation.opens != Opens::Anybody {
            let ask = asked(trial, &Way { path: operation.path.clone(), body: None });
            self.ask(trial, OWN, &ask.clone().with("X-Org-Slug", &trial.of.slug), Expected::Own).await;
            for form in FORMS {
                self.ask(trial, form, &self.formed(form, trial, ask.clone()), Expected::Own).await;
            }
        }
    }

    fn formed(&self, form: &str, trial: &Trial<'_>, mut ask: Ask) -> Ask {
        let (own, other) = (trial.of.slug.as_str(), trial.at.slug.as_str());
        let host = format!("{other}.{}", self.service.host());
        match form {
            "two slugs, own first" => ask.with("X-Org-Slug", own).with("X-Org-Slug", other),
            "two slugs, own last" => ask.with("X-Org-Slug", other).with("X-Org-Slug", own),
            "other slug in the query" => {
                ask.path.push_str(&format!("?org={other}&slug={other}&organization={other}&X-Org-Slug={other}"));
                ask.with("X-Org-Slug", own)
            }
            "other slug as Host" => ask.with("X-Org-Slug", own).with("Host", host),
            _ => ask.with("X-Org-Slug", own).with("X-Forwarded-Host", host),
        }
    }

    async fn ask(&mut self, trial: &Trial<'_>, manner: &'static str, ask: &Ask, expected: Expected) {
        let answer = self.service.answer(ask).await;
        self.made.push(Attempt {
            operation: trial.operation.name(),
            of: trial.of.slug.clone(),
            at: trial.at.slug.clone(),
            credential: trial.shown.name,
            manner,
            status: answer.as_ref().ok().map(|answer| answer.status),
            judgement: judge::of(ask, answer.as_ref(), expected, trial.theirs),
        });
    }

    fn omit(&mut self, trial: &Trial<'_>, manner: &'static str, reason: plan::Reason) {
        let (operation, plan::Reason { text, is_gap }) = (trial.operation.name(), reason);
        let omission = Omission { operation, manner, reason: text, is_gap };
        if !self.omitted.contains(&omission) {
            self.omitted.push(omission);
        }
    }
}

fn asked(trial: &Trial<'_>, way: &Way) -> Ask {
    Ask::new(&trial.operation.method, &way.path).with_all(&trial.shown.headers).json(way.body.clone())
}
