//! Memberships: which account belongs to which organization, in which role, with which status and metadata.

use std::iter;

use crate::{
    error::Error,
    id::{Id, OrgId, UserId},
    model::{MemberEntry, MemberFilter, Membership, Role, Status},
    page::{Bounds, Position},
    store::{
        Change, Link, Tx,
        dialect::{execute, fetch_all, fetch_batch, fetch_optional, fetch_optional_of, fetch_scalar, row, statements},
        sql::corrupt,
        statement::{Statement, Text, Value},
    },
    time::Timestamp,
    value::{DisplayName, Email, Metadata},
};

pub(crate) struct Members<L>(pub(in crate::store) L);

/// How many members [`FIND_SOME`] looks for.
pub(crate) const MEMBERS_AT_ONCE: usize = 16;

statements! {
    FIND = "
        SELECT m.id AS id, m.org_id AS org_id, m.user_id AS user_id, m.role AS role, m.status AS status,
               m.joined_at AS joined_at, m.metadata AS metadata, u.name AS name, u.email AS email
          FROM tenant_auth_memberships m
          JOIN tenant_auth_users u ON u.id = m.user_id
         WHERE m.org_id = $1 AND m.user_id = $2";
    HAS_ADDRESS = "
        SELECT COUNT(*) AS number
          FROM tenant_auth_memberships m
          JOIN tenant_auth_users u ON u.id = m.user_id
         WHERE m.org_id = $1 AND u.email_key = $2";
    LIST = "
        SELECT m.id AS id, m.org_id AS org_id, m.user_id AS user_id, m.role AS role, m.status AS status,
               m.joined_at AS joined_at, m.metadata AS metadata, u.name AS name, u.email AS email
          FROM tenant_auth_memberships m
          JOIN tenant_auth_users u ON u.id = m.user_id
         WHERE m.org_id = $4 AND (m.joined_at, m.user_id) > ($1, $2) AND ($5 = '' OR m.role = $5) AND ($6 = '' OR m.status = $6)
         ORDER BY m.joined_at, m.user_id
         LIMIT $3";
    LIST_DESCENDING = "
        SELECT m.id AS id, m.org_id AS org_id, m.user_id AS user_id, m.role AS role, m.status AS status,
               m.joined_at AS joined_at, m.metadata AS metadata, u.name AS name, u.email AS email
          FROM tenant_auth_memberships m
          JOIN tenant_auth_users u ON u.id = m.user_id
         WHERE m.org_id = $4 AND (m.joined_at, m.user_id) < ($1, $2) AND ($5 = '' OR m.role = $5) AND ($6 = '' OR m.status = $6)
         ORDER BY m.joined_at DESC, m.user_id DESC
         LIMIT $3";
    NAMES = "
        SELECT m.user_id AS user_id, m.joined_at AS joined_at, u.name AS name, u.email AS email
          FROM tenant_auth_memberships m
          JOIN tenant_auth_users u ON u.id = m.user_id
         WHERE m.org_id = $4 AND (m.joined_at, m.user_id) > ($1, $2) AND ($5 = '' OR m.role = $5) AND ($6 = '' OR m.status = $6)
         ORDER BY m.joined_at, m.user_id
         LIMIT $3";
    NAMES_DESCENDING = "
        SELECT m.user_id AS user_id, m.joined_at AS joined_at, u.name AS name, u.email AS email
          FROM tenant_auth_memberships m
          JOIN tenant_auth_users u ON u.id = m.user_id
         WHERE m.org_id = $4 AND (m.joined_at, m.user_id) < ($1, $2) AND ($5 = '' OR m.role = $5) AND ($6 = '' OR m.status = $6)
         ORDER BY m.joined_at DESC, m.user_id DESC
         LIMIT $3";
    FIND_SOME = "
        SELECT m.id AS id, m.org_id AS org_id, m.user_id AS user_id, m.role AS role, m.status AS status,
               m.joined_at AS joined_at, m.metadata AS metadata, u.name AS name, u.email AS email
          FROM tenant_auth_memberships m
          JOIN tenant_auth_users u ON u.id = m.user_id
         WHERE m.org_id = $1
           AND m.user_id IN ($2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17)";
    COUNT_ACTIVE_ADMINS = "
        SELECT COUNT(*) AS number
          FROM tenant_auth_memberships
         WHERE org_id = $1 AND role = 'org_admin' AND status = 'active'";
    COUNT_ALL = "
        SELECT COUNT(*) AS number
          FROM tenant_auth_memberships
         WHERE org_id = $1";
    ACTIVE_ADMINS = "
        SELECT u.email AS email
          FROM tenant_auth_memberships m
          JOIN tenant_auth_users u ON u.id = m.user_id
         WHERE m.org_id = $1 AND m.role = 'org_admin' AND m.status = 'active'
         ORDER BY m.joined_at, m.user_id
         LIMIT 100";
    INSERT = "
        INSERT INTO tenant_auth_memberships (org_id, user_id, id, role, status, metadata, joined_at)
        VALUES ($1, $2, $3, $4, $5, $6, $7)
        ON CONFLICT DO NOTHING";
    UPDATE = "
        UPDATE tenant_auth_memberships
           SET role = $3, status = $4, metadata = $5
         WHERE org_id = $1 AND user_id = $2";
    DELETE = "DELETE FROM tenant_auth_memberships WHERE org_id = $1 AND user_id = $2";
}

/// Locking a membership's row, which is reading it where there is one writer: an UPDATE would write the page again.
#[cfg(feature = "sqlite")]
pub(in crate::store) mod sqlite {
    use crate::store::dialect::statements;

    statements! {
        pub(super) HOLD = "
            SELECT id, org_id, user_id, role, status, joined_at, metadata
              FROM tenant_auth_memberships
             WHERE org_id = $1 AND user_id = $2";
    }
}

#[cfg(feature = "postgres")]
pub(in crate::store) mod postgres {
    use crate::store::dialect::statements;

    statements! {
        pub(super) HOLD = "
            SELECT id, org_id, user_id, role, status, joined_at, metadata
              FROM tenant_auth_memberships
             WHERE org_id = $1 AND user_id = $2
               FOR NO KEY UPDATE";
    }
}

row! {
    MemberRow {
        id: String,
        org_id: String,
        user_id: String,
        role: String,
        status: String,
        joined_at: i64,
        metadata: String,
        name: String,
        email: String,
    }
}

row! {
    NameRow {
        user_id: String,
        joined_at: i64,
        name: String,
        email: String,
    }
}

/// A member's name and address, and the member's position in the list.
#[derive(Debug)]
pub(crate) struct MemberName {
    pub(crate) position: Position,
    pub(crate) user_id: UserId,
    pub(crate) name: String,
    pub(crate) email: String,
}

impl From<NameRow> for MemberName {
    fn from(row: NameRow) -> Self {
        let NameRow { user_id, joined_at, name, email } = row;
        let position = Position { time: Timestamp::from_millis(joined_at), id: user_id.clone() };
        Self { position, user_id: Id::from_stored(user_id), name, email }
    }
}

row! {
    MembershipRow {
        id: String,
        org_id: String,
        user_id: String,
        role: String,
        status: String,
        joined_at: i64,
        metadata: String,
    }
}

impl TryFrom<MembershipRow> for Membership {
    type Error = Error;
    fn try_from(row: MembershipRow) -> Result<Self, Error> {
        let corrupt = |column| corrupt("memberships", column, &row.id);
        Ok(Self {
            role: Role::parse(&row.role).ok_or_else(|| corrupt("role"))?,
            status: Status::parse(&row.status).ok_or_else(|| corrupt("status"))?,
            joined_at: Timestamp::from_millis(row.joined_at),
            metadata: Metadata::from_stored(row.metadata).map_err(|_| corrupt("metadata"))?,
            id: Id::from_stored(row.id),
            org_id: Id::from_stored(row.org_id),
            user_id: Id::from_stored(row.user_id),
        })
    }
}

row! { EmailRow { email: String, } }

impl TryFrom<MemberRow> for MemberEntry {
    type Error = Error;
    fn try_from(row: MemberRow) -> Result<Self, Error> {
        let MemberRow { id, org_id, user_id, role, status, joined_at, metadata, name, email } = row;
        Ok(Self {
            membership: MembershipRow { id, org_id, user_id, role, status, joined_at, metadata }.try_into()?,
            name: DisplayName::from_stored(name),
            email: Email::from_stored(email),
        })
    }
}

impl<L: Link> Members<L> {
    /// The repository by whichever hand is given.
    pub(crate) fn of(link: L) -> Self {
        Self(link)
    }

    /// Whether the address is that of a member, suspended or not.
    pub(crate) async fn has_address(mut self, org: &OrgId, email: &Email) -> Result<bool, Error> {
        Ok(fetch_scalar!(self.0, i64, HAS_ADDRESS, org.as_str(), email.key())?.is_some_and(|number| number > 0))
    }

    pub(crate) async fn find(mut self, org: &OrgId, user: &UserId) -> Result<Option<MemberEntry>, Error> {
        fetch_optional!(self.0, MemberRow, FIND, org.as_str(), user.as_str())?.map(MemberEntry::try_from).transpose()
    }

    /// The members with the filter's role and status.
    pub(crate) async fn list(mut self, org: &OrgId, filter: &MemberFilter, bounds: &Bounds) -> Result<Vec<MemberEntry>, Error> {
        let (role, status) = (filter.role.map_or("", Role::as_str), filter.status.map_or("", Status::as_str));
        let rows = fetch_batch!(self.0, MemberRow, LIST, LIST_DESCENDING, bounds, org.as_str(), role, status)?;
        rows.into_iter().map(MemberEntry::try_from).collect()
    }

    /// The names and addresses of the same members, for a search.
    pub(crate) async fn names(mut self, org: &OrgId, filter: &MemberFilter, bounds: &Bounds) -> Result<Vec<MemberName>, Error> {
        let (role, status) = (filter.role.map_or("", Role::as_str), filter.status.map_or("", Status::as_str));
        let rows = fetch_batch!(self.0, NameRow, NAMES, NAMES_DESCENDING, bounds, org.as_str(), role, status)?;
        Ok(rows.into_iter().map(MemberName::from).collect())
    }

    /// Those of up to [`MEMBERS_AT_ONCE`] people who are members, in the order in which they are named.
    pub(crate) async fn find_some(mut self, org: &OrgId, users: &[UserId]) -> Result<Vec<MemberEntry>, Error> {
        const PATH: &str = concat!(module_path!(), "::FIND_SOME");
        let places: [_; MEMBERS_AT_ONCE] = std::array::from_fn(|place| users.get(place).map(Id::as_str));
        let org = org.as_str();
        let values: Vec<&dyn Value> =
            iter::once(&org as &dyn Value).chain(places.iter().map(|place| place as &dyn Value)).collect();
        let rows = Statement::new(PATH, self.0.conn(), Text::of_both(FIND_SOME), &values).all::<MemberRow>();
        let rows = rows.await?;
        let mut members = rows.into_iter().map(MemberEntry::try_from).collect::<Result<Vec<_>, _>>()?;
        members.sort_by_key(|member| users.iter().position(|user| *user == member.membership.user_id));
        Ok(members)
    }

    /// How many members there are, the suspended ones included.
    pub(crate) async fn count(mut self, org: &OrgId) -> Result<i64, Error> {
        Ok(fetch_scalar!(self.0, i64, COUNT_ALL, org.as_str())?.unwrap_or(0))
    }

    pub(crate) async fn count_active_admins(mut self, org: &OrgId) -> Result<i64, Error> {
        Ok(fetch_scalar!(self.0, i64, COUNT_ACTIVE_ADMINS, org.as_str())?.unwrap_or(0))
    }

    /// The addresses of the active org_admins; the first hundred.
    pub(crate) async fn active_admins(mut self, org: &OrgId) -> Result<Vec<Email>, Error> {
        let rows = fetch_all!(self.0, EmailRow, ACTIVE_ADMINS, org.as_str())?;
        Ok(rows.into_iter().map(|row| Email::from_stored(row.email)).collect())
    }
}

impl Members<&mut Tx> {
    /// `false` when the person is a member already, or the id is that of another membership.
    pub(crate) async fn insert(mut self, membership: &Membership) -> Result<bool, Error> {
        let inserted = execute!(
            self.0,
            INSERT,
            membership.org_id.as_str(),
            membership.user_id.as_str(),
            membership.id.as_str(),
            membership.role.as_str(),
            membership.status.as_str(),
            membership.metadata.as_json(),
            membership.joined_at.millis()
        )?;
        Ok(inserted == 1)
    }

    /// Locks the membership's row until this transaction ends. Lock order: memberships, by organization, before the account and
    /// before any session; transactions that keep to this order cannot deadlock.
    pub(crate) async fn hold(mut self, org: &OrgId, user: &UserId) -> Result<Option<Membership>, Error> {
        fetch_optional_of!(self.0, MembershipRow, HOLD, org.as_str(), user.as_str())?.map(Membership::try_from).transpose()
    }

    /// Writes role, status and metadata; `previous` is what they were.
    pub(crate) async fn update(mut self, membership: &Membership, previous: &Membership) -> Result<(), Error> {
        let change = if membership.role != previous.role {
            Change::RoleChanged
        } else if membership.status != previous.status && membership.status == Status::Suspended {
            Change::MemberSuspended
        } else {
            Change::MembershipChanged
        };
        self.0.touch(change, Some(&membership.org_id), membership.user_id.as_str());
        execute!(
            self.0,
            UPDATE,
            membership.org_id.as_str(),
            membership.user_id.as_str(),
            membership.role.as_str(),
            membership.status.as_str(),
            membership.metadata.as_json()
        )?;
        Ok(())
    }

    /// Removes the membership. The member's sessions in this organization are deleted with it (foreign key); end them first to
    /// learn which there were.
    pub(crate) async fn remove(mut self, membership: &Membership) -> Result<(), Error> {
        self.0.touch(Change::MembershipEnded, Some(&membership.org_id), membership.user_id.as_str());
        execute!(self.0, DELETE, membership.org_id.as_str(), membership.user_id.as_str())?;
        Ok(())
    }
}
