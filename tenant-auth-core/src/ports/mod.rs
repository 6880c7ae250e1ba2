//! Ports: the interfaces to the outside world (time, randomness, password hashing, mail, name resolution and webhooks). Each port
//! is a trait with the implementation we ship and, behind the feature `testing`, a test double. They are `Arc<dyn …>` inside the
//! service, so that a host replaces one without a type parameter anywhere.

mod argon2_hasher;
mod clock;
mod entropy;
mod foreign_hash;
mod hasher;
mod hashing_memory;
#[cfg(feature = "webhooks")]
mod http_sender;
mod mailer;
mod resolver;
mod retry_after;
mod sender;
#[cfg(feature = "smtp")]
mod smtp;

pub use crate::bounded::QueueShare;
pub use argon2_hasher::{Argon2Hasher, Argon2Params};
#[cfg(feature = "testing")]
pub use clock::MockClock;
pub use clock::{Clock, SystemClock};
#[cfg(feature = "testing")]
pub use entropy::SeededEntropy;
pub use entropy::{Entropy, OsEntropy};
pub use foreign_hash::{ForeignCost, ForeignHash, HashScheme};
pub use hasher::{EvenVerdict, PasswordHasher, Verdict};
#[cfg(feature = "webhooks")]
pub use http_sender::{HttpSender, SenderSetupError};
#[cfg(feature = "testing")]
pub use mailer::RecordingMailer;
pub use mailer::{MailError, Mailer, Message};
#[cfg(any(test, feature = "testing"))]
pub use resolver::ScriptedResolver;
pub use resolver::{Resolver, SystemResolver};
pub use retry_after::RetryAfter;
#[cfg(feature = "testing")]
pub use sender::RecordingSender;
pub use sender::{SendError, Sender, WebhookRequest, WebhookResponse};
#[cfg(feature = "smtp")]
pub use smtp::{SmtpMailer, SmtpSetupError};
