//! Ports: the interfaces to the outside world (time, randomness, password hashing, mail, name resolution and webhooks). Each port
//! is a trait with the implementation we ship and, behind the feature `testing`, a test double. They are `Arc<dyn …>` inside the
//! service, so that a host replaces one without a type parameter anywhere.

#[cfg(feature = "service")]
mod argon2_hasher;
mod clock;
mod entropy;
#[cfg(feature = "service")]
mod foreign_hash;
#[cfg(feature = "service")]
mod hasher;
#[cfg(feature = "service")]
mod hashing_memory;
#[cfg(feature = "webhooks")]
mod http_sender;
#[cfg(feature = "service")]
mod mailer;
#[cfg(feature = "service")]
mod resolver;
#[cfg(feature = "service")]
mod retry_after;
#[cfg(feature = "service")]
mod sender;
#[cfg(feature = "smtp")]
mod smtp;

#[cfg(feature = "service")]
pub use crate::bounded::{QueueShare, client_network};
#[cfg(feature = "service")]
pub use argon2_hasher::{Argon2Hasher, Argon2Params};
#[cfg(feature = "testing")]
pub use clock::MockClock;
pub(crate) use clock::steady;
pub use clock::{Clock, SystemClock};
#[cfg(feature = "testing")]
pub use entropy::SeededEntropy;
pub use entropy::{Entropy, OsEntropy};
#[cfg(feature = "service")]
pub use foreign_hash::{ForeignCost, ForeignHash, HashScheme};
#[cfg(feature = "service")]
pub use hasher::{EvenVerdict, PasswordHasher, Verdict};
#[cfg(feature = "webhooks")]
pub use http_sender::{HttpSender, SenderSetupError};
#[cfg(all(feature = "testing", feature = "service"))]
pub use mailer::RecordingMailer;
#[cfg(feature = "service")]
pub use mailer::{MailError, Mailer, Message};
#[cfg(all(any(test, feature = "testing"), feature = "service"))]
pub use resolver::ScriptedResolver;
#[cfg(feature = "service")]
pub use resolver::{Resolver, SystemResolver};
#[cfg(feature = "service")]
pub use retry_after::RetryAfter;
#[cfg(all(feature = "testing", feature = "service"))]
pub use sender::RecordingSender;
#[cfg(feature = "service")]
pub use sender::{SendError, Sender, WebhookRequest, WebhookResponse};
#[cfg(feature = "smtp")]
pub use smtp::{SmtpMailer, SmtpSetupError};
