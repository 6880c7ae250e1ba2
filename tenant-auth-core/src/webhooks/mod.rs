//! Telling other services what has happened. Events are rows of the transactions that cause them; the worker turns them into
//! deliveries, one for each webhook that selected the kind, signs them, and tries until they are taken or given up. An
//! organization's administrators choose where to, which makes every URL here a stranger's.

mod attempt;
mod claim;
mod deliveries;
mod dispatch;
mod fan_out;
mod outcome;
mod places;
mod secrets;
mod signature;
mod subscription;
pub(crate) mod target;

pub(crate) use dispatch::Dispatcher;
pub use signature::{SignatureError, SignedHeaders, SigningSecret, verify_webhook};
pub use subscription::{CreatedWebhook, NewWebhook, WebhookUpdate};
pub(crate) use target::Targets;
