//! Invites: making, accepting, withdrawing, and the mails that carry them.

pub(crate) mod accept;
pub(crate) mod bulk;
pub(crate) mod create;
pub(crate) mod limit;
pub(crate) mod links;
pub(crate) mod mail;
