//! What a customer's backend asks with an API key: the routes under `/public`.

pub(crate) mod changes;
pub(crate) mod changes_of_all;
pub(crate) mod deployment_keys;
pub(crate) mod events;
pub(crate) mod feeding;
pub(crate) mod polling;
pub(crate) mod polling_of_all;
pub(crate) mod users_and_members;
pub(crate) mod verify;
