//! Webhooks as their admins manage them: the routes under `/org/webhooks`.

pub(crate) mod fields;
pub(crate) mod manage;
pub(crate) mod races;
pub(crate) mod rights;
pub(crate) mod secrets;
pub(crate) mod targets;
