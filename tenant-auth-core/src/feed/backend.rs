//! The feed for a customer's backend, with an API key: a page of events, at once or as soon as there are any (long polling).

use std::time::Duration;

use tokio::time::Instant;

use super::{After, Read, read, until_told};
use crate::{caller::Backend, error::Error, scope::EventsRead};

/// The longest wait.
pub(crate) const LONGEST_WAIT: Duration = Duration::from_secs(1);

/// Which events a backend asks for.
#[derive(Debug, Clone)]
pub struct EventQuery {
    /// From where; `None`: from the oldest that is kept.
    pub after: Option<After>,
    /// How many at most, 1 to 1,000.
    pub limit: u32,
    /// How long to wait where there are none, one second at the longest.
    pub wait: Duration,
}

/// Events in their order.
#[derive(Debug)]
#[non_exhaustive]
pub struct EventPage {
    /// The payloads, as webhooks get them.
    pub payloads: Vec<String>,
    /// From where to ask next: the number of the last event here, or the one that was asked after.
    pub last_sequence: i64,
    /// The number of the organization's last event.
    pub newest: i64,
}

impl Backend<EventsRead> {
    /// The organization's events after a place. Waits for one where there is none, and until those that are there may be told.
    ///
    /// # Errors
    /// [`Error::EventsExpired`] when some are gone; [`Error::RateLimited`] when 16 questions of this key wait already;
    /// [`Error::InvalidApiKey`] or [`Error::Suspended`] when the right ended meanwhile.
    pub async fn events(&self, query: &EventQuery) -> Result<EventPage, Error> {
        let deadline = Instant::now() + query.wait.min(LONGEST_WAIT);
        let limit = query.limit.clamp(1, super::MOST);
        let place = self.auth.event_waits().enter(&self.org.id, Some(&self.key))?;
        let (mut after, mut has_waited) = (query.after.clone(), false);
        let mut page = read(&self.auth, &self.org.id, after.as_ref(), limit).await?;
        loop {
            // Once for all that was there: whoever reads after a change finds it in the page.
            if page.must_wait() || (page.is_held && !has_waited) {
                until_told(&self.auth, &self.org.id, page.newest).await;
                has_waited = true;
            } else if page.payloads.is_empty() && Instant::now() < deadline {
                place.beyond(page.newest, deadline).await;
                // An id stays one: other events may take the numbers of those that a fail-over lost meanwhile.
                after = after.or(Some(After::Sequence(page.last)));
            } else {
                break;
            }
            page = read(&self.auth, &self.org.id, after.as_ref(), limit).await?;
        }
        drop(place);
        self.auth.judged_again::<EventsRead>(&self.key).await?;
        let Read { payloads, last, newest, .. } = page;
        Ok(EventPage { payloads, last_sequence: last, newest })
    }
}
