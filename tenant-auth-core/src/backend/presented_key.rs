//! A key as a backend shows it: read as far as its text alone allows, and not yet believed.

use std::net::IpAddr;

use crate::{
    id::KeyId,
    key_text,
    secret::{ApiKeyText, Digest},
    store::{DeploymentReach, KeyRecord, Reach},
    time::Timestamp,
    value::Slug,
};

/// A key as it was shown.
pub(crate) struct PresentedKey {
    id: KeyId,
    text: ApiKeyText,
    digest: Digest,
    /// Who shows it, where that decides.
    sender: Option<IpAddr>,
}

impl PresentedKey {
    /// An organization's key.
    pub(crate) fn parse(text: &ApiKeyText) -> Option<Self> {
        let id = KeyId::ApiKey(key_text::organization_key_id(text)?);
        Some(Self { id, text: text.clone(), digest: text.digest(), sender: None })
    }

    /// A deployment key, which this address shows.
    pub(crate) fn of_deployment(text: &ApiKeyText, sender: Option<IpAddr>) -> Option<Self> {
        let id = KeyId::DeploymentKey(key_text::deployment_key_id(text)?);
        Some(Self { id, text: text.clone(), digest: text.digest(), sender })
    }

    /// Whether a text is shown as a deployment key, good or not.
    #[cfg(feature = "http")]
    pub(crate) fn is_of_deployment(text: &str) -> bool {
        text.starts_with(key_text::DEPLOYMENT_PREFIX)
    }

    /// The whole text.
    pub(crate) fn text(&self) -> &ApiKeyText {
        &self.text
    }

    /// The id that the text begins with.
    pub(super) fn id(&self) -> &KeyId {
        &self.id
    }

    /// Whether this is the digest of the whole text.
    pub(super) fn is_of(&self, digest: &Digest) -> bool {
        self.digest.matches(digest)
    }

    /// Whether the record is this key's, lives, and counts in this organization, where one is named, for whoever shows it.
    pub(super) fn is_believed(&self, record: &KeyRecord, slug: Option<&Slug>, now: Timestamp) -> bool {
        let is_here = match &record.reach {
            Reach::Organization(org) => slug == Some(&org.slug),
            Reach::Deployment(DeploymentReach { networks, .. }) => {
                let is_within = |sender: IpAddr| networks.iter().any(|network| network.contains(sender));
                networks.is_empty() || self.sender.is_some_and(is_within)
            }
        };
        self.is_of(&record.digest) && record.expires_at.is_none_or(|end| now < end) && is_here
    }
}
