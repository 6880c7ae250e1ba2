//! The event feed: an organization's events in their order, page by page, for whoever keeps a copy of what they tell. Numbers have no
//! gaps: the organization's sequence is locked from the writing of an event to its commit, so that whoever sees an event sees all
//! before it, also while a transaction is slow.
//!
//! What must stay true: an event that is gone is never passed over in silence; the reader is told to begin anew. And none tells of an ended
//! right that some process still honours.

mod backend;
mod event;
mod held;
mod stream;
#[cfg(all(test, feature = "testing", feature = "sqlite"))]
mod tests;
pub(crate) mod told;
pub(crate) mod waits;

pub use backend::{EventPage, EventQuery};
pub use event::{Event, EventActor};
pub use stream::Events;

use crate::{
    error::Error,
    id::{EventId, OrgId},
    page::{AROUND_ENTRY, MOST_BYTES},
    service::TenantAuth,
    store::Reader,
};

/// How many events a page has at most.
pub(crate) const MOST: u32 = 1_000;
/// How many events one statement reads, so that memory stays bounded however large they are.
const BATCH: u32 = 64;

/// From where to read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum After {
    /// After the event with this number; 0: from the organization's first.
    Sequence(i64),
    /// After this event. Unlike a number, an id is never another event's, also after a restored backup or a move.
    Event(EventId),
}

impl From<i64> for After {
    fn from(sequence: i64) -> Self {
        Self::Sequence(sequence)
    }
}

impl From<EventId> for After {
    fn from(id: EventId) -> Self {
        Self::Event(id)
    }
}

/// A page as it is read.
pub(crate) struct Read {
    /// The payloads of events, as webhooks get them.
    pub(crate) payloads: Vec<String>,
    /// The number after which the page begins.
    before: i64,
    /// The number of the last event in the page; without any, the number that was asked after.
    pub(crate) last: i64,
    /// The number of the organization's last event.
    pub(crate) newest: i64,
    /// Whether the page ended before an event that is to be waited for.
    is_held: bool,
}

impl Read {
    /// Whether there is nothing to tell before a wait.
    fn must_wait(&self) -> bool {
        self.is_held && self.payloads.is_empty()
    }
}

/// Reads up to `most` events after a place, as far as they may be told now; without a place, from the oldest that is kept.
///
/// # Errors
/// [`Error::EventsExpired`] when events after the place are gone, or the place is none that there was.
async fn read(auth: &TenantAuth, org: &OrgId, after: Option<&After>, most: u32) -> Result<Read, Error> {
    let mut reader = auth.store().read().await?;
    let reach = reader.event_feed().reach(org).await?.ok_or(Error::UnknownOrganization)?;
    let is_stated = after.is_some();
    let after = match after {
        None => reach.oldest - 1,
        Some(After::Sequence(sequence)) => *sequence,
        Some(After::Event(id)) => reader.event_feed().sequence_of(org, id).await?.ok_or(Error::EventsExpired)?,
    };
    // An import may have made others of the people that the source told of: no reader from there goes on in silence.
    if !(reach.oldest - 1..=reach.newest).contains(&after) || (is_stated && after < reach.imported) {
        return Err(Error::EventsExpired);
    }
    let told = auth.told().up_to(org, reach.newest);
    let mut read = Read { payloads: Vec::new(), before: after, last: after, newest: reach.newest, is_held: false };
    fill(&mut reader, org, Bounds { most: most as usize, told }, &mut read).await?;
    // A sweep may have come between the statements.
    if read.payloads.is_empty() && read.newest > after && !read.is_held {
        return Err(Error::EventsExpired);
    }
    read.newest = read.newest.max(read.last);
    Ok(read)
}

/// Why an event cannot be read, with its place: only whoever knows that can go on after it.
fn unreadable(org: &OrgId, sequence: i64, error: &Error) -> Error {
    Error::internal(format!("event {sequence} of {org} cannot be read: {}", error.causes()))
}

/// Waits until all events of an organization that are there may be told. Waiting holds nothing.
async fn until_told(auth: &TenantAuth, org: &OrgId, newest: i64) {
    auth.memory().acknowledge(true).await;
    auth.told().waited(org, newest);
}

/// What a page may hold.
struct Bounds {
    most: usize,
    /// Up to where events may be told, also such as tell of less.
    told: i64,
}

async fn fill(reader: &mut Reader, org: &OrgId, bounds: Bounds, read: &mut Read) -> Result<(), Error> {
    let Bounds { most, told } = bounds;
    let mut bytes = 0;
    loop {
        let wanted = u32::try_from(most - read.payloads.len()).map_or(BATCH, |rest| rest.min(BATCH));
        let batch = reader.event_feed().after(org, read.last, wanted).await?;
        let is_last = batch.len() < wanted as usize;
        for event in batch {
            if event.sequence != read.last + 1 {
                return Ok(());
            }
            if event.sequence > told && told::tells_of_less(&event.kind) {
                // It may have been written after the reach was read.
                read.newest = read.newest.max(event.sequence);
                read.is_held = true;
                return Ok(());
            }
            let payload = match event.payload() {
                Ok(payload) => payload,
                Err(_) if !read.payloads.is_empty() => return Ok(()), // what comes before it is told first
                Err(error) => return Err(unreadable(org, event.sequence, &error)),
            };
            bytes += payload.len() + AROUND_ENTRY;
            if bytes > MOST_BYTES && !read.payloads.is_empty() {
                return Ok(());
            }
            read.last = event.sequence;
            read.payloads.push(payload);
        }
        if is_last || read.payloads.len() >= most {
            return Ok(());
        }
    }
}
