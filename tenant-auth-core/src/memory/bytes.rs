//! Estimates of how many bytes something remembered holds, of the real lengths of its texts.

use crate::{
    model::Organization,
    store::{DeploymentReach, KeyRecord, LiveSession, Reach},
    token::AccessToken,
    value::{AppUrl, Bio, Network, Origin, Phone},
};

/// An id on the heap.
const ID: usize = 32;

/// A token's content, beside its text.
pub(super) const TOKEN: usize = size_of::<AccessToken>() + 3 * ID;

pub(super) fn of_session(live: &LiveSession) -> usize {
    let LiveSession { session, user, membership, org } = live;
    let optional = |text: Option<&str>| text.map_or(0, str::len);
    let of_person = user.name.as_str().len()
        + user.email.as_str().len()
        + optional(user.profile.bio.as_ref().map(Bio::as_str))
        + optional(user.profile.phone.as_ref().map(Phone::as_str));
    let of_client = optional(session.ip.as_deref()) + optional(session.user_agent.as_deref()) + session.amr.len();
    let metadata = membership.metadata.as_json().len();
    size_of::<LiveSession>() + 8 * ID + of_person + of_client + metadata + texts_of(org)
}

pub(super) fn of_key(key: &KeyRecord) -> usize {
    let reach = match &key.reach {
        Reach::Organization(org) => of_organization(org),
        Reach::Deployment(DeploymentReach { scopes, networks }) => {
            let networks: usize = networks.iter().map(|network| size_of::<Network>() + network.as_str().len()).sum();
            networks + scopes.len()
        }
    };
    size_of::<KeyRecord>() + 2 * ID + key.digest.as_str().len() + key.scopes.len() + reach
}

pub(super) fn of_organization(org: &Organization) -> usize {
    size_of::<Organization>() + texts_of(org)
}

fn texts_of(org: &Organization) -> usize {
    let origins: usize = org.allowed_origins.iter().map(|origin| origin.as_str().len() + size_of::<Origin>()).sum();
    let app_url = org.app_url.as_ref().map_or(0, |url| AppUrl::as_str(url).len());
    ID + org.name.as_str().len() + org.slug.as_str().len() + org.plan.as_str().len() + app_url + origins
}
