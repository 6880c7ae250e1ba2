//! What changed of one organization's answers since a place in the log, as a backend that remembers is told: which sessions, which
//! users, or that anything may have changed.

use std::collections::BTreeSet;

use sha2::{Digest, Sha256};

use crate::{
    id::{ApiKeyId, OrgId},
    store::{MARKS_KEPT, Named, Place, Sight, Subject},
};

/// The most ids that are named; above, everything may have changed.
const MOST: usize = 1_000;

/// Who asks: a backend of an organization, with a key.
#[derive(Debug, Clone)]
pub(crate) struct Asker {
    pub(crate) org: OrgId,
    pub(crate) key: ApiKeyId,
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
        let digest: [u8; 32] = Sha256::digest(&sight.incarnation).into();
        let incarnation = digest.iter().take(8).fold(0, |number, byte| number << 8 | u64::from(*byte));
        Self { incarnation, mark: sight.mark, place: sight.place.clone() }
    }

    /// Whether a look that saw so far can tell all that changed since: the same database answered, and its log reaches back.
    pub(crate) fn is_continued_by(&self, now: &Self) -> bool {
        self.incarnation == now.incarnation && now.mark.saturating_sub(self.mark) <= MARKS_KEPT
    }
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
                Subject::ApiKey if !row.id.is_empty() && row.id != asker.key.as_str() => {}
                Subject::Session if !row.id.is_empty() => drop(news.sessions.insert(row.id.clone())),
                Subject::Member | Subject::User if !row.id.is_empty() => drop(news.users.insert(row.id.clone())),
                Subject::ApiKey
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

    fn named(subject: Subject, id: &str) -> Named {
        Named { subject, id: id.to_owned(), org_id: Some(OrgId::from_stored("org_1".to_owned())), number: 1 }
    }

    fn news(rows: &[Named]) -> News {
        let asker = Asker { org: OrgId::from_stored("org_1".to_owned()), key: ApiKeyId::from_stored("key_1".to_owned()) };
        News::of(rows.iter(), &asker)
    }

    #[test]
    fn sessions_and_users_are_named_and_whatever_else_changes_is_everything() {
        let told = news(&[named(Subject::Session, "ses_1"), named(Subject::Member, "usr_1"), named(Subject::Session, "ses_1")]);
        assert!(!told.everything);
        assert_eq!((told.sessions.len(), told.users.len()), (1, 1));
        assert!(news(&[named(Subject::ApiKey, "key_2")]).is_empty(), "another key");
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
