//! What scenarios share. Nothing here is a scenario.

pub(crate) mod account;
pub(crate) mod authenticator;
pub(crate) mod busy_day;
pub(crate) mod chain;
pub(crate) mod hooks;
pub(crate) mod listener;
pub(crate) mod stored;
