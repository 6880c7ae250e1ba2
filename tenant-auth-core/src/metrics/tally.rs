//! Counters of one thing, one for each way it can come out. All of them are there from the start, at zero: a rate over a series
//! that appears with its first failure misses that failure.

use std::marker::PhantomData;

use prometheus_client::{
    metrics::{counter::Counter, family::Family},
    registry::Registry,
};

use crate::{account::Login, backend::Verification, error::Error, event::EventKind, model::Status, store::Swept};

/// The values of a label: a list that does not grow.
pub(crate) trait Label: Copy + 'static {
    /// The label's name.
    const NAME: &'static str;
    /// Every value there is, each at its own index.
    const ALL: &'static [Self];

    /// Its place in [`Self::ALL`].
    fn index(self) -> usize;

    /// The value.
    fn as_str(self) -> &'static str;
}

/// The counters, by the index of their label.
#[derive(Debug)]
pub(super) struct Tally<L> {
    counters: Vec<Counter>,
    label: PhantomData<fn(L)>,
}

impl<L: Label> Tally<L> {
    pub(super) fn registered(registry: &mut Registry, name: &'static str, help: &'static str) -> Self {
        let family = Family::<[(&'static str, &'static str); 1], Counter>::default();
        let counters = L::ALL.iter().map(|label| family.get_or_create_owned(&[(L::NAME, label.as_str())])).collect();
        registry.register(name, help, family);
        Self { counters, label: PhantomData }
    }

    pub(super) fn add(&self, label: L, count: u64) {
        if let Some(counter) = self.counters.get(label.index()) {
            counter.inc_by(count);
        }
    }
}

macro_rules! outcomes {
    ($($(#[$doc:meta])* $name:ident { $($(#[$vdoc:meta])* $variant:ident = $text:literal,)* })*) => { $(
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub(crate) enum $name { $($(#[$vdoc])* $variant,)* }

        impl Label for $name {
            const NAME: &'static str = "outcome";
            const ALL: &'static [Self] = &[$(Self::$variant),*];

            fn index(self) -> usize {
                self as usize
            }

            fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $text,)* }
            }
        }
    )* };
}

outcomes! {
    /// What came of a step of a login.
    LoginOutcome {
        /// The person is in.
        Ok = "ok",
        /// The password was right; the second factor is asked for.
        SecondFactor = "second_factor",
        /// A wrong password or code, or nobody's address.
        Wrong = "wrong",
        /// Too many failures.
        Throttled = "throttled",
        /// The right password of somebody who may not enter here.
        Refused = "refused",
        /// Nothing was decided: the database is away, or too many wait.
        Unavailable = "unavailable",
    }
    /// What was said of an access token.
    VerifyOutcome {
        /// An active member's.
        Valid = "valid",
        /// A suspended member's.
        Suspended = "suspended",
        /// Nobody's.
        Invalid = "invalid",
    }
    /// What came of an attempt to send a mail.
    MailOutcome {
        /// The mail server took it.
        Sent = "sent",
        /// It is tried again.
        Retried = "retried",
        /// It was given up.
        Failed = "failed",
    }
    /// What came of an attempt to deliver an event.
    DeliveryOutcome {
        /// The endpoint took it.
        Succeeded = "succeeded",
        /// It is tried again.
        Retried = "retried",
        /// It was given up.
        Failed = "failed",
        /// The target is one that must not be reached.
        Blocked = "blocked",
        /// The webhook was disabled or deleted.
        Cancelled = "cancelled",
    }
}

impl LoginOutcome {
    /// What came of the first step.
    pub(crate) fn of_password(login: &Result<Login, Error>) -> Self {
        match login {
            Ok(Login::Session(_)) => Self::Ok,
            Ok(Login::SecondFactor(_)) => Self::SecondFactor,
            Err(error) => Self::of_refusal(error),
        }
    }

    /// What came of the second.
    pub(crate) fn of_code<T>(opened: &Result<T, Error>) -> Self {
        opened.as_ref().map_or_else(Self::of_refusal, |_| Self::Ok)
    }

    fn of_refusal(error: &Error) -> Self {
        match error {
            Error::InvalidCredentials | Error::SecondFactorFailed => Self::Wrong,
            Error::RateLimited { .. } => Self::Throttled,
            Error::Unavailable | Error::Internal(_) => Self::Unavailable,
            _ => Self::Refused,
        }
    }
}

impl VerifyOutcome {
    pub(crate) fn of(answer: &Verification) -> Self {
        match answer {
            Verification::Valid(identity) if identity.membership.status == Status::Suspended => Self::Suspended,
            Verification::Valid(_) => Self::Valid,
            Verification::Invalid => Self::Invalid,
        }
    }
}

impl Label for EventKind {
    const NAME: &'static str = "kind";
    const ALL: &'static [Self] = EventKind::ALL;

    fn index(self) -> usize {
        self as usize
    }

    fn as_str(self) -> &'static str {
        EventKind::as_str(self)
    }
}

impl Label for Swept {
    const NAME: &'static str = "kind";
    const ALL: &'static [Self] = &Swept::ALL;

    fn index(self) -> usize {
        self as usize
    }

    fn as_str(self) -> &'static str {
        match self {
            Self::Sessions => "sessions",
            Self::Generations => "generations",
            Self::Invites => "invites",
            Self::ApiKeys => "api_keys",
            Self::PendingLogins => "pending_logins",
            Self::Links => "links",
            Self::Throttles => "throttles",
            Self::KnownAddresses => "known_addresses",
            Self::SigningKeys => "signing_keys",
            Self::WebhookSecrets => "webhook_secrets",
            Self::Deliveries => "deliveries",
            Self::Events => "events",
            Self::Mails => "mails",
            Self::Changes => "changes",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn every_index_is_its_place<L: Label>() {
        for (place, label) in L::ALL.iter().enumerate() {
            assert_eq!(label.index(), place, "{}", label.as_str());
        }
    }

    #[test]
    fn labels_stand_where_their_index_says() {
        every_index_is_its_place::<LoginOutcome>();
        every_index_is_its_place::<VerifyOutcome>();
        every_index_is_its_place::<MailOutcome>();
        every_index_is_its_place::<DeliveryOutcome>();
        every_index_is_its_place::<EventKind>();
        every_index_is_its_place::<Swept>();
    }
}
