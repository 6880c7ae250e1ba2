//! What changed of one organization's answers since a place in the log, as a backend that remembers is told: which sessions, which
//! users, or that anything may have changed.

use std::collections::BTreeSet;

use sha2::{Digest, Sha256};

use crate::{
    id::{KeyId, OrgId},
    store::{MARKS_KEPT, Named, PastIncarnation, Place, Sight, Subject},
};

/// The most ids that are named; above, everything may have changed.
const MOST: usize = 1_000;

/// Who asks: a backend of an organization, with a key.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Asker {
    pub(crate) org: OrgId,
    pub(crate) key: KeyId,
}

/// How far somebody has seen the log of a database.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Bookmark {
    /// A digest of the database's incarnation.
    pub(crate) incarnation: u64,
    pub(crate) mark: i64,
    pub(crate) place: Place,
}

/// What changed.
#[derive(Debug, Default)]
pub(crate) struct News {
    pub(crate) everything: bool,
    pub(crate) sessions: BTreeSet<String>,
    pub(crate) users: BTreeSet<String>,
}

impl Bookmark {
    /// How far a look saw.
    pub(crate) fn of(sight: &Sight) -> Self {
        Self { incarnation: digest(&sight.incarnation), mark: sight.mark, place: sight.place.clone() }
    }

    /// Whether a look that saw so far can tell all that changed since: the same database answered, and its log reaches back.
    pub(crate) fn is_continued_by(&self, now: &Self) -> bool {
        self.incarnation == now.incarnation && now.mark.saturating_sub(self.mark) <= MARKS_KEPT
    }

    /// The same place in a later incarnation, if this one ended beyond it.
    pub(crate) fn carried_on(self, past: &[PastIncarnation], now: &Self) -> Option<Self> {
        let is_of_its_life = |past: &PastIncarnation| digest(&past.token) == self.incarnation && self.place.next <= past.end;
        let is_known = self.incarnation == now.incarnation || past.iter().any(is_of_its_life);
        is_known.then_some(Self { incarnation: now.incarnation, ..self })
    }
}

fn digest(incarnation: &str) -> u64 {
    let digest: [u8; 32] = Sha256::digest(incarnation).into();
    digest.iter().take(8).fold(0, |number, byte| number << 8 | u64::from(*byte))
}

impl News {
    /// Anything may have changed.
    pub(crate) fn everything() -> Self {
        Self { everything: true, ..Self::default() }
    }

    /// What these rows say to whoever asks.
    pub(crate) fn of<'a>(rows: impl Iterator<Item = &'a Named>, asker: &Asker) -> Self {
        let mut news = Self::default();
        for row in rows.filter(|row| !Self::concerns_nobody(row)) {
            match row.subject {
                Subject::ApiKey | Subject::DeploymentKey if !row.id.is_empty() && row.id != asker.key.as_str() => {}
                Subject::Session if !row.id.is_empty() => drop(news.sessions.insert(row.id.clone())),
                Subject::Member | Subject::User if !row.id.is_empty() => drop(news.users.insert(row.id.clone())),
                Subject::ApiKey
                | Subject::DeploymentKey
                | Subject::Session
                | Subject::Member
                | Subject::User
                | Subject::Organization
                | Subject::SigningKeys => return Self::everything(),
            }
            if news.sessions.len() + news.users.len() > MOST {
                return Self::everything();
            }
        }
        news
    }

    /// An account's own row: each organization of the user has a row beside it, and the others learn nothing.
    pub(crate) fn concerns_nobody(row: &Named) -> bool {
        row.subject == Subject::User && row.org_id.is_none()
    }

    /// Whether there is nothing to tell.
    pub(crate) fn is_empty(&self) -> bool {
        !self.everything && self.sessions.is_empty() && self.users.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::id::Id;

    fn named(subject: Subject, id: &str) -> Named {
        Named { subject, id: id.to_owned(), org_id: Some(OrgId::from_stored("org_1".to_owned())), number: 1 }
    }

    fn news(rows: &[Named]) -> News {
        let asker = Asker { org: OrgId::from_stored("org_1".to_owned()), key: KeyId::ApiKey(Id::from_stored("key_1".to_owned())) };
        News::of(rows.iter(), &asker)
    }

    #[test]
    fn sessions_and_users_are_named_and_whatever_else_changes_is_everything() {
        let told = news(&[named(Subject::Session, "ses_1"), named(Subject::Member, "usr_1"), named(Subject::Session, "ses_1")]);
        assert!(!told.everything);
        assert_eq!((told.sessions.len(), told.users.len()), (1, 1));
        assert!(news(&[named(Subject::ApiKey, "key_2")]).is_empty(), "another key");
        assert!(
            news(&[Named { org_id: None, ..named(Subject::DeploymentKey, "dpk_1") }]).is_empty(),
            "the deployment's, and not the asker's"
        );
        assert!(news(&[Named { org_id: None, ..named(Subject::User, "usr_9") }]).is_empty(), "perhaps of another organization");
        for row in [
            named(Subject::ApiKey, "key_1"),
            named(Subject::ApiKey, ""),
            named(Subject::Session, ""),
            named(Subject::Member, ""),
            named(Subject::Organization, "org_1"),
            Named { org_id: None, ..named(Subject::SigningKeys, "") },
        ] {
            assert!(news(&[row]).everything);
        }
    }

    #[test]
    fn more_than_a_thousand_are_everything() {
        let rows: Vec<Named> = (0..=MOST).map(|number| named(Subject::Session, &format!("ses_{number}"))).collect();
        assert_eq!(news(&rows[..MOST]).sessions.len(), MOST);
        let told = news(&rows);
        assert!(told.everything && told.sessions.is_empty());
    }
}
