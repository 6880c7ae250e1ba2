//! What changed of organizations' answers since a place in the log, as a backend that remembers is told: which sessions and which users
//! of each organization, or that anything may have changed.

use std::collections::{BTreeMap, BTreeSet};

use sha2::{Digest, Sha256};

use crate::{
    id::{KeyId, OrgId},
    store::{MARKS_KEPT, Named, PastIncarnation, Place, Sight, Subject},
};

/// The most ids of an organization that are named; above, everything of it may have changed.
const MOST: usize = 1_000;
/// The most that is named at once, ids and organizations together; above, everything may have changed.
const MOST_OF_ALL: usize = 10_000;

/// Who asks: a backend with a key, about an organization or, with a deployment key, about all.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Asker {
    /// `None`: about all.
    pub(crate) org: Option<OrgId>,
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
    /// Whether anything may have changed, of whichever organization.
    pub(crate) everything: bool,
    /// Of which organizations something did. Empty when everything may have.
    pub(crate) by_org: BTreeMap<OrgId, OrgNews>,
}

/// What changed of one organization.
#[derive(Debug, Default)]
pub(crate) struct OrgNews {
    /// Whether anything of it may have; then nothing is named.
    pub(crate) everything: bool,
    pub(crate) sessions: BTreeSet<String>,
    pub(crate) users: BTreeSet<String>,
}

/// What a row of the log says.
enum Said<'a> {
    Nothing,
    Session(&'a str),
    User(&'a str),
    Everything,
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

    /// What these rows say to whoever asks with this key.
    pub(crate) fn of<'a>(rows: impl IntoIterator<Item = &'a Named>, key: &KeyId) -> Self {
        let mut news = Self::default();
        for row in rows {
            match (said(row, key), &row.org_id) {
                (Said::Nothing, _) => {}
                (_, None) => return Self::everything(),
                (said, Some(org)) => news.by_org.entry(org.clone()).or_default().take_in(&said),
            }
        }
        let count = news.by_org.values().map(|of_one| 1 + of_one.named()).sum::<usize>();
        if count > MOST_OF_ALL { Self::everything() } else { news }
    }

    /// An account's own row: each organization of the user has a row beside it, and the others learn nothing.
    pub(crate) fn concerns_nobody(row: &Named) -> bool {
        row.subject == Subject::User && row.org_id.is_none()
    }

    /// Whether there is nothing to tell.
    pub(crate) fn is_empty(&self) -> bool {
        !self.everything && self.by_org.is_empty()
    }

    /// What it says of one organization.
    pub(crate) fn into_news_of(mut self, org: &OrgId) -> OrgNews {
        if self.everything { OrgNews::everything() } else { self.by_org.remove(org).unwrap_or_default() }
    }
}

/// What a row says to whoever asks with this key. Other keys are nobody's business.
fn said<'a>(row: &'a Named, key: &KeyId) -> Said<'a> {
    match row.subject {
        _ if News::concerns_nobody(row) => Said::Nothing,
        Subject::ApiKey | Subject::DeploymentKey if !row.id.is_empty() && row.id != key.as_str() => Said::Nothing,
        Subject::Session if !row.id.is_empty() => Said::Session(&row.id),
        Subject::Member | Subject::User if !row.id.is_empty() => Said::User(&row.id),
        Subject::ApiKey
        | Subject::DeploymentKey
        | Subject::Session
        | Subject::Member
        | Subject::User
        | Subject::Organization
        | Subject::SigningKeys => Said::Everything,
    }
}

impl OrgNews {
    fn everything() -> Self {
        Self { everything: true, ..Self::default() }
    }

    fn take_in(&mut self, said: &Said<'_>) {
        match said {
            Said::Session(id) if !self.everything => drop(self.sessions.insert((*id).to_owned())),
            Said::User(id) if !self.everything => drop(self.users.insert((*id).to_owned())),
            Said::Everything => *self = Self::everything(),
            Said::Nothing | Said::Session(_) | Said::User(_) => {}
        }
        if self.named() > MOST {
            *self = Self::everything();
        }
    }

    fn named(&self) -> usize {
        self.sessions.len() + self.users.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::id::Id;

    fn org(name: &str) -> OrgId {
        OrgId::from_stored(name.to_owned())
    }

    fn named(subject: Subject, id: &str) -> Named {
        Named { subject, id: id.to_owned(), org_id: Some(org("org_1")), number: 1 }
    }

    fn sessions_of(name: &str, count: usize) -> Vec<Named> {
        let row = |number| Named { org_id: Some(org(name)), ..named(Subject::Session, &format!("ses_{number}")) };
        (0..count).map(row).collect()
    }

    fn news(rows: &[Named]) -> News {
        News::of(rows, &KeyId::ApiKey(Id::from_stored("key_1".to_owned())))
    }

    #[test]
    fn sessions_and_users_are_named_and_whatever_else_changes_is_everything() {
        let told = news(&[named(Subject::Session, "ses_1"), named(Subject::Member, "usr_1"), named(Subject::Session, "ses_1")]);
        let told = told.into_news_of(&org("org_1"));
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
            Named { org_id: None, ..named(Subject::Session, "") },
        ] {
            let is_of_all = row.org_id.is_none();
            let told = news(&[row]);
            assert_eq!(told.everything, is_of_all);
            assert!(told.into_news_of(&org("org_1")).everything);
        }
    }

    #[test]
    fn each_organization_has_its_own() {
        let mut rows = sessions_of("org_2", 2);
        rows.extend([named(Subject::Organization, "org_1"), named(Subject::Session, "ses_1")]);
        let told = news(&rows);
        let told: Vec<_> = told.by_org.iter().map(|(org, news)| (org.as_str(), news.everything, news.named())).collect();
        assert_eq!(told, [("org_1", true, 0), ("org_2", false, 2)]);
        assert!(!news(&rows).into_news_of(&org("org_3")).everything);
    }

    #[test]
    fn more_than_a_thousand_are_everything_of_the_organization() {
        let rows = [sessions_of("org_1", MOST + 1), sessions_of("org_2", MOST)].concat();
        let told = news(&rows);
        assert!(!told.everything);
        let (one, two) = (&told.by_org[&org("org_1")], &told.by_org[&org("org_2")]);
        assert!(one.everything && one.sessions.is_empty());
        assert_eq!((two.everything, two.sessions.len()), (false, MOST));
    }

    #[test]
    fn more_than_ten_thousand_of_all_are_everything() {
        let of_ten = |each| (0..10).flat_map(|number| sessions_of(&format!("org_{number}"), each)).collect::<Vec<_>>();
        assert_eq!(news(&of_ten(MOST - 1)).by_org.len(), 10);
        let told = news(&of_ten(MOST));
        assert!(told.everything && told.by_org.is_empty(), "the organizations count, too");
        assert_eq!(news(&of_ten(MOST + 1)).by_org.len(), 10, "of each, everything, and nothing is named");
    }
}
