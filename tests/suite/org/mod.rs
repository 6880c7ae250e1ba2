//! An organization: the routes under `/org`, and the walls between two of them.

pub(crate) mod api_keys;
pub(crate) mod by_key;
pub(crate) mod by_key_alone;
pub(crate) mod by_process;
pub(crate) mod details;
pub(crate) mod invites;
pub(crate) mod isolation;
pub(crate) mod members;
pub(crate) mod suspension;
pub(crate) mod webhooks;
