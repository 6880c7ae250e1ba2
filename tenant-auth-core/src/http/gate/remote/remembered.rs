//! The answers of `POST /public/verify` to one key, about its organization or with a deployment key about each, as a backend remembers
//! them: used while the service was asked recently
//! enough what changed, and dropped when it names them. A bounded cache (`memory/shelf.rs`).
//!
//! What must stay true: an answer is kept only when nothing that it rests on was named since it was asked for, and it was asked for
//! with the cursor held, so that it is of no earlier moment. What is named falls before the question that named it counts.

use std::{
    collections::VecDeque,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError, RwLock,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use crate::{
    memory::{Entry, Footings, Keyed, Moment, Shelf},
    principal::Principal,
    secret::SignedToken,
    time::{CLOCKS_DIFFER, Timestamp},
    value::Slug,
};

/// How many names are kept, to judge what was being asked meanwhile. An answer that took longer is not kept.
const NAMES: usize = 4_096;
/// The fewest footings among which those are looked for that nothing rests on.
const FOOTINGS: usize = 1_024;
/// How long the end of a token is by which it is found: the end of the signature, which nobody chooses.
const TAIL: usize = 32;
/// What an answer holds beside its token and its metadata.
const ANSWER: usize = 1_024;

/// What is remembered.
#[derive(Debug)]
pub(super) struct Remembered {
    max_age: Duration,
    last: RwLock<Option<LastPoll>>,
    ledger: Mutex<Ledger>,
    answers: Answers,
    /// By which the answers to this key are told from others' in the same shelf.
    own: Arc<()>,
    /// Whether it was said that the service's clock is ahead.
    is_said: AtomicBool,
}

/// The answers to all keys of a verifier: one bound on memory.
pub(super) type Answers = Arc<Shelf<Arc<Known>>>;

/// The last question what changed that was answered.
#[derive(Debug, Clone, Copy)]
struct LastPoll {
    began: Moment,
    key_expires_at: Option<Timestamp>,
    ahead: Duration,
}

#[derive(Debug, Default)]
struct Ledger {
    /// How many answers to that question were applied.
    applied: u64,
    /// Those after this one are all in `named`.
    complete_since: u64,
    named: VecDeque<(u64, String)>,
    footings: Footings,
    /// At how many footings those are looked for on which nothing rests any more.
    sweep_at: usize,
    cursor: Option<String>,
}

/// An answer.
#[derive(Debug)]
pub(super) struct Known {
    /// The key's [`Remembered::own`].
    of: Arc<()>,
    token: SignedToken,
    principal: Principal,
}

/// What changed, as the service says.
#[derive(Debug)]
pub(super) struct Told {
    pub(super) cursor: String,
    /// `None`: anything may have changed.
    pub(super) named: Option<Vec<String>>,
    pub(super) key_expires_at: Option<Timestamp>,
    /// How far the service's clock is ahead of this machine's.
    pub(super) ahead: Duration,
}

/// The beginning of a question about a token.
#[derive(Debug)]
pub(super) struct Asking {
    since: u64,
    /// The cursor held.
    pub(super) cursor: String,
}

impl Remembered {
    pub(super) fn new(max_age: Duration, answers: &Answers) -> Self {
        Self {
            max_age,
            last: RwLock::default(),
            ledger: Mutex::default(),
            answers: Arc::clone(answers),
            own: Arc::default(),
            is_said: AtomicBool::new(false),
        }
    }

    /// Who an access token belongs to in an organization, if that is remembered and still counts.
    pub(super) fn recall(&self, org: &Slug, token: &SignedToken, now: Timestamp) -> Option<Principal> {
        let now = self.by_both_clocks(now)?;
        let known = self.answers.get(tail(token.expose())?)?;
        let Known { of, token: same, principal } = &*known;
        let counts = now < principal.token_expires_at && now < principal.session.expires_at;
        let is_own = Arc::ptr_eq(of, &self.own) && same.expose() == token.expose();
        (counts && is_own && principal.org.slug == *org).then(|| principal.clone())
    }

    /// The time by which ends are judged, if the service was asked recently enough what changed: the service's where its clock is ahead,
    /// because nothing tells of an end that passes by itself.
    fn by_both_clocks(&self, now: Timestamp) -> Option<Timestamp> {
        let last = (*self.last.read().unwrap_or_else(PoisonError::into_inner))?;
        let now = now.plus(last.ahead);
        let counts = Moment::now().since(last.began) < self.max_age && last.key_expires_at.is_none_or(|end| now < end);
        counts.then_some(now)
    }

    /// Notes that a question about a token begins; `None` without a cursor: then its answer cannot be kept.
    pub(super) fn asking(&self) -> Option<Asking> {
        let ledger = self.ledger();
        ledger.cursor.clone().map(|cursor| Asking { since: ledger.applied, cursor })
    }

    /// Keeps an answer, if nothing that it rests on was named meanwhile.
    pub(super) fn keep(&self, asking: &Asking, token: &SignedToken, principal: &Principal) {
        if tail(token.expose()).is_none() {
            return;
        }
        let rests_on = [principal.session.id.as_str(), principal.user.id.as_str(), principal.org.id.as_str()];
        let mut ledger = self.ledger();
        if !ledger.admits(asking, rests_on) {
            return;
        }
        let rests_on = rests_on.iter().map(|id| ledger.footings.of(id)).collect();
        let bytes = token.expose().len() + principal.membership.metadata.as_json().len() + ANSWER;
        let value = Arc::new(Known { of: Arc::clone(&self.own), token: token.clone(), principal: principal.clone() });
        let gone = self.answers.put(Entry { value, rests_on, bytes });
        ledger.footings.release(gone);
        ledger.sweep();
    }

    /// The cursor held.
    pub(super) fn cursor(&self) -> Option<String> {
        self.ledger().cursor.clone()
    }

    /// Applies what the service said of a question that began at `began`.
    pub(super) fn apply(&self, began: Moment, told: Told) {
        if told.ahead > CLOCKS_DIFFER && !self.is_said.swap(true, Ordering::Relaxed) {
            let seconds = told.ahead.as_secs();
            tracing::warn!(
                seconds,
                "the service's clock is ahead of this machine's: what is remembered ends earlier; set both by NTP"
            );
        }
        let mut ledger = self.ledger();
        match told.named {
            Some(named) => ledger.take_in(named),
            None => self.forget_in(&mut ledger),
        }
        ledger.cursor = Some(told.cursor);
        let last = LastPoll { began, key_expires_at: told.key_expires_at, ahead: told.ahead };
        *self.last.write().unwrap_or_else(PoisonError::into_inner) = Some(last);
    }

    /// Forgets everything, what is being asked included.
    pub(super) fn forget(&self) {
        let mut ledger = self.ledger();
        *self.last.write().unwrap_or_else(PoisonError::into_inner) = None;
        ledger.cursor = None;
        self.forget_in(&mut ledger);
    }

    fn forget_in(&self, ledger: &mut Ledger) {
        ledger.applied += 1;
        ledger.complete_since = ledger.applied;
        ledger.named.clear();
        ledger.footings.fall_all(); // what rests on them goes when its place is needed
    }

    fn ledger(&self) -> MutexGuard<'_, Ledger> {
        self.ledger.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Ledger {
    /// What the answers to this key rested on goes with them, also when another key's took their place.
    fn sweep(&mut self) {
        if self.footings.len() >= self.sweep_at.max(FOOTINGS) {
            self.footings.sweep();
            self.sweep_at = 2 * self.footings.len();
        }
    }

    fn take_in(&mut self, named: Vec<String>) {
        self.applied += 1;
        for id in named {
            self.footings.fall(&id);
            self.named.push_back((self.applied, id));
        }
        while self.named.len() > NAMES {
            let oldest = self.named.pop_front();
            self.complete_since = oldest.map_or(self.applied, |(number, _)| number);
        }
    }

    fn admits(&self, asking: &Asking, rests_on: [&str; 3]) -> bool {
        let mut later = self.named.iter().rev().take_while(|(number, _)| *number > asking.since);
        asking.since >= self.complete_since && !later.any(|(_, id)| rests_on.contains(&id.as_str()))
    }
}

impl Keyed for Arc<Known> {
    fn key(&self) -> &[u8] {
        tail(self.token.expose()).unwrap_or_default()
    }
}

fn tail(token: &str) -> Option<&[u8]> {
    token.as_bytes().get(token.len().checked_sub(TAIL)?..)
}

#[cfg(all(test, feature = "testing"))]
mod tests {
    use super::*;
    use crate::model::Role;

    const LONG: Duration = Duration::from_secs(3_600);

    fn told(cursor: &str, named: &[&str]) -> Told {
        let named = Some(named.iter().map(|id| (*id).to_owned()).collect());
        Told { cursor: cursor.to_owned(), named, key_expires_at: None, ahead: Duration::ZERO }
    }

    /// A memory that was told of nothing yet, a token and whose it is.
    fn remembering(max_age: Duration) -> (Remembered, SignedToken, Principal) {
        let remembered = Remembered::new(max_age, &Arc::new(Shelf::new(1 << 20)));
        remembered.apply(Moment::now(), told("first", &[]));
        (remembered, SignedToken::new("t".repeat(600)), Principal::sample("acme", Role::Member))
    }

    fn acme() -> Slug {
        "acme".parse().expect("a slug")
    }

    fn now(principal: &Principal) -> Timestamp {
        principal.session.auth_time
    }

    #[test]
    fn an_answer_counts_until_it_is_named() {
        let (remembered, token, ada) = remembering(LONG);
        let now = now(&ada);
        remembered.keep(&remembered.asking().expect("a cursor"), &token, &ada);
        remembered.apply(Moment::now(), told("second", &["ses_other", "usr_other"]));
        assert!(remembered.recall(&acme(), &token, now).is_some());
        assert!(
            remembered.recall(&acme(), &SignedToken::new(format!("x{}", token.expose())), now).is_none(),
            "another token of that end"
        );
        let globex = "globex".parse().expect("a slug");
        assert!(remembered.recall(&globex, &token, now).is_none(), "a token counts in its own organization");
        for named in [ada.session.id.as_str(), ada.user.id.as_str(), ada.org.id.as_str()] {
            remembered.keep(&remembered.asking().expect("a cursor"), &token, &ada);
            assert!(remembered.recall(&acme(), &token, now).is_some());
            remembered.apply(Moment::now(), told("third", &[named]));
            assert!(remembered.recall(&acme(), &token, now).is_none(), "{named}");
        }
    }

    #[test]
    fn keys_share_the_bytes_and_nothing_else() {
        let (first, token, ada) = remembering(LONG);
        let second = Remembered::new(LONG, &first.answers);
        second.apply(Moment::now(), told("first", &[]));
        first.keep(&first.asking().expect("a cursor"), &token, &ada);
        assert!(first.recall(&acme(), &token, now(&ada)).is_some() && second.recall(&acme(), &token, now(&ada)).is_none());
        second.apply(Moment::now(), told("second", &[ada.session.id.as_str()]));
        second.forget();
        assert!(first.recall(&acme(), &token, now(&ada)).is_some(), "another key's news");
        for number in 0..3 * FOOTINGS {
            let token = SignedToken::new(format!("{number:0600}"));
            let mut other = ada.clone();
            other.session.id = format!("ses_{number:026}").parse().expect("an id");
            first.keep(&first.asking().expect("a cursor"), &token, &other);
        }
        assert!(first.ledger().footings.len() <= 2 * FOOTINGS, "footings go with what rested on them");
    }

    #[test]
    fn what_was_named_while_it_was_asked_is_not_kept() {
        let (remembered, token, ada) = remembering(LONG);
        for change in 0..4 {
            let asking = remembered.asking().expect("a cursor");
            match change {
                0 => remembered.apply(Moment::now(), told("next", &[ada.user.id.as_str()])),
                1 => remembered.apply(Moment::now(), Told { named: None, ..told("next", &[]) }),
                2 => {
                    let many: Vec<String> = (0..=NAMES).map(|number| format!("ses_{number}")).collect();
                    let told = Told { named: Some(many), ..told("next", &[]) };
                    remembered.apply(Moment::now(), told);
                }
                _ => {
                    remembered.forget();
                    assert!(remembered.asking().is_none(), "without a cursor nothing can be kept");
                    remembered.apply(Moment::now(), told("anew", &[]));
                }
            }
            remembered.keep(&asking, &token, &ada);
            assert!(remembered.recall(&acme(), &token, now(&ada)).is_none(), "change {change}");
        }
    }

    #[test]
    fn no_answer_counts_beyond_an_end() {
        let (remembered, token, mut ada) = remembering(LONG);
        let second = Duration::from_secs(1);
        let began = now(&ada);
        ada.token_expires_at = began.plus(second);
        ada.session.expires_at = began.plus(2 * second);
        remembered.keep(&remembered.asking().expect("a cursor"), &token, &ada);
        assert!(
            remembered.recall(&acme(), &token, began).is_some() && remembered.recall(&acme(), &token, began.plus(second)).is_none()
        );
        ada.token_expires_at = began.plus(3 * second);
        remembered.keep(&remembered.asking().expect("a cursor"), &token, &ada);
        assert!(remembered.recall(&acme(), &token, began.plus(second)).is_some(), "the session's end is later");
        assert!(remembered.recall(&acme(), &token, began.plus(2 * second)).is_none());
        remembered.apply(Moment::now(), Told { ahead: 2 * second, ..told("ahead", &[]) });
        assert!(remembered.recall(&acme(), &token, began).is_none(), "the service's clock is beyond it");
        remembered.apply(Moment::now(), Told { key_expires_at: Some(began.plus(second)), ..told("key", &[]) });
        assert!(
            remembered.recall(&acme(), &token, began).is_some() && remembered.recall(&acme(), &token, began.plus(second)).is_none()
        );
    }

    #[test]
    fn nothing_counts_once_the_last_question_is_too_old() {
        let (remembered, token, ada) = remembering(Duration::from_millis(700));
        let asked = Moment::now();
        remembered.apply(asked, told("now", &[]));
        remembered.keep(&remembered.asking().expect("a cursor"), &token, &ada);
        assert!(remembered.recall(&acme(), &token, now(&ada)).is_some());
        std::thread::sleep(Duration::from_millis(701));
        assert!(remembered.recall(&acme(), &token, now(&ada)).is_none());
        // An answer that comes late is of the moment at which its question began.
        remembered.apply(asked, told("late", &[]));
        assert!(remembered.recall(&acme(), &token, now(&ada)).is_none());
        remembered.apply(Moment::now(), told("again", &[]));
        assert!(remembered.recall(&acme(), &token, now(&ada)).is_some());
    }
}
