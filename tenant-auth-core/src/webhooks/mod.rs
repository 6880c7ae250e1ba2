//! Webhooks: events of an organization sent to other services by HTTP. Each event is an outbox row, written in the transaction that
//! causes the event; a worker turns the event into deliveries, one for each webhook that selected the kind, signs them, and tries
//! until they succeed or the retry schedule ends. An organization's administrators choose the URLs, so every URL here is untrusted
//! (SSRF).
//!
//! Where to find what: SSRF protection in `target`, the retry schedule in `attempt`, the concurrency limits in `slots`, the lease
//! in `serve`, the outbox's fan-out in `fan_out`, what must be waited for before in `tellable`, the delivery loop in `dispatch`, the disabling of dead endpoints in `outcome`.

mod admissions;
mod attempt;
mod deliveries;
mod dispatch;
mod fan_out;
mod look;
mod outcome;
mod secrets;
mod serve;
mod signature;
mod slots;
mod subscription;
pub(crate) mod target;
mod tellable;

pub(crate) use admissions::Admissions;
pub(crate) use dispatch::Dispatcher;
pub(crate) use secrets::{open_secret, seal_secret};
pub use signature::{SignatureError, SignedHeaders, SigningSecret, verify_webhook};
pub use subscription::{CreatedWebhook, NewWebhook, WebhookUpdate};
pub(crate) use target::Targets;
