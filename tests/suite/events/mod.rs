//! Events: which operation tells what, and to which organizations.

pub(crate) mod catalogue;
pub(crate) mod operations;
pub(crate) mod sessions;
pub(crate) mod users;
