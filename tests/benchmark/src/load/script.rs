//! What a connection asks, one request after another, and whether it got what it asked for.

use std::{
    collections::VecDeque,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use rand::{RngExt, SeedableRng, rngs::StdRng};

use super::Answer;
use crate::{Failure, stage::requests};

/// One connection's part.
pub(crate) trait Script: Send + 'static {
    /// The next request.
    fn request(&mut self) -> &[u8];

    /// Looks at its answer; an answer to something else ends the run.
    fn answered(&mut self, answer: &Answer<'_>) -> Result<(), Failure>;
}

/// Asks about tokens at random.
#[derive(Debug)]
pub(crate) struct Verifications {
    requests: Arc<Vec<Vec<u8>>>,
    chance: StdRng,
}

impl Verifications {
    /// For each of so many connections, an order of its own.
    pub(crate) fn scripts(requests: &Arc<Vec<Vec<u8>>>, connections: usize) -> Vec<Self> {
        (0..connections).map(|lane| Self { requests: Arc::clone(requests), chance: StdRng::seed_from_u64(lane as u64) }).collect()
    }
}

impl Script for Verifications {
    fn request(&mut self) -> &[u8] {
        &self.requests[self.chance.random_range(0..self.requests.len())]
    }

    fn answered(&mut self, answer: &Answer<'_>) -> Result<(), Failure> {
        answer.expect(r#"{"status":"success","data":{"valid":true,"#)
    }
}

/// Reads lists of members, for one member or another.
#[derive(Debug)]
pub(crate) struct Listings(Verifications);

impl Listings {
    /// As [`Verifications::scripts`].
    pub(crate) fn scripts(requests: &Arc<Vec<Vec<u8>>>, connections: usize) -> Vec<Self> {
        Verifications::scripts(requests, connections).into_iter().map(Self).collect()
    }
}

impl Script for Listings {
    fn request(&mut self) -> &[u8] {
        self.0.request()
    }

    fn answered(&mut self, answer: &Answer<'_>) -> Result<(), Failure> {
        answer.expect(r#"{"status":"success","data":{"members":[{"#)
    }
}

/// Logs people in, each once before any person logs in again, so that no person has many sessions.
#[derive(Debug)]
pub(crate) struct Logins {
    requests: Arc<Vec<Vec<u8>>>,
    next: Arc<AtomicUsize>,
}

impl Logins {
    pub(crate) fn scripts(requests: &Arc<Vec<Vec<u8>>>, connections: usize) -> Vec<Self> {
        let next = Arc::new(AtomicUsize::new(0));
        (0..connections).map(|_| Self { requests: Arc::clone(requests), next: Arc::clone(&next) }).collect()
    }
}

impl Script for Logins {
    fn request(&mut self) -> &[u8] {
        &self.requests[self.next.fetch_add(1, Ordering::Relaxed) % self.requests.len()]
    }

    fn answered(&mut self, answer: &Answer<'_>) -> Result<(), Failure> {
        answer.expect(r#"{"status":"success","data":{"accessToken":""#)
    }
}

/// Refreshes sessions in turn, each with the token it got the last time.
#[derive(Debug)]
pub(crate) struct Refreshes {
    /// Slug and refresh token.
    sessions: VecDeque<(String, String)>,
    request: Vec<u8>,
}

impl Refreshes {
    /// Every connection has sessions of its own.
    pub(crate) fn scripts(sessions: &[(String, String)], connections: usize) -> Vec<Self> {
        let share = (sessions.len() / connections).max(1);
        let parts = sessions.chunks(share).take(connections);
        parts.map(|part| Self { sessions: part.to_vec().into(), request: Vec::new() }).collect()
    }
}

impl Script for Refreshes {
    fn request(&mut self) -> &[u8] {
        if let Some((slug, token)) = self.sessions.front() {
            self.request = requests::refresh(slug, token);
        }
        &self.request
    }

    fn answered(&mut self, answer: &Answer<'_>) -> Result<(), Failure> {
        answer.expect(r#"{"status":"success","data":{"accessToken":""#)?;
        let token = answer.body.split(r#""refreshToken":""#).nth(1).and_then(|rest| rest.split('"').next());
        if let (Some((slug, _)), Some(token)) = (self.sessions.pop_front(), token) {
            self.sessions.push_back((slug, token.to_owned()));
        }
        Ok(())
    }
}
