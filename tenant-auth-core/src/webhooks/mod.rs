//! Telling other services what has happened. Their administrators choose where to, which makes every URL here a stranger's.

pub(crate) mod target;

pub use target::WebhookUrl;
