//! How many bytes something remembered holds, of the real lengths of its texts.

use std::sync::Arc;

use super::footing::Footing;
use crate::{
    model::Organization,
    store::{DeploymentReach, KeyRecord, Reach},
    value::{AppUrl, Network, Origin},
};

/// An id on the heap.
const ID: usize = 32;

/// The counts of whatever is shared, beside its own bytes.
pub(super) const COUNTS: usize = 2 * size_of::<usize>();

/// The footing of a row.
pub(super) const FOOTING: usize = COUNTS + size_of::<Footing>() + place::<Arc<Footing>>();

/// A place in a hash table that may be less than half full, and its mark.
pub(super) const fn place<T>() -> usize {
    (size_of::<T>() + 1) * 16 / 7 + 1
}

pub(super) fn of_key(key: &KeyRecord) -> usize {
    let reach = match &key.reach {
        Reach::Organization(org) => of_organization(org),
        Reach::Deployment(DeploymentReach { scopes, networks }) => {
            let networks: usize = networks.iter().map(|network| size_of::<Network>() + network.as_str().len()).sum();
            networks + scopes.len()
        }
    };
    COUNTS + size_of::<KeyRecord>() + 2 * ID + FOOTING + key.digest.as_str().len() + key.scopes.len() + reach
}

pub(super) fn of_organization(org: &Organization) -> usize {
    COUNTS + size_of::<Organization>() + texts_of(org)
}

fn texts_of(org: &Organization) -> usize {
    // A list grows to twice its length, and holds four at least.
    let origins = org.allowed_origins.len().next_power_of_two().max(4) * size_of::<Origin>();
    let origins = origins + org.allowed_origins.iter().map(|origin| origin.as_str().len()).sum::<usize>();
    let app_url = org.app_url.as_ref().map_or(0, |url| AppUrl::as_str(url).len());
    ID + org.name.as_str().len() + org.slug.as_str().len() + org.plan.as_str().len() + app_url + origins
}
