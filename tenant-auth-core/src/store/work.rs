//! The work that a commit leaves to those who wait for it, by the loop that does it: a loop is woken for its own work and never for another's,
//! for each that wakes asks the database what there is.

use tokio::sync::watch;

/// Work of one loop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Work {
    /// Events to be turned into deliveries, and deliveries to be made.
    Deliveries,
    Mails,
    /// Requests for reset mails.
    ResetRequests,
    /// Requests for links to sign up with.
    SignUps,
    /// Events to be read by those who follow them.
    Events,
}

impl Work {
    const ALL: [Self; 5] = [Self::Deliveries, Self::Mails, Self::ResetRequests, Self::SignUps, Self::Events];
}

/// What one transaction leaves.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) struct LeftWork([bool; Work::ALL.len()]);

impl LeftWork {
    pub(super) fn add(&mut self, work: Work) {
        self.0[work as usize] = true;
    }

    pub(crate) fn has(self, work: Work) -> bool {
        self.0[work as usize]
    }
}

/// Tells the loops of this process what its commits have left.
#[derive(Debug, Default)]
pub(crate) struct Announcements([watch::Sender<()>; Work::ALL.len()]);

impl Announcements {
    pub(crate) fn announce(&self, left: LeftWork) {
        for work in Work::ALL.into_iter().filter(|work| left.has(*work)) {
            self.0[work as usize].send_replace(());
        }
    }

    /// Changes whenever a commit has left such work.
    pub(crate) fn of(&self, work: Work) -> watch::Receiver<()> {
        self.0[work as usize].subscribe()
    }
}
