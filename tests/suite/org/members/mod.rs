//! The members of an organization: the routes under `/org/members`, less the invites.

pub(crate) mod list_and_remove;
pub(crate) mod metadata;
pub(crate) mod roles;
