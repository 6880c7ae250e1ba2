//! Webhook deliveries: from an event to its receiver, with retries, several workers and defects.

pub(crate) mod again;
pub(crate) mod background;
pub(crate) mod changes;
pub(crate) mod defects;
pub(crate) mod endings;
pub(crate) mod health;
pub(crate) mod log;
pub(crate) mod retries;
pub(crate) mod socket;
pub(crate) mod workers;
