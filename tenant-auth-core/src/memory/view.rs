//! A fresh view of what is remembered, which is what a request asks.

use std::sync::Arc;

#[cfg(feature = "http")]
use super::token_of_session::ToldToken;
use super::{
    bytes,
    kept_session::{KeptSession, Recalled},
    kept_token::TextDigest,
    ledger::{Fill, Reading},
    remembered::Remembered,
};
use crate::{
    id::{KeyId, SessionId},
    model::Organization,
    store::{KeyRecord, LiveSession},
    time::Timestamp,
    token::{AccessToken, Signer, StatedSession},
    value::Slug,
};

/// A fresh view of what is remembered: only a request that has one may be answered from memory. What it is asked for is counted, or not
/// yet.
#[derive(Debug, Clone, Copy)]
pub(crate) struct View<'a>(&'a Remembered, bool);

impl<'a> View<'a> {
    pub(super) fn of(remembered: &'a Remembered) -> Self {
        Self(remembered, true)
    }

    /// The same view, which counts nothing: for who may have to ask again.
    #[cfg(feature = "http")]
    pub(crate) fn uncounted(self) -> Self {
        Self(self.0, false)
    }

    /// Counts what an uncounted view was asked for and knew.
    #[cfg(feature = "http")]
    pub(crate) fn knew(self, what: usize) {
        (0..what).for_each(|_| self.0.meter.asked(true));
    }

    fn asked(self, is_known: bool) {
        if self.1 {
            self.0.meter.asked(is_known);
        }
    }

    /// Notes that a reading begins. To be called before the statement is sent.
    pub(crate) fn fill(self) -> Fill {
        self.0.ledger().fill()
    }

    /// What is remembered of a token's session.
    pub(crate) fn recall(self, token: &AccessToken, now: Timestamp) -> Recalled {
        let recalled = self.recalled(token, now);
        self.asked(!matches!(recalled, Recalled::Unknown));
        recalled
    }

    fn recalled(self, token: &AccessToken, now: Timestamp) -> Recalled {
        let recalled = self.0.sessions.see(token.session.as_str().as_bytes(), |kept| kept.recall(token, now));
        recalled.flatten().unwrap_or(Recalled::Unknown)
    }

    /// What is remembered of a session, for whoever judges it again where it counts.
    pub(crate) fn session(self, session: &SessionId) -> Option<Arc<LiveSession>> {
        let known = self.0.sessions.see(session.as_str().as_bytes(), KeptSession::live).flatten();
        self.asked(known.is_some());
        known.map(Arc::new)
    }

    pub(crate) fn keep_session(self, fill: Fill, live: &LiveSession, incarnation: Option<&str>) {
        // The user stands for the membership, too: the log names memberships by their users.
        let rests_on = vec![live.session.id.as_str(), live.user.id.as_str(), live.org.id.as_str()];
        let (kept, bytes) = self.0.kept(live);
        self.0.keep(&self.0.sessions, kept, bytes, &Reading { fill, incarnation, rests_on });
    }

    pub(crate) fn key(self, key: &KeyId) -> Option<Arc<KeyRecord>> {
        let known = self.peek_key(key);
        self.asked(known.is_some());
        known
    }

    /// The same, without counting.
    pub(crate) fn peek_key(self, key: &KeyId) -> Option<Arc<KeyRecord>> {
        self.0.keys.get(key.as_str().as_bytes())
    }

    pub(crate) fn keep_key(self, fill: Fill, key: &Arc<KeyRecord>, incarnation: Option<&str>) {
        let rests_on = [Some(key.id.as_str()), key.home().map(|org| org.id.as_str())].into_iter().flatten().collect();
        self.0.keep(&self.0.keys, Arc::clone(key), bytes::of_key(key), &Reading { fill, incarnation, rests_on });
    }

    pub(crate) fn organization(self, slug: &Slug) -> Option<Arc<Organization>> {
        let known = self.0.organizations.get(slug.as_str().as_bytes());
        self.asked(known.is_some());
        known
    }

    pub(crate) fn keep_organization(self, fill: Fill, org: &Arc<Organization>, incarnation: Option<&str>) {
        let reading = Reading { fill, incarnation, rests_on: vec![org.id.as_str()] };
        let bytes = bytes::of_organization(org) + bytes::FOOTING;
        self.0.keep(&self.0.organizations, Arc::clone(org), bytes, &reading);
    }

    /// The content of a token that this signer found genuine before, whether it has expired or not.
    pub(crate) fn token(self, text: &str, signer: &Arc<Signer>) -> Option<AccessToken> {
        let stated = StatedSession::of(text)?;
        let digest = TextDigest::of(text);
        self.0.sessions.see(stated.id(), |kept| kept.token(digest, signer))?
    }

    /// What was told of such a token, with what judges it.
    #[cfg(feature = "http")]
    pub(crate) fn told_token(self, text: &str, signer: &Arc<Signer>) -> Option<ToldToken> {
        let stated = StatedSession::of(text)?;
        let digest = TextDigest::of(text);
        self.0.sessions.see(stated.id(), |kept| kept.told_token(digest, signer))?
    }

    /// Keeps that this signer found a token genuine, where the token's session is remembered.
    pub(crate) fn keep_token(self, text: &str, content: &AccessToken, signer: &Arc<Signer>) {
        let digest = TextDigest::of(text);
        self.0.renew(content.session.as_str(), |kept| kept.with_token(digest, content, signer));
    }
}
