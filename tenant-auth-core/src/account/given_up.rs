//! Refreshes that the gate foresaw and that were never carried out, because the request was given up before its answer (behaviour.md,
//! B214). A browser that gives up a page has done nothing wrong. But whoever stole a refresh token could use it so for as long as it
//! lives: without a rotation no reuse is ever detected. So a session is not foreseen for longer after the first of them than an access
//! token lives.

use std::{
    collections::{HashMap, VecDeque},
    sync::{Mutex, MutexGuard, PoisonError},
};

use crate::{id::SessionId, time::Timestamp, token::RefreshToken};

/// How many sessions are kept. One more forgets the oldest, so that memory stays bounded.
const MOST: usize = 16_384;

/// The sessions whose refresh was given up, with the generation and the moment of the first time.
#[derive(Debug, Default)]
pub(crate) struct GivenUp {
    kept: Mutex<Kept>,
}

#[derive(Debug, Default)]
struct Kept {
    first: HashMap<SessionId, (i64, Timestamp)>,
    by_age: VecDeque<SessionId>,
}

impl GivenUp {
    /// Notes that a refresh by this token was given up. A later generation begins anew.
    pub(crate) fn note(&self, token: &RefreshToken, now: Timestamp) {
        let mut kept = self.kept();
        if let Some(first) = kept.first.get_mut(&token.session) {
            if first.0 < token.generation {
                *first = (token.generation, now);
            }
            return;
        }
        if kept.by_age.len() >= MOST
            && let Some(oldest) = kept.by_age.pop_front()
        {
            kept.first.remove(&oldest);
        }
        kept.by_age.push_back(token.session.clone());
        kept.first.insert(token.session.clone(), (token.generation, now));
    }

    /// When a refresh by a token of this generation was first given up.
    pub(super) fn since(&self, token: &RefreshToken) -> Option<Timestamp> {
        let first = self.kept().first.get(&token.session).copied();
        first.and_then(|(generation, since)| (generation == token.generation).then_some(since))
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{id::Id, ports::SeededEntropy};

    fn token(session: &SessionId, generation: i64) -> RefreshToken {
        RefreshToken { session: session.clone(), generation }
    }

    #[test]
    fn the_first_time_of_a_generation_counts() {
        let (given_up, entropy) = (GivenUp::default(), SeededEntropy::new(1));
        let at = Timestamp::from_secs;
        let session = Id::generate(at(0), &entropy);
        let (first, second) = (token(&session, 1), token(&session, 2));
        assert_eq!(given_up.since(&first), None);
        given_up.note(&first, at(10));
        given_up.note(&first, at(20));
        assert_eq!((given_up.since(&first), given_up.since(&second)), (Some(at(10)), None));
        given_up.note(&second, at(30));
        given_up.note(&first, at(40));
        assert_eq!((given_up.since(&first), given_up.since(&second)), (None, Some(at(30))));
    }

    #[test]
    fn the_oldest_is_forgotten_for_one_more() {
        let (given_up, entropy) = (GivenUp::default(), SeededEntropy::new(1));
        let sessions: Vec<SessionId> = (0..=MOST).map(|_| Id::generate(Timestamp::from_secs(0), &entropy)).collect();
        for session in &sessions {
            given_up.note(&token(session, 1), Timestamp::from_secs(1));
        }
        let is_kept = |session: &SessionId| given_up.since(&token(session, 1)).is_some();
        assert!(!is_kept(&sessions[0]) && is_kept(&sessions[1]) && is_kept(&sessions[MOST]));
    }
}
