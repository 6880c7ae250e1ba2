//! Identifiers that say what they identify. An [`Id<K>`] is a prefix and a 26-character body: a millisecond timestamp and
//! 80 random bits in Crockford base 32, so that ids sort by creation and a user's id can never be passed for a session's.

use std::{fmt, marker::PhantomData, str::FromStr};

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::{ports::Entropy, time::Timestamp};

/// Crockford's base 32 in lower case: no i, l, o or u, which people misread.
pub(crate) const CROCKFORD: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";
const BODY: usize = 26;

/// What an id identifies; implemented by the marker types of this module only.
pub trait Kind: sealed::Sealed + Send + Sync + 'static {
    /// The prefix with its underscore, such as `usr_`.
    const PREFIX: &'static str;
}

mod sealed {
    #[expect(unnameable_types, reason = "a trait that nobody can name is one that nobody else can implement")]
    pub trait Sealed {
        /// The name of the id's schema.
        const NAME: &'static str;
    }
}

/// A typed identifier, `<prefix>_<26 characters>` (behaviour.md, B21).
pub struct Id<K> {
    text: Box<str>,
    kind: PhantomData<fn() -> K>,
}

/// The text is not an id of this kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not a valid id of this kind")]
pub struct MalformedId;

impl<K: Kind> Id<K> {
    /// A new id: its first ten characters are `now`, the rest is chance.
    pub fn generate(now: Timestamp, entropy: &dyn Entropy) -> Self {
        let mut chance = [0; 10];
        entropy.fill(&mut chance);
        Self::of(now, chance)
    }

    fn of(time: Timestamp, chance: [u8; 10]) -> Self {
        let mut bytes = [0u8; 16];
        bytes[6..].copy_from_slice(&chance);
        bytes[..6].copy_from_slice(&time.millis().to_be_bytes()[2..]);
        let number = u128::from_be_bytes(bytes);
        let mut text = String::with_capacity(K::PREFIX.len() + BODY);
        text.push_str(K::PREFIX);
        for place in (0..BODY).rev() {
            text.push(CROCKFORD[(number >> (5 * place)) as usize & 31] as char);
        }
        Self::from_stored(text)
    }

    /// Ids that were generated before `time` sort before this one, and all others after it.
    pub(crate) fn first_at(time: Timestamp) -> Self {
        Self::of(time, [0; 10])
    }

    /// The id as text, prefix included.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The 26 characters after the prefix.
    pub fn body(&self) -> &str {
        &self.text[K::PREFIX.len()..]
    }

    /// The id with this [`Id::body`].
    #[cfg(feature = "service")]
    pub(crate) fn of_body(body: &str) -> Self {
        Self::from_stored([K::PREFIX, body].concat())
    }

    /// Wraps a value from our own database or from a token we signed, without checking it again.
    pub(crate) fn from_stored(text: impl Into<Box<str>>) -> Self {
        Self { text: text.into(), kind: PhantomData }
    }
}

impl<K: Kind> FromStr for Id<K> {
    type Err = MalformedId;

    fn from_str(text: &str) -> Result<Self, MalformedId> {
        let body = text.strip_prefix(K::PREFIX).ok_or(MalformedId)?;
        let well_formed = body.len() == BODY && body.bytes().all(|b| CROCKFORD.contains(&b));
        if well_formed { Ok(Self::from_stored(text)) } else { Err(MalformedId) }
    }
}

impl<K> Clone for Id<K> {
    fn clone(&self) -> Self {
        Self { text: self.text.clone(), kind: PhantomData }
    }
}
impl<K> PartialEq for Id<K> {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}
impl<K> Eq for Id<K> {}
impl<K> PartialOrd for Id<K> {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}
impl<K> Ord for Id<K> {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.text.cmp(&other.text)
    }
}
impl<K> std::hash::Hash for Id<K> {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.text.hash(state);
    }
}
impl<K> fmt::Debug for Id<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}
impl<K> fmt::Display for Id<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}
impl<'de, K: Kind> Deserialize<'de> for Id<K> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        std::borrow::Cow::<'de, str>::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}
impl<K> Serialize for Id<K> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.text)
    }
}

#[cfg(feature = "http")]
impl<K: Kind> utoipa::PartialSchema for Id<K> {
    fn schema() -> utoipa::openapi::RefOr<utoipa::openapi::Schema> {
        crate::schema::string("An id: its prefix, and 26 characters that sort by time of creation.")
            .pattern(Some(format!("^{}[0-9a-hjkmnp-tv-z]{{{BODY}}}$", K::PREFIX)))
            .examples([format!("{}01kaz3vrm0f3k8m2p5q7r9s1t4", K::PREFIX)])
            .into()
    }
}

#[cfg(feature = "http")]
impl<K: Kind> utoipa::ToSchema for Id<K> {
    fn name() -> std::borrow::Cow<'static, str> {
        K::NAME.into()
    }
}

macro_rules! kinds {
    ($($(#[$doc:meta])* $vis:vis $kind:ident $prefix:literal $alias:ident;)*) => { $(
        $(#[$doc])*
        #[derive(Debug)]
        $vis enum $kind {}
        impl sealed::Sealed for $kind {
            const NAME: &'static str = stringify!($alias);
        }
        impl Kind for $kind {
            const PREFIX: &'static str = $prefix;
        }
        #[doc = concat!("An id that starts with `", $prefix, "`.")]
        $vis type $alias = Id<$kind>;
    )* };
}

kinds! {
    /// A person's account.
    pub UserKind "usr_" UserId;
    /// A person's link to one organization.
    pub MembershipKind "mem_" MembershipId;
    /// An organization (tenant).
    pub OrgKind "org_" OrgId;
    /// A pending invitation.
    pub InviteKind "inv_" InviteId;
    /// One login of one person in one organization.
    pub SessionKind "ses_" SessionId;
    /// An organization's API key.
    pub ApiKeyKind "key_" ApiKeyId;
    /// A deployment key.
    pub DeploymentKeyKind "dpk_" DeploymentKeyId;
    /// An organization's subscription to events.
    pub WebhookKind "whk_" WebhookId;
    /// An event.
    pub EventIdKind "evt_" EventId;
    /// One delivery of an event to a webhook.
    pub DeliveryKind "dlv_" DeliveryId;
    /// A mail in the outbox. Its prefix is that of deliveries, because stored mails have such ids.
    pub(crate) MailIdKind "dlv_" MailId;
}

/// The id of a backend's key, whosever it is.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum KeyId {
    /// An organization's.
    ApiKey(ApiKeyId),
    /// The deployment's.
    DeploymentKey(DeploymentKeyId),
}

impl KeyId {
    /// The id as text, prefix included.
    pub fn as_str(&self) -> &str {
        match self {
            Self::ApiKey(id) => id.as_str(),
            Self::DeploymentKey(id) => id.as_str(),
        }
    }
}

impl FromStr for KeyId {
    type Err = MalformedId;

    fn from_str(text: &str) -> Result<Self, MalformedId> {
        text.parse().map(Self::ApiKey).or_else(|_| text.parse().map(Self::DeploymentKey))
    }
}

impl fmt::Display for KeyId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for KeyId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        std::borrow::Cow::<'de, str>::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

impl Serialize for KeyId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ports::OsEntropy;

    #[test]
    fn ids_sort_by_time_and_survive_a_round_trip() {
        let early = UserId::generate(Timestamp::from_millis(1_700_000_000_000), &OsEntropy);
        let late = UserId::generate(Timestamp::from_millis(1_700_000_000_001), &OsEntropy);
        assert!(early < late);
        let between = UserId::first_at(Timestamp::from_millis(1_700_000_000_001));
        assert!(early < between && between < late);
        assert_eq!(early.as_str().parse::<UserId>().as_ref(), Ok(&early));
        assert_eq!(early.as_str().len(), 30);
    }

    #[test]
    fn another_kinds_id_is_refused() {
        let user = UserId::generate(Timestamp::from_millis(1), &OsEntropy);
        assert!(user.as_str().parse::<SessionId>().is_err());
        assert!("usr_".parse::<UserId>().is_err());
        assert!("usr_0000000000000000000000000u".parse::<UserId>().is_err(), "u is not in the alphabet");
    }
}
