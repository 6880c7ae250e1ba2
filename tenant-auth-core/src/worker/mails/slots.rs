//! Concurrency limits of mails: 16 attempts per process, of which an organization and a recipient's domain have at most 4 each. So
//! neither a tenant with many mails nor a mail server that hangs holds up the others' mail. An attempt that a mail server lets wait for
//! long goes on without its slot, for the server may take ten minutes; how many do so at a time is limited, too, also of one organization
//! and one domain.

use std::{collections::HashMap, time::Duration};

use tokio::{task::Id as TaskId, time::Instant};

use crate::{id::OrgId, mail::HELD_FOR, store::PASSED_OVER};

/// The concurrency limit of this process.
pub(super) const SLOTS: usize = 16;
/// The limit of one organization, and of one recipient domain.
pub(super) const SLOTS_OF_ONE: usize = 4;
/// All the connections of a process to mail servers stay below it, those of sign-up and the farewells included: it is what Postfix lets a
/// client have (`smtpd_client_connection_count_limit`).
pub(crate) const CONNECTIONS: usize = 50;
/// How many attempts go on without a slot at a time.
const LINGERING: usize = 8;
/// How many of those are of one organization, and of one recipient domain.
const LINGERING_OF_ONE: usize = 4;
/// An attempt that takes longer counts no more where organizations are put in order: it may hang, whatever else its organization sends.
const LATELY: Duration = Duration::from_secs(2);

// The domains that have all their slots taken are passed over when due mails are looked for.
const _: () = assert!(SLOTS / SLOTS_OF_ONE <= PASSED_OVER);

/// What a slot is held for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Held {
    pub(super) org: OrgId,
    pub(super) domain: String,
    pub(super) since: Instant,
}

/// The attempts under way, by task.
#[derive(Debug, Default)]
pub(super) struct Slots {
    taken: HashMap<TaskId, Held>,
    /// Those that go on without a slot, and what for.
    lingering: HashMap<TaskId, Held>,
}

impl Slots {
    pub(super) fn take(&mut self, task: TaskId, held: Held) {
        self.taken.insert(task, held);
    }

    pub(super) fn free(&mut self, task: TaskId) {
        self.taken.remove(&task);
        self.lingering.remove(&task);
    }

    /// Frees the slots that were held for long, of as many attempts as may go on without one.
    pub(super) fn let_linger(&mut self) {
        let Self { taken, lingering } = self;
        taken.retain(|task, held| {
            let of_organization = lingering.values().filter(|other| other.org == held.org).count();
            let of_domain = lingering.values().filter(|other| other.domain == held.domain).count();
            let has_place = lingering.len() < LINGERING && of_organization.max(of_domain) < LINGERING_OF_ONE;
            let lingers = has_place && held.since.elapsed() >= HELD_FOR;
            if lingers {
                lingering.insert(*task, held.clone());
            }
            !lingers
        });
    }

    pub(super) fn are_none_free(&self) -> bool {
        self.taken.len() >= SLOTS
    }

    /// How many slots an organization has taken.
    pub(super) fn held_by(&self, org: &OrgId) -> usize {
        self.taken.values().filter(|held| held.org == *org).count()
    }

    /// How many slots an organization has taken within the last moments.
    pub(super) fn lately_held_by(&self, org: &OrgId) -> usize {
        self.taken.values().filter(|held| held.org == *org && held.since.elapsed() < LATELY).count()
    }

    /// How many more attempts the limits allow an organization.
    pub(super) fn of_organization(&self, org: &OrgId) -> usize {
        SLOTS_OF_ONE.saturating_sub(self.held_by(org)).min(SLOTS.saturating_sub(self.taken.len()))
    }

    /// How many more attempts the limits allow at a domain.
    pub(super) fn of_domain(&self, domain: &str) -> usize {
        SLOTS_OF_ONE.saturating_sub(self.taken.values().filter(|held| held.domain == domain).count())
    }

    /// The domains that have all their slots taken.
    pub(super) fn full_domains(&self) -> Vec<&str> {
        let mut full: Vec<&str> = self.taken.values().map(|held| held.domain.as_str()).collect();
        full.sort_unstable();
        full.dedup();
        full.retain(|domain| self.of_domain(domain) == 0);
        full
    }
}

#[cfg(all(test, feature = "sqlite"))]
mod tests {
    use super::*;
    use crate::{id::Id, ports::OsEntropy, time::Timestamp};

    fn organization() -> OrgId {
        Id::generate(Timestamp::from_millis(0), &OsEntropy)
    }

    /// Takes a slot for a task that has a number of its own.
    async fn take(slots: &mut Slots, org: &OrgId, domain: &str) -> TaskId {
        let task = tokio::spawn(async {}).id();
        slots.take(task, Held { org: org.clone(), domain: domain.to_owned(), since: Instant::now() });
        task
    }

    #[tokio::test]
    async fn neither_an_organization_nor_a_domain_takes_all_slots() {
        let (mut slots, busy, other) = (Slots::default(), organization(), organization());
        let mut last = None;
        for n in 0..SLOTS_OF_ONE {
            last = Some(take(&mut slots, &busy, &format!("{n}.example")).await);
        }
        assert_eq!((slots.of_organization(&busy), slots.of_organization(&other)), (0, SLOTS_OF_ONE));
        assert!(slots.full_domains().is_empty());
        slots.free(last.expect("one was taken"));
        assert_eq!(slots.of_organization(&busy), 1);
        for _ in 0..SLOTS_OF_ONE {
            take(&mut slots, &organization(), "hangs.example").await;
        }
        assert_eq!((slots.of_domain("hangs.example"), slots.of_domain("0.example")), (0, SLOTS_OF_ONE - 1));
        assert_eq!(slots.full_domains(), ["hangs.example"]);
    }

    #[tokio::test]
    async fn no_more_is_given_than_there_is() {
        let mut slots = Slots::default();
        for n in 0..SLOTS {
            assert!(!slots.are_none_free());
            take(&mut slots, &organization(), &format!("{n}.example")).await;
        }
        assert!(slots.are_none_free());
        assert_eq!(slots.of_organization(&organization()), 0);
    }

    #[tokio::test(start_paused = true)]
    async fn mails_that_hang_hold_their_slots_for_half_a_minute_unless_too_many_do() {
        let (mut slots, mut last) = (Slots::default(), None);
        for round in 0..LINGERING / LINGERING_OF_ONE {
            let org = organization();
            for n in 0..LINGERING_OF_ONE {
                last = Some(take(&mut slots, &org, &format!("{round}-{n}.example")).await);
            }
            tokio::time::advance(HELD_FOR - Duration::from_millis(1)).await;
            slots.let_linger();
            assert_eq!(slots.of_organization(&org), 0);
            tokio::time::advance(Duration::from_millis(1)).await;
            slots.let_linger();
            assert_eq!(slots.of_organization(&org), SLOTS_OF_ONE);
        }
        take(&mut slots, &organization(), "hangs.example").await;
        tokio::time::advance(HELD_FOR).await;
        slots.let_linger();
        assert_eq!(slots.of_domain("hangs.example"), SLOTS_OF_ONE - 1, "enough go on without one");
        slots.free(last.expect("they were taken"));
        slots.let_linger();
        assert_eq!(slots.of_domain("hangs.example"), SLOTS_OF_ONE);
    }

    #[tokio::test(start_paused = true)]
    async fn neither_an_organization_nor_a_domain_goes_on_without_slots_alone() {
        let (mut of_one, busy) = (Slots::default(), organization());
        let mut of_domain = Slots::default();
        for n in 0..=LINGERING_OF_ONE {
            take(&mut of_one, &busy, &format!("{n}.example")).await;
            take(&mut of_domain, &organization(), "hangs.example").await;
            tokio::time::advance(HELD_FOR).await;
            of_one.let_linger();
            of_domain.let_linger();
        }
        assert_eq!(of_one.of_organization(&busy), SLOTS_OF_ONE - 1);
        assert_eq!(of_domain.of_domain("hangs.example"), SLOTS_OF_ONE - 1);
    }
}
