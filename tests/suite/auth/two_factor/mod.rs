//! The second factor: the routes under `/auth/2fa`, and the second step of a login.

pub(crate) mod limits;
pub(crate) mod login;
pub(crate) mod partial_token;
pub(crate) mod races;
pub(crate) mod recovery_codes;
pub(crate) mod setup;
pub(crate) mod ways_in;
