//! Sessions: one's own under `/auth/sessions`, and how long each lasts.

pub(crate) mod lifetime;
pub(crate) mod own;
