//! Accounts that belong to no organization: their people left the last one, or an invite kept them when their organization was removed.

use crate::{
    error::Error,
    id::{Id, UserId},
    model::{AccountRole, Profile, User},
    store::{
        Link,
        dialect::{fetch_all, row, statements},
        sql::corrupt,
    },
    time::Timestamp,
    value::{Bio, DisplayName, Email, Phone},
};

pub(crate) struct WithoutOrganization<L>(pub(in crate::store) L);

statements! {
    // By the key, and members too: a statement looks at so many accounts, however few of them belong to no organization.
    AFTER = "
        SELECT u.id AS id, u.name AS name, u.email AS email, u.role AS role, u.is_email_verified AS is_email_verified, u.bio AS bio,
               u.phone AS phone, u.created_at AS created_at,
               EXISTS (SELECT 1 FROM tenant_auth_memberships m WHERE m.user_id = u.id) AS is_member,
               EXISTS (SELECT 1
                         FROM tenant_auth_invites i
                         JOIN tenant_auth_organizations g ON g.id = i.org_id
                        WHERE i.email_key = u.email_key AND i.expires_at > $2 AND g.removed_at IS NULL) AS is_invited
          FROM tenant_auth_users u
         WHERE u.id > $1
         ORDER BY u.id
         LIMIT $3";
}

row! {
    AccountRow {
        id: String,
        name: String,
        email: String,
        role: String,
        is_email_verified: bool,
        bio: Option<String>,
        phone: Option<String>,
        created_at: i64,
        is_member: bool,
        is_invited: bool,
    }
}

/// An account, and where it belongs.
#[derive(Debug)]
pub(crate) struct PlacedAccount {
    pub(crate) user: User,
    pub(crate) created_at: Timestamp,
    /// Whether it belongs to an organization.
    pub(crate) is_member: bool,
    /// Whether an invite waits for its address.
    pub(crate) is_invited: bool,
}

impl TryFrom<AccountRow> for PlacedAccount {
    type Error = Error;
    fn try_from(row: AccountRow) -> Result<Self, Error> {
        Ok(Self {
            user: User {
                role: AccountRole::parse(&row.role).ok_or_else(|| corrupt("users", "role", &row.id))?,
                id: Id::from_stored(row.id),
                name: DisplayName::from_stored(row.name),
                email: Email::from_stored(row.email),
                is_email_verified: row.is_email_verified,
                profile: Profile { bio: row.bio.map(Bio::from_stored), phone: row.phone.map(Phone::from_stored) },
            },
            created_at: Timestamp::from_millis(row.created_at),
            is_member: row.is_member,
            is_invited: row.is_invited,
        })
    }
}

impl<L: Link> WithoutOrganization<L> {
    /// Some accounts, members or not, those after an id, in the order of their ids.
    pub(crate) async fn after(mut self, after: Option<&UserId>, now: Timestamp, most: i64) -> Result<Vec<PlacedAccount>, Error> {
        let rows = fetch_all!(self.0, AccountRow, AFTER, after.map_or("", UserId::as_str), now.millis(), most)?;
        rows.into_iter().map(PlacedAccount::try_from).collect()
    }
}
