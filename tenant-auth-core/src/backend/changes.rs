//! What changed, for backends that remember: such a backend keeps the answers of verify in its own memory and asks, again and again,
//! which of them are no longer true. So it verifies without a round trip, and a right that ended is refused there as soon as it has
//! asked again.
//!
//! What must stay true: the answer is of a look that began after the question came; the cursor is good at every process of the
//! deployment, and for ten minutes at least; a backend learns of its own organization only; and the key is judged again at the end,
//! for the question may have waited.

use std::{sync::Arc, time::Duration};

use tokio::time::Instant;

use super::cursor;
use crate::{
    caller::Backend,
    error::Error,
    id::Id,
    memory::{Asker, Bookmark, Known, News, Poll},
    model::{Changes, Status},
    scope::{Granted, Verify},
    time::Timestamp,
};

/// The longest wait.
pub(crate) const LONGEST_WAIT: Duration = Duration::from_secs(1);

impl Backend<Verify> {
    /// Waits until something of the organization's answers is no longer true since the cursor, at most for `wait` (one second at the
    /// longest). Without a cursor: the one of now.
    ///
    /// # Errors
    /// [`Error::RateLimited`] when 16 questions of this key about the organization wait already, [`Error::InvalidApiKey`] when the key ended meanwhile,
    /// [`Error::Unavailable`].
    pub async fn changes(&self, after: Option<&str>, wait: Duration) -> Result<Changes, Error> {
        let deadline = Instant::now() + wait.min(LONGEST_WAIT);
        let poll = self.auth.memory().poll(Asker { org: self.org.id.clone(), key: self.key.clone() })?;
        let now = poll.look().await?;
        let (news, now) = match after.map(|text| cursor::from_text(&self.auth, &self.org.id, text)) {
            None => (News::default(), now),
            Some(None) => (News::everything(), now),
            Some(Some(seen)) => match self.carried_on(seen, &now).await? {
                Some(seen) => self.news(&poll, seen, deadline).await?,
                None => (News::everything(), now),
            },
        };
        drop(poll);
        let key_expires_at = self.judged_again().await?;
        Ok(Changes {
            cursor: cursor::to_text(&self.auth, &self.org.id, &now)?,
            everything: news.everything,
            sessions: news.sessions.into_iter().map(Id::from_stored).collect(),
            users: news.users.into_iter().map(Id::from_stored).collect(),
            key_expires_at,
        })
    }

    /// The bookmark in the incarnation of now; `None` when the log went back meanwhile, as when a backup was restored.
    async fn carried_on(&self, seen: Bookmark, now: &Bookmark) -> Result<Option<Bookmark>, Error> {
        if seen.place.next > now.place.next {
            return Ok(None);
        }
        if seen.incarnation == now.incarnation {
            return Ok(Some(seen));
        }
        Ok(seen.carried_on(&self.auth.store().past_incarnations().await?, now))
    }

    async fn news(&self, poll: &Poll, mut seen: Bookmark, deadline: Instant) -> Result<(News, Bookmark), Error> {
        loop {
            let (news, now) = match poll.since(&seen) {
                Known::Since(news, now) => (news, now),
                Known::Earlier => self.read(poll, &seen).await?,
            };
            if !news.is_empty() || Instant::now() >= deadline {
                return Ok((news, now));
            }
            seen = now;
            let is_news = || !matches!(poll.since(&seen), Known::Since(news, _) if news.is_empty());
            poll.wait(deadline, is_news).await;
        }
    }

    /// Reads what changed out of the database.
    async fn read(&self, poll: &Poll, seen: &Bookmark) -> Result<(News, Bookmark), Error> {
        let _turn = poll.turn().await?;
        let sight = self.auth.store().read().await?.changes().since(&seen.place, &self.org.id).await?;
        let now = Bookmark::of(&sight);
        let is_known = seen.is_continued_by(&now) && !sight.everything;
        Ok((if is_known { News::of(sight.named.iter(), poll.asker()) } else { News::everything() }, now))
    }
}

impl<S: Granted> Backend<S> {
    /// Judges the key as it is now, and returns its end.
    pub(crate) async fn judged_again(&self) -> Result<Option<Timestamp>, Error> {
        let known = self.auth.memory().view().await?.and_then(|view| view.key(&self.key));
        let key = match known {
            Some(key) => key,
            None => {
                let read = self.auth.lookups().of_key(&self.key, None, None, false).await?;
                Arc::new(read.ok_or(Error::InvalidApiKey)?.value.key)
            }
        };
        if key.expires_at.is_some_and(|end| self.auth.now() >= end) {
            return Err(Error::InvalidApiKey);
        }
        if !key.scopes.contains(&S::SCOPE) {
            return Err(Error::MissingScope(S::SCOPE.as_str()));
        }
        let is_closed = key.home().is_some_and(|org| org.status == Status::Suspended);
        if is_closed && !S::WHILE_SUSPENDED {
            return Err(Error::Suspended);
        }
        Ok(key.expires_at)
    }
}
