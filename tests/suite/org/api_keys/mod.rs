//! API keys: the routes under `/org/api-keys`, and the reports of leaked ones.

pub(crate) mod leaked;
pub(crate) mod lifetime;
pub(crate) mod manage;
