//! What is remembered: sessions, keys and organizations as they were read, each as long as the [`Ledger`] lets it stand, and tokens that
//! were found genuine.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use super::{
    bytes,
    ledger::{Fill, Ledger, Reading},
    shelf::{Entry, Shelf},
};
use crate::{
    id::{KeyId, SessionId},
    metrics::MemoryMeter,
    model::{Organization, Status},
    secret::SignedToken,
    store::{KeyRecord, LiveSession, Sight, Subject},
    time::Timestamp,
    token::{AccessToken, Signer},
    value::Slug,
};

/// How long the end of a token is by which it is found: the signature's last 32 characters, which nobody chooses.
const TAIL: usize = 32;

/// The maps, each with a share of the bytes.
#[derive(Debug)]
pub(super) struct Remembered {
    ledger: Mutex<Ledger>,
    sessions: Shelf<Arc<LiveSession>>,
    keys: Shelf<Arc<KeyRecord>>,
    organizations: Shelf<Arc<Organization>>,
    tokens: Shelf<Arc<GenuineToken>>,
    meter: MemoryMeter,
}

/// How much is remembered of one kind.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Holding {
    pub(crate) kind: &'static str,
    pub(crate) entries: usize,
    pub(crate) bytes: usize,
}

/// A token whose signature was verified.
#[derive(Debug, Clone)]
struct GenuineToken {
    text: SignedToken,
    content: Arc<AccessToken>,
    /// The signer that verified it: with other keys it counts for nothing.
    signer: Weak<Signer>,
    #[cfg(feature = "http")]
    told: Option<Told>,
}

/// What was last told of a token, ready to be sent.
#[cfg(feature = "http")]
#[derive(Clone)]
struct Told {
    /// Of what it was made. Whoever has another one, read anew, is told anew.
    live: Weak<LiveSession>,
    body: ::bytes::Bytes,
}

/// Without the body: it says who somebody is.
#[cfg(feature = "http")]
impl std::fmt::Debug for Told {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Told({} bytes)", self.body.len())
    }
}

/// What memory says of an access token.
#[derive(Debug)]
pub(crate) enum Recalled {
    /// Its session lives, of an active member of an active organization.
    Live(Arc<LiveSession>),
    /// A later token of its session was issued.
    Superseded,
    /// Nothing that decides: the database is asked.
    Unknown,
}

/// A token that was found genuine, with what was told of it.
#[cfg(feature = "http")]
#[derive(Debug)]
pub(crate) struct ToldToken(Arc<GenuineToken>);

#[cfg(feature = "http")]
impl ToldToken {
    /// What the token says.
    pub(crate) fn content(&self) -> &Arc<AccessToken> {
        &self.0.content
    }

    /// What was told of it when this very session was found for it. The session is compared as an object, so that nothing else need be.
    pub(crate) fn told_of(&self, live: &Arc<LiveSession>) -> Option<::bytes::Bytes> {
        let told = self.0.told.as_ref().filter(|told| std::ptr::eq(told.live.as_ptr(), Arc::as_ptr(live)))?;
        Some(told.body.clone())
    }
}

/// A fresh view of what is remembered: only a request that has one may be answered from memory. What it is asked for is counted, or not
/// yet.
#[derive(Debug, Clone, Copy)]
pub(crate) struct View<'a>(&'a Remembered, bool);

impl Remembered {
    pub(super) fn new(bytes: usize, meter: MemoryMeter) -> Self {
        let share = |sixteenths: usize| bytes / 16 * sixteenths;
        Self {
            ledger: Mutex::default(),
            sessions: Shelf::new(share(8)),
            tokens: Shelf::new(share(6)),
            keys: Shelf::new(share(1)),
            organizations: Shelf::new(share(1)),
            meter,
        }
    }

    /// What there is of each kind.
    pub(super) fn holdings(&self) -> Vec<Holding> {
        fn of<V: Clone>(kind: &'static str, shelf: &Shelf<V>) -> Holding {
            Holding { kind, entries: shelf.len(), bytes: shelf.bytes() }
        }
        vec![
            of("sessions", &self.sessions),
            of("api_keys", &self.keys),
            of("organizations", &self.organizations),
            of("tokens", &self.tokens),
        ]
    }

    /// Applies what a look saw.
    pub(super) fn apply(&self, sight: &Sight) {
        let mut ledger = self.ledger();
        let names_all = |named: &crate::store::Named| named.id.is_empty() && named.subject != Subject::SigningKeys;
        if sight.everything || ledger.incarnation() != sight.incarnation || sight.named.iter().any(names_all) {
            self.forget_in(&mut ledger);
            ledger.begin(&sight.incarnation);
            return;
        }
        ledger.name(sight.named.iter().map(|named| named.id.as_str()));
    }

    /// Forgets everything, what is being read included.
    pub(super) fn forget(&self) {
        self.forget_in(&mut self.ledger());
    }

    /// What was told of a token when the same session was found for it, which only a [`View`] gives.
    #[cfg(feature = "http")]
    pub(super) fn told(&self, text: &str, live: &Arc<LiveSession>) -> Option<::bytes::Bytes> {
        let known = self.tokens.get(tail(text)?).filter(|known| known.text.expose() == text)?;
        ToldToken(known).told_of(live)
    }

    /// Keeps what is told of a token that is known.
    #[cfg(feature = "http")]
    pub(super) fn keep_told(&self, text: &str, live: &Arc<LiveSession>, body: &::bytes::Bytes) {
        let Some(tail) = tail(text) else { return };
        let Some(known) = self.tokens.get(tail).filter(|known| known.text.expose() == text) else { return };
        // A copy of its own, without the room that writing it left: that would not be counted.
        let told = Some(Told { live: Arc::downgrade(live), body: ::bytes::Bytes::copy_from_slice(body) });
        let bytes = text.len() + bytes::TOKEN + body.len();
        let value = Arc::new(GenuineToken { told, ..GenuineToken::clone(&known) });
        self.tokens.put(tail, Entry { value, rests_on: Vec::new(), bytes });
    }

    fn forget_in(&self, ledger: &mut Ledger) {
        ledger.name_all();
        self.sessions.clear();
        self.keys.clear();
        self.organizations.clear();
    }

    fn ledger(&self) -> MutexGuard<'_, Ledger> {
        self.ledger.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

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
        let Some(live) = self.0.sessions.get(token.session.as_str()) else { return Recalled::Unknown };
        if token.user != live.user.id || token.org != live.org.id {
            return Recalled::Unknown;
        }
        let is_admitted = live.is_live(now) && live.membership.status == Status::Active && live.org.status == Status::Active;
        match token.generation.cmp(&live.session.generation) {
            std::cmp::Ordering::Less => Recalled::Superseded,
            std::cmp::Ordering::Equal if is_admitted => Recalled::Live(live),
            _ => Recalled::Unknown,
        }
    }

    /// What is remembered of a session, for whoever judges it again where it counts.
    pub(crate) fn session(self, session: &SessionId) -> Option<Arc<LiveSession>> {
        let known = self.0.sessions.get(session.as_str());
        self.asked(known.is_some());
        known
    }

    pub(crate) fn keep_session(self, fill: Fill, live: &Arc<LiveSession>, incarnation: Option<&str>) {
        // The user stands for the membership, too: the log names memberships by their users.
        let rests_on = vec![live.session.id.as_str(), live.user.id.as_str(), live.org.id.as_str()];
        let entry = Entry { value: Arc::clone(live), rests_on: Vec::new(), bytes: bytes::of_session(live) };
        self.0.ledger().keep(&self.0.sessions, live.session.id.as_str(), entry, &Reading { fill, incarnation, rests_on });
    }

    pub(crate) fn key(self, key: &KeyId) -> Option<Arc<KeyRecord>> {
        let known = self.0.keys.get(key.as_str());
        self.asked(known.is_some());
        known
    }

    /// The same, without counting.
    pub(crate) fn peek_key(self, key: &KeyId) -> Option<Arc<KeyRecord>> {
        self.0.keys.get(key.as_str())
    }

    pub(crate) fn keep_key(self, fill: Fill, key: &Arc<KeyRecord>, incarnation: Option<&str>) {
        let rests_on = [Some(key.id.as_str()), key.home().map(|org| org.id.as_str())].into_iter().flatten().collect();
        let entry = Entry { value: Arc::clone(key), rests_on: Vec::new(), bytes: bytes::of_key(key) };
        self.0.ledger().keep(&self.0.keys, key.id.as_str(), entry, &Reading { fill, incarnation, rests_on });
    }

    pub(crate) fn organization(self, slug: &Slug) -> Option<Arc<Organization>> {
        let known = self.0.organizations.get(slug.as_str());
        self.asked(known.is_some());
        known
    }

    pub(crate) fn keep_organization(self, fill: Fill, org: &Arc<Organization>, incarnation: Option<&str>) {
        let entry = Entry { value: Arc::clone(org), rests_on: Vec::new(), bytes: bytes::of_organization(org) };
        let reading = Reading { fill, incarnation, rests_on: vec![org.id.as_str()] };
        self.0.ledger().keep(&self.0.organizations, org.slug.as_str(), entry, &reading);
    }

    /// The content of a token that this signer found genuine before, whether it has expired or not.
    pub(crate) fn token(self, text: &str, signer: &Arc<Signer>) -> Option<Arc<AccessToken>> {
        Some(Arc::clone(&self.genuine(text, signer)?.content))
    }

    /// The same, where something was told of the token.
    #[cfg(feature = "http")]
    pub(crate) fn told_token(self, text: &str, signer: &Arc<Signer>) -> Option<ToldToken> {
        self.genuine(text, signer).filter(|known| known.told.is_some()).map(ToldToken)
    }

    fn genuine(self, text: &str, signer: &Arc<Signer>) -> Option<Arc<GenuineToken>> {
        let known = self.0.tokens.get(tail(text)?)?;
        let is_same = known.text.expose() == text && std::ptr::eq(known.signer.as_ptr(), Arc::as_ptr(signer));
        is_same.then_some(known)
    }

    pub(crate) fn keep_token(self, text: &str, content: &Arc<AccessToken>, signer: &Arc<Signer>) {
        let Some(tail) = tail(text) else { return };
        let value = Arc::new(GenuineToken {
            text: SignedToken::new(text),
            content: Arc::clone(content),
            signer: Arc::downgrade(signer),
            #[cfg(feature = "http")]
            told: None,
        });
        self.0.tokens.put(tail, Entry { value, rests_on: Vec::new(), bytes: text.len() + bytes::TOKEN });
    }
}

fn tail(token: &str) -> Option<&str> {
    token.get(token.len().checked_sub(TAIL)?..)
}
