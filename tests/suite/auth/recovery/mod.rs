//! Forgotten passwords: `/auth/forgot-password` and `/auth/reset-password`.

pub(crate) mod races;
pub(crate) mod requests;
pub(crate) mod reset;
