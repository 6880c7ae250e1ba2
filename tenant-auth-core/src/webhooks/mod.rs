//! Webhooks: events of an organization sent to other services by HTTP. Each event is an outbox row, written in the transaction that
//! causes the event; a worker turns the event into deliveries, one for each webhook that selected the kind, signs them, and tries
//! until they succeed or the retry schedule ends. An organization's administrators choose the URLs, so every URL here is untrusted
//! (SSRF).
//!
//! Where to find what: SSRF protection in `target`, the retry schedule in `attempt`, the concurrency limits in `slots`, the lease
//! in `serve`, the outbox's fan-out in `fan_out`, what must be waited for before in `tellable`, the delivery loop in `dispatch`, the
//! disabling of dead endpoints in `outcome`, what becomes of the deliveries of a webhook that was disabled or deleted in `ending`.

#[cfg(feature = "service")]
mod attempt;
#[cfg(feature = "service")]
mod deliveries;
#[cfg(feature = "service")]
mod dispatch;
#[cfg(feature = "service")]
mod ending;
#[cfg(feature = "service")]
mod fan_out;
#[cfg(feature = "service")]
mod look;
#[cfg(feature = "service")]
mod outcome;
#[cfg(feature = "service")]
mod secrets;
#[cfg(feature = "service")]
mod serve;
mod signature;
#[cfg(feature = "service")]
mod slots;
#[cfg(feature = "service")]
mod subscription;
#[cfg(feature = "service")]
pub(crate) mod target;
#[cfg(feature = "service")]
mod tellable;

#[cfg(feature = "service")]
pub(crate) use dispatch::Dispatcher;
#[cfg(feature = "service")]
pub(crate) use ending::finish_ended;
#[cfg(feature = "service")]
pub(crate) use secrets::{open_secret, seal_secret};
pub use signature::{SignatureError, SignedHeaders, SigningSecret, verify_webhook};
#[cfg(feature = "service")]
pub(crate) use slots::LANES;
#[cfg(feature = "service")]
pub use subscription::{CreatedWebhook, NewWebhook, WebhookUpdate};
#[cfg(feature = "service")]
pub(crate) use target::Targets;
