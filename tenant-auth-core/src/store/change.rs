//! What a transaction changes of the rows on which a remembered answer may rest, and which of these changes end or narrow a right.
//! The repositories name each change, so that no flow can forget one; rows that a deletion takes along (a cascade) need no name of
//! their own, because whatever is remembered is found by each of the rows it rests on.

use crate::id::OrgId;

/// What a row of the log is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Subject {
    Session,
    User,
    /// A user in one organization: the membership, or the account behind it.
    Member,
    Organization,
    ApiKey,
    DeploymentKey,
    SigningKeys,
}

impl Subject {
    const ALL: [Self; 7] =
        [Self::Session, Self::User, Self::Member, Self::Organization, Self::ApiKey, Self::DeploymentKey, Self::SigningKeys];

    pub(super) const fn as_str(self) -> &'static str {
        match self {
            Self::Session => "session",
            Self::User => "user",
            Self::Member => "member",
            Self::Organization => "organization",
            Self::ApiKey => "api_key",
            Self::DeploymentKey => "deployment_key",
            Self::SigningKeys => "signing_keys",
        }
    }

    /// `None` for a word of another version.
    pub(super) fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|subject| subject.as_str() == word)
    }
}

/// Makes [`Change`] of one line for each: its subject, and whether it ends or narrows a right.
macro_rules! changes {
    ($($(#[$docs:meta])* $name:ident: $subject:ident, $rights:ident;)*) => {
        /// A change of one row.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub(crate) enum Change {
            $($(#[$docs])* $name,)*
        }

        impl Change {
            pub(super) const fn subject(self) -> Subject {
                match self {
                    $(Self::$name => Subject::$subject,)*
                }
            }

            /// Whether the change ends or narrows a right: then no process may answer by what was before, once it is acknowledged.
            pub(super) const fn narrows(self) -> bool {
                match self {
                    $(Self::$name => changes!(@ $rights),)*
                }
            }

            /// The names of all that end or narrow a right.
            #[cfg(all(feature = "testing", feature = "sqlite"))]
            pub(crate) fn narrowing() -> Vec<&'static str> {
                let all = [$((stringify!($name), Self::$name)),*];
                all.into_iter().filter(|(_, change)| change.narrows()).map(|(name, _)| name).collect()
            }
        }
    };
    (@ narrows) => { true };
    (@ keeps) => { false };
}

changes! {
    /// Logout, ended by its owner or an admin, evicted, reused, `sessions revoke`.
    SessionEnded: Session, narrows;
    SessionRefreshed: Session, keeps;
    /// Moved to the user's next epoch; [`Change::CredentialsChanged`] stands beside it.
    SessionMoved: Session, keeps;
    /// Removed, or left.
    MembershipEnded: Member, narrows;
    /// In either direction: a backend may ask for a plain member as well as for an admin.
    RoleChanged: Member, narrows;
    MemberSuspended: Member, narrows;
    /// Metadata, or reactivated.
    MembershipChanged: Member, keeps;
    /// The account behind the membership, whose own change stands beside this: organizations learn of their members only.
    AccountChanged: Member, keeps;
    OrganizationSuspended: Organization, narrows;
    /// Unknown from now on.
    OrganizationRemoved: Organization, narrows;
    /// An allowed origin, or the application's, is gone.
    OriginRemoved: Organization, narrows;
    OrganizationChanged: Organization, keeps;
    ProfileChanged: User, keeps;
    EmailVerified: User, keeps;
    /// Password, second factor, a first proof of the address: the epoch grew.
    CredentialsChanged: User, narrows;
    EmailChanged: User, narrows;
    /// Operator of the deployment, or no longer.
    OperatorChanged: User, narrows;
    UserDeleted: User, narrows;
    /// Rotated; its end may be now.
    ApiKeyReplaced: ApiKey, narrows;
    ApiKeyDeleted: ApiKey, narrows;
    /// Rotated; its end may be now.
    DeploymentKeyReplaced: DeploymentKey, narrows;
    DeploymentKeyDeleted: DeploymentKey, narrows;
    SigningKeysRotated: SigningKeys, keeps;
    SigningKeysCompromised: SigningKeys, narrows;
}

/// The most rows that one transaction writes into the log; above, it names whole subjects, of an organization or of each.
const MOST: usize = 1_000;

/// A row of the log. An empty id means everything of the subject.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct ChangedRow {
    pub(crate) subject: Subject,
    pub(crate) id: String,
    /// The organization that the change concerns; `None`: each.
    pub(crate) org_id: Option<OrgId>,
}

/// What a transaction touched so far.
#[derive(Debug, Default)]
pub(super) struct Touched {
    rows: Vec<ChangedRow>,
    /// Whether a statement wrote its change into the log itself.
    noted: bool,
    narrows: bool,
}

impl Touched {
    pub(super) fn add(&mut self, change: Change, org: Option<&OrgId>, id: &str) {
        self.narrows |= change.narrows();
        self.rows.push(ChangedRow { subject: change.subject(), id: id.to_owned(), org_id: org.cloned() });
    }

    /// A change that stands in the log already.
    pub(super) fn noted(&mut self, change: Change) {
        self.narrows |= change.narrows();
        self.noted = true;
    }

    pub(super) fn is_empty(&self) -> bool {
        self.rows.is_empty() && !self.noted
    }

    pub(super) fn narrows(&self) -> bool {
        self.narrows
    }

    /// Each row once; whole subjects where they are too many.
    pub(super) fn take_rows(&mut self) -> Vec<ChangedRow> {
        let mut rows = std::mem::take(&mut self.rows);
        for cut in [|row: &mut ChangedRow| row.id.clear(), |row: &mut ChangedRow| row.org_id = None] {
            rows.sort();
            rows.dedup();
            if rows.len() > MOST {
                rows.iter_mut().for_each(cut);
            }
        }
        rows.sort();
        rows.dedup();
        rows
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_named_once_and_too_many_name_their_subjects() {
        let mut touched = Touched::default();
        for id in ["ses_1", "ses_2", "ses_1"] {
            touched.add(Change::SessionRefreshed, None, id);
        }
        assert!(!touched.narrows());
        assert_eq!(touched.take_rows().len(), 2);
        for number in 0..=MOST {
            touched.add(Change::SessionEnded, None, &format!("ses_{number}"));
        }
        touched.add(Change::CredentialsChanged, None, "usr_1");
        let rows = touched.take_rows();
        assert!(touched.narrows());
        assert_eq!(
            rows.iter().map(|row| (row.subject, &*row.id)).collect::<Vec<_>>(),
            [(Subject::Session, ""), (Subject::User, "")]
        );
    }

    #[test]
    fn too_many_rows_of_one_organization_are_nobody_elses_business() {
        let (one, other) = (OrgId::from_stored("org_1".to_owned()), OrgId::from_stored("org_2".to_owned()));
        let mut touched = Touched::default();
        for number in 0..=MOST {
            touched.add(Change::SessionEnded, Some(&one), &format!("ses_{number}"));
        }
        touched.add(Change::RoleChanged, Some(&other), "usr_1");
        let rows = touched.take_rows();
        let named: Vec<_> = rows.iter().map(|row| (row.subject, &*row.id, row.org_id.as_ref())).collect();
        assert_eq!(named, [(Subject::Session, "", Some(&one)), (Subject::Member, "", Some(&other))]);
    }

    #[test]
    fn every_subject_is_read_as_it_is_written() {
        assert!(Subject::ALL.into_iter().all(|subject| Subject::parse(subject.as_str()) == Some(subject)));
        assert_eq!(Subject::parse("tomorrow"), None);
    }
}
