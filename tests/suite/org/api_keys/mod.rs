//! API keys: the routes under `/org/api-keys`.

pub(crate) mod lifetime;
pub(crate) mod manage;
