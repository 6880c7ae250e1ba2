//! What can be full. Load alone explains such a refusal: metrics count it, and the log would only be filled by it.

use super::operation::Error;

/// The cause of an [`Error::Unavailable`] that is no fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Overload {
    #[error("too many requests are in flight")]
    InFlight,
    #[error("too many large answers wait for their clients")]
    LargeAnswers,
    #[error("too much work on passwords waits")]
    Passwords,
    #[error("too many new passwords wait to be estimated")]
    Estimates,
    #[error("too many attempts wait at a limit, or are not judged in time")]
    Attempts,
    #[error("too many URLs of webhooks are being looked up")]
    WebhookLookups,
    #[error("too many wait for events")]
    EventWaits,
    #[error("too many backends wait for changes")]
    ChangePolls,
    #[error("too many searches wait for their turn")]
    LongReads,
    #[error("too many writes in an organization wait for their turn")]
    Writes,
    #[error("too many URLs of webhooks of all organizations are being looked up")]
    WebhookLookupsOfAll,
    #[error("too many searches of all organizations wait for their turn")]
    LongReadsOfAll,
    #[error("too many writes of all organizations wait for their turn")]
    WritesOfAll,
}

impl Overload {
    pub(crate) const ALL: [Self; 13] = [
        Self::InFlight,
        Self::LargeAnswers,
        Self::Passwords,
        Self::Estimates,
        Self::Attempts,
        Self::WebhookLookups,
        Self::EventWaits,
        Self::ChangePolls,
        Self::LongReads,
        Self::Writes,
        Self::WebhookLookupsOfAll,
        Self::LongReadsOfAll,
        Self::WritesOfAll,
    ];

    /// Its name in metrics.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::InFlight => "in_flight",
            Self::LargeAnswers => "large_answers",
            Self::Passwords => "passwords",
            Self::Estimates => "estimates",
            Self::Attempts => "attempts",
            Self::WebhookLookups => "webhook_lookups",
            Self::EventWaits => "event_waits",
            Self::ChangePolls => "change_polls",
            Self::LongReads => "long_reads",
            Self::Writes => "writes",
            Self::WebhookLookupsOfAll => "webhook_lookups_all",
            Self::LongReadsOfAll => "long_reads_all",
            Self::WritesOfAll => "writes_all",
        }
    }
}

impl From<Overload> for Error {
    fn from(what: Overload) -> Self {
        Self::unavailable(what)
    }
}

impl Error {
    /// What was full, where load is the cause and no fault.
    #[cfg(feature = "http")]
    pub(crate) fn overload(&self) -> Option<Overload> {
        match self {
            Self::Unavailable(cause) => cause.downcast_ref().copied(),
            _ => None,
        }
    }
}
