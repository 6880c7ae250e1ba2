//! The audit log: the chain of an organization's events, how long it is kept, and what admins read of it.

pub(crate) mod blocked;
pub(crate) mod chain;
pub(crate) mod checkpoints;
pub(crate) mod deployment;
pub(crate) mod erasing;
pub(crate) mod export;
pub(crate) mod log;
pub(crate) mod plans;
pub(crate) mod retention;
