//! Sessions: one's own under `/auth/sessions`, a member's for an org_admin, and how long each lasts.

pub(crate) mod lifetime;
pub(crate) mod of_members;
pub(crate) mod own;
