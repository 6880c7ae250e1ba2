//! What changed, for backends that remember: such a backend keeps the answers of verify in its own memory and asks, again and again,
//! which of them are no longer true. So it verifies without a round trip, and a right that ended is refused there as soon as it has
//! asked again.
//!
//! What must stay true: the answer is of a look that began after the question came; the cursor is good at every process of the
//! deployment, and for ten minutes at least; a backend learns of its own organization only, and the product's of all but the operators'
//! own; and the key is judged again at the end, for the question may have waited.

use std::{collections::BTreeSet, sync::Arc, time::Duration};

use tokio::time::Instant;

use super::cursor;
use crate::{
    caller::{Backend, DeploymentBackend},
    error::Error,
    id::{Id, KeyId, Kind},
    memory::{Asker, Bookmark, Known, News, OrgNews, Poll},
    model::{ChangedOrganization, Changes, DeploymentChanges, Status},
    scope::{Granted, Verify},
    service::TenantAuth,
    time::Timestamp,
};

/// The longest wait.
pub(crate) const LONGEST_WAIT: Duration = Duration::from_secs(1);

/// The answer to a question what changed.
struct Told {
    news: News,
    cursor: String,
    key_expires_at: Option<Timestamp>,
}

impl Backend<Verify> {
    /// Waits until something of the organization's answers is no longer true since the cursor, at most for `wait` (one second at the
    /// longest). Without a cursor: the one of now.
    ///
    /// # Errors
    /// [`Error::RateLimited`] when 16 questions of this key about the organization wait already, [`Error::InvalidApiKey`] when the key ended meanwhile,
    /// [`Error::Unavailable`].
    pub async fn changes(&self, after: Option<&str>, wait: Duration) -> Result<Changes, Error> {
        let asker = Asker { org: Some(self.org.id.clone()), key: self.key.clone() };
        let Told { news, cursor, key_expires_at } = self.auth.changed(asker, after, wait).await?;
        let OrgNews { everything, sessions, users } = news.into_news_of(&self.org.id);
        Ok(Changes { cursor, everything, sessions: ids(sessions), users: ids(users), key_expires_at })
    }
}

impl DeploymentBackend {
    /// The same of all organizations, the operators' own excepted: waits until something of any organization's answers is no longer
    /// true since the cursor.
    ///
    /// # Errors
    /// [`Error::RateLimited`] when 16 such questions of this key wait already, [`Error::InvalidApiKey`] when the key ended meanwhile,
    /// [`Error::Unavailable`].
    pub async fn changes(&self, after: Option<&str>, wait: Duration) -> Result<DeploymentChanges, Error> {
        let asker = Asker { org: None, key: KeyId::DeploymentKey(self.0.key.clone()) };
        let Told { news, cursor, key_expires_at } = self.0.auth.changed(asker, after, wait).await?;
        let orgs = news.by_org.into_iter().map(|(id, OrgNews { everything, sessions, users })| ChangedOrganization {
            id,
            everything,
            sessions: ids(sessions),
            users: ids(users),
        });
        Ok(DeploymentChanges { cursor, everything: news.everything, orgs: orgs.collect(), key_expires_at })
    }
}

fn ids<K: Kind>(texts: BTreeSet<String>) -> Vec<Id<K>> {
    texts.into_iter().map(Id::from_stored).collect()
}

impl TenantAuth {
    /// What changed for whoever asks since a cursor, and the cursor of now.
    async fn changed(&self, asker: Asker, after: Option<&str>, wait: Duration) -> Result<Told, Error> {
        let deadline = Instant::now() + wait.min(LONGEST_WAIT);
        let org = asker.org.clone();
        let poll = self.memory().poll(asker)?;
        let now = poll.look().await?;
        let (news, now) = match after.map(|text| cursor::from_text(self, org.as_ref(), text)) {
            None => (News::default(), now),
            Some(None) => (News::everything(), now),
            Some(Some(seen)) => match self.carried_on(seen, &now).await? {
                Some(seen) => self.news(&poll, seen, deadline).await?,
                None => (News::everything(), now),
            },
        };
        let key = poll.asker().key.clone();
        drop(poll);
        let key_expires_at = self.judged_again::<Verify>(&key).await?;
        Ok(Told { news, cursor: cursor::to_text(self, org.as_ref(), &now)?, key_expires_at })
    }

    /// The bookmark in the incarnation of now; `None` when the log went back meanwhile, as when a backup was restored.
    async fn carried_on(&self, seen: Bookmark, now: &Bookmark) -> Result<Option<Bookmark>, Error> {
        if seen.place.next > now.place.next {
            return Ok(None);
        }
        if seen.incarnation == now.incarnation {
            return Ok(Some(seen));
        }
        Ok(seen.carried_on(&self.store().past_incarnations().await?, now))
    }

    async fn news(&self, poll: &Poll, mut seen: Bookmark, deadline: Instant) -> Result<(News, Bookmark), Error> {
        loop {
            let (news, now) = match poll.since(&seen) {
                Known::Since(news, now) => (news, now),
                Known::Earlier => self.read_changes(poll, &seen).await?,
            };
            let news = self.for_asker(poll.asker(), news).await?;
            if !news.is_empty() || Instant::now() >= deadline {
                return Ok((news, now));
            }
            seen = now;
            let is_news = || !matches!(poll.since(&seen), Known::Since(news, _) if news.is_empty());
            poll.wait(deadline, is_news).await;
        }
    }

    /// Reads what changed out of the database.
    async fn read_changes(&self, poll: &Poll, seen: &Bookmark) -> Result<(News, Bookmark), Error> {
        let _turn = poll.turn().await?;
        let Asker { org, key } = poll.asker();
        let sight = self.store().read().await?.changes().since(&seen.place, org.as_ref()).await?;
        let now = Bookmark::of(&sight);
        let is_known = seen.is_continued_by(&now) && !sight.everything;
        Ok((if is_known { News::of(&sight.named, key) } else { News::everything() }, now))
    }

    /// The same without what is not for whoever asks: the operators' own organization is not the product's.
    async fn for_asker(&self, asker: &Asker, mut news: News) -> Result<News, Error> {
        let operators = self.config().organizations.operator_org.as_ref();
        let (None, Some(slug), false) = (&asker.org, operators, news.by_org.is_empty()) else { return Ok(news) };
        match self.tenant(slug).await {
            Ok(operators) => drop(news.by_org.remove(&operators.org.id)),
            Err(Error::UnknownOrganization) => {}
            Err(error) => return Err(error),
        }
        Ok(news)
    }

    /// Judges a key as it is now, and returns its end.
    pub(crate) async fn judged_again<S: Granted>(&self, key: &KeyId) -> Result<Option<Timestamp>, Error> {
        let known = self.memory().view().await?.and_then(|view| view.key(key));
        let key = match known {
            Some(key) => key,
            None => {
                let read = self.lookups().of_key(key, None, None, false).await?;
                Arc::new(read.ok_or(Error::InvalidApiKey)?.value.key)
            }
        };
        if key.expires_at.is_some_and(|end| self.now() >= end) {
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
