//! Members and memberships as JSON. Each operation shows as much of a membership as its caller needs.

use serde::Serialize;

use super::view;
use crate::{
    id::{MembershipId, UserId},
    model::{MemberEntry, Membership, Role, Status},
    time::Timestamp,
    value::{DisplayName, Email, Metadata},
};

/// An entry of the member list: the person and the membership in one.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "http", derive(utoipa::ToSchema), schema(as = MemberEntry))]
#[serde(rename_all = "camelCase")]
pub struct MemberView {
    /// The person.
    user_id: UserId,
    /// Their name.
    name: DisplayName,
    /// Their address.
    email: Email,
    /// Their role here.
    role: Role,
    /// Whether they are let in.
    status: Status,
    /// Since when.
    joined_at: Timestamp,
    /// The customer's own data.
    metadata: Metadata,
}

impl MemberView {
    pub(crate) fn user_id(&self) -> &UserId {
        &self.user_id
    }
}

impl From<&MemberEntry> for MemberView {
    fn from(entry: &MemberEntry) -> Self {
        let MemberEntry { membership, name, email } = entry.clone();
        let Membership { user_id, role, status, joined_at, metadata, .. } = membership;
        Self { user_id, name, email, role, status, joined_at, metadata }
    }
}

view! {
    /// A person's link to an organization, in full.
    pub MembershipView of Membership as Membership {
        /// `mem_…`
        id: MembershipId,
        /// The person.
        user_id: UserId,
        /// Their role here.
        role: Role,
        /// Whether they are let in.
        status: Status,
        /// Since when.
        joined_at: Timestamp,
        /// The customer's own data.
        metadata: Metadata,
    }
}
