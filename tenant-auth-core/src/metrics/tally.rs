//! Counters with one label, one counter for each outcome. All of them exist from the start, at zero: a rate over a series that
//! appears with its first failure misses that failure.

use std::marker::PhantomData;

use prometheus_client::{
    metrics::{counter::Counter, family::Family},
    registry::Registry,
};

use crate::error::Overload;

/// The values of a label: a closed list, so that the number of series is bounded.
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
    /// The outcome of a step of a login.
    LoginOutcome {
        /// A session was opened.
        Ok = "ok",
        /// The password was right; the second factor is asked for.
        SecondFactor = "second_factor",
        /// A wrong password, a wrong code, or an address without an account.
        Wrong = "wrong",
        /// Too many failures.
        Throttled = "throttled",
        /// The password was right, but the account may not enter this organization.
        Refused = "refused",
        /// Nothing was decided: the database is away, or too many wait.
        Unavailable = "unavailable",
    }
    /// The answer about an access token.
    VerifyOutcome {
        /// A token of an active member.
        Valid = "valid",
        /// A token of a suspended member.
        Suspended = "suspended",
        /// Not a live token.
        Invalid = "invalid",
    }
    /// The outcome of an attempt to send a mail.
    MailOutcome {
        /// The mail server took it.
        Sent = "sent",
        /// It is tried again.
        Retried = "retried",
        /// It was refused for good.
        Failed = "failed",
        /// It was given up for its age: its link had expired, or it had been tried for a day.
        Expired = "expired",
    }
    /// The outcome of an attempt to deliver an event.
    DeliveryOutcome {
        /// The endpoint took it.
        Succeeded = "succeeded",
        /// It is tried again.
        Retried = "retried",
        /// It was given up.
        Failed = "failed",
        /// SSRF protection forbids the target.
        Blocked = "blocked",
        /// The webhook was disabled or deleted.
        Cancelled = "cancelled",
    }
}

impl Label for Overload {
    const NAME: &'static str = "what";
    const ALL: &'static [Self] = &Overload::ALL;

    fn index(self) -> usize {
        self as usize
    }

    fn as_str(self) -> &'static str {
        self.name()
    }
}

/// Checks that every label stands where its index says.
#[cfg(test)]
pub(crate) fn assert_in_order<L: Label>() {
    for (place, label) in L::ALL.iter().enumerate() {
        assert_eq!(label.index(), place, "{}", label.as_str());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_stand_where_their_index_says() {
        assert_in_order::<LoginOutcome>();
        assert_in_order::<VerifyOutcome>();
        assert_in_order::<MailOutcome>();
        assert_in_order::<DeliveryOutcome>();
        assert_in_order::<Overload>();
    }
}
