//! The feed inside the process: events of one organization or of all, one by one, as they are committed by whichever process. A program
//! that embeds the service acts on them without a webhook: a member joined, so make a workspace.
//!
//! Each event comes at least once. The program stores the id of the last event that it has dealt with, by organization, where it
//! stores what it made of it, and begins there again. The number would do until a backup is restored: then other events take the numbers
//! of those that were lost.

use std::{
    collections::{HashMap, VecDeque},
    fmt,
    time::Duration,
};

use tokio::time::{Instant, sleep, timeout};

use super::{After, BATCH, Event, Read, held::Held, read, unreadable};
use crate::{
    caller::Tenant,
    error::Error,
    id::{EventId, OrgId},
    service::TenantAuth,
    store::{NewestEvent, Work},
};

/// How long is waited for one organization's events before the database is asked itself.
const PATIENCE: Duration = Duration::from_secs(10);
/// How often all organizations are looked at, unless this process has written events.
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// The share of the time that looks at all organizations may take: one part in so many.
const SPARING: u32 = 10;
/// How many organizations one statement looks at.
const AT_ONCE: u32 = 1_000;

/// Events as they happen. Made by [`TenantAuth::events`] and [`Tenant::events`].
pub struct Events {
    auth: TenantAuth,
    /// The only organization, where there is one.
    only: Option<OrgId>,
    /// How far each organization's events were read.
    read: HashMap<OrgId, Place>,
    waiting: VecDeque<Event>,
    /// Organizations that have more.
    behind: VecDeque<OrgId>,
    /// Organizations whose next event may not be told yet.
    held: Held,
    expired: Option<OrgId>,
}

/// How far an organization's events were read.
#[derive(Clone)]
struct Place {
    /// The last event that was read, by its id: after a fail-over that lost events others take their numbers, and whoever read on by
    /// number would pass over what came in their place (behaviour.md, B290).
    after: After,
    /// Its number; `None` before anything was read from here.
    number: Option<i64>,
}

impl Place {
    /// Whether the event with the place's number can be the one that was read; none has the number where retention removed it.
    fn may_be(&self, event: Option<&EventId>) -> bool {
        match (&self.after, event) {
            (After::Event(read), Some(event)) => read == event,
            (After::Event(_) | After::Sequence(_), _) => true,
        }
    }
}

impl TenantAuth {
    /// The events of all organizations, from the oldest that is kept of each: in order within an organization, in no order between
    /// them.
    pub fn events(&self) -> Events {
        Events::new(self, None)
    }
}

impl Tenant {
    /// The organization's events, from the oldest that is kept.
    pub fn events(&self) -> Events {
        Events::new(&self.auth, Some(self.org.id.clone()))
    }
}

impl Events {
    fn new(auth: &TenantAuth, only: Option<OrgId>) -> Self {
        let (read, waiting, behind) = (HashMap::new(), VecDeque::new(), VecDeque::new());
        Self { auth: auth.clone(), only, read, waiting, behind, held: Held::default(), expired: None }
    }

    /// Begins after an event that was dealt with, or is to be passed over: its organization, and its id or its number. An id that is not
    /// there any more is told as [`Error::EventsExpired`]; a number may be another event's since a backup was restored.
    #[must_use]
    pub fn after(mut self, org: &OrgId, place: impl Into<After>) -> Self {
        self.read.insert(org.clone(), Place { after: place.into(), number: None });
        self
    }

    /// The next event; waits for one. It is safe to stop waiting: no event is lost by it.
    ///
    /// # Errors
    /// [`Error::EventsExpired`] when events of an organization are gone that were not read ([`Events::expired`] names it): compare
    /// with the list of its members. The next call goes on with the oldest event that is kept. [`Error::UnknownOrganization`] when the
    /// only organization is gone, [`Error::Unavailable`] when the database is away; the next call tries again. [`Error::Internal`], which
    /// names organization and number in its [causes](Error::causes), when an event cannot be read: so does every further call, until
    /// [`Events::after`] passes it over.
    pub async fn next(&mut self) -> Result<Event, Error> {
        loop {
            if let Some(event) = self.waiting.pop_front() {
                return Ok(event);
            }
            match self.only.clone() {
                Some(org) => self.read_or_wait(&org).await?,
                None => match self.next_behind() {
                    Some(org) => {
                        let outcome = self.read_more(&org).await;
                        self.forget_if_done(&org, &outcome);
                        match outcome {
                            // It is gone, and its events with it.
                            Err(Error::UnknownOrganization) => {}
                            outcome => drop(outcome?),
                        }
                    }
                    None => self.look_at_all().await?,
                },
            }
        }
    }

    /// The organization whose events were gone when [`Error::EventsExpired`] was told last.
    pub fn expired(&self) -> Option<&OrgId> {
        self.expired.as_ref()
    }

    fn next_behind(&mut self) -> Option<OrgId> {
        while let Some(org) = self.held.try_released() {
            self.behind.push_back(org);
        }
        self.behind.front().cloned()
    }

    async fn read_or_wait(&mut self, org: &OrgId) -> Result<(), Error> {
        if self.held.has(org) {
            self.held.released().await;
        }
        let newest = self.read_more(org).await?;
        if self.waiting.is_empty() && !self.held.has(org) {
            let place = self.auth.event_waits().enter(org, None)?;
            place.beyond(newest, Instant::now() + PATIENCE).await;
        }
        Ok(())
    }

    /// Reads the next events of an organization; the number of its last one.
    async fn read_more(&mut self, org: &OrgId) -> Result<i64, Error> {
        let place = self.read.get(org).cloned();
        match read_on(&self.auth, org, place.as_ref()).await {
            Ok(page) => {
                let (mut last, mut id) = (page.before, None);
                for payload in &page.payloads {
                    match Event::parse(payload) {
                        Ok(event) => {
                            id = Some(event.id.clone());
                            self.waiting.push_back(event);
                        }
                        Err(_) if !self.waiting.is_empty() => break, // what comes before it is told first
                        Err(error) => return Err(unreadable(org, last + 1, &error)),
                    }
                    last += 1;
                }
                let after = id.map(After::Event).or(place.map(|place| place.after)).unwrap_or(After::Sequence(last));
                self.read.insert(org.clone(), Place { after, number: Some(last) });
                if page.must_wait() {
                    self.held.hold(&self.auth, org, page.newest);
                }
                Ok(page.newest)
            }
            Err(error) => {
                if matches!(error, Error::EventsExpired) {
                    self.read.remove(org);
                    self.expired = Some(org.clone());
                }
                Err(error)
            }
        }
    }

    fn forget_if_done(&mut self, org: &OrgId, outcome: &Result<i64, Error>) {
        let is_done = match outcome {
            Ok(newest) => {
                let last = self.read.get(org).and_then(|place| place.number);
                self.held.has(org) || last.is_some_and(|last| last >= *newest)
            }
            Err(Error::EventsExpired | Error::Unavailable(_)) => false,
            Err(_) => true,
        };
        if is_done {
            self.behind.pop_front();
        }
    }

    /// Finds out which organizations have events that were not read; waits where none has.
    async fn look_at_all(&mut self) -> Result<(), Error> {
        let (began, mut written, mut last) = (Instant::now(), self.auth.work_left(Work::Events), String::new());
        written.borrow_and_update();
        let mut behind = VecDeque::new();
        loop {
            let heads = self.auth.store().read().await?.event_feed().newest_of_all(&last, AT_ONCE).await?;
            let Some(newest) = heads.last() else { break };
            last = newest.org.as_str().to_owned();
            // Read beyond the newest, or another in its place: a fail-over or a restored backup lost events, which whoever reads on is told.
            let is_read = |newest: &NewestEvent| match self.read.get(&newest.org) {
                Some(place) => place.number == Some(newest.sequence) && place.may_be(newest.id.as_ref()),
                None => newest.sequence == 0,
            };
            let is_behind = |newest: &NewestEvent| !is_read(newest) && !self.held.has(&newest.org);
            behind.extend(heads.into_iter().filter(is_behind).map(|newest| newest.org));
        }
        if behind.is_empty() {
            let took = began.elapsed();
            let pause = async {
                sleep(took * SPARING).await;
                let _ = timeout(LOOK_EVERY, written.changed()).await; // a stopped service changes nothing any more
            };
            tokio::select! {
                () = pause => {}
                org = self.held.released() => behind.extend(org),
            }
        }
        self.behind = behind;
        Ok(())
    }
}

/// Reads the next events after a place. Where retention removed the last event that was read and none after it, nothing was missed, and its
/// number goes on.
async fn read_on(auth: &TenantAuth, org: &OrgId, place: Option<&Place>) -> Result<Read, Error> {
    let outcome = read(auth, org, place.map(|place| &place.after), BATCH).await;
    let Some(number) = place.and_then(|place| place.number).filter(|_| matches!(outcome, Err(Error::EventsExpired))) else {
        return outcome;
    };
    let reach = auth.store().read().await?.event_feed().reach(org).await?;
    if reach.is_none_or(|reach| reach.oldest - 1 != number) {
        return outcome;
    }
    read(auth, org, Some(&After::Sequence(number)), BATCH).await
}

impl fmt::Debug for Events {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Events").field("only", &self.only).finish_non_exhaustive()
    }
}
