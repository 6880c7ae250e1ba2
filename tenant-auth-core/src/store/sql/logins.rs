//! What a login reads before it compares the password: one statement, whether or not there is an account.

use crate::{
    error::Error,
    id::{OrgId, UserId},
    model::Membership,
    ports::{ForeignCost, HashScheme},
    store::{
        Account, Link, Tx,
        dialect::{fetch_optional, fetch_optional_of, row, statements},
        row::{FromRow, Row},
        sql::{members::MembershipRow, users::AccountRow},
    },
    value::Email,
};

pub(crate) struct Logins<L>(pub(in crate::store) L);

/// What a login reads before it compares the password.
pub(crate) struct Entry {
    pub(crate) known: Option<Known>,
    /// The dearest cost in each scheme of the hashes that imports brought and no login has replaced.
    pub(crate) dearest: Vec<ForeignCost>,
}

/// An account that has the address of a login.
pub(crate) struct Known {
    pub(crate) account: Account,
    /// Whether an enabled second factor guards it, at the account's epoch.
    pub(crate) has_second_factor: bool,
}

statements! {
    FIND = "
        SELECT u.id AS id, u.name AS name, u.email AS email, u.role AS role, u.is_email_verified AS is_email_verified, u.bio AS bio,
               u.phone AS phone, u.password_hash AS password_hash, u.epoch AS epoch, u.language AS language,
               EXISTS (SELECT 1 FROM tenant_auth_second_factors WHERE user_id = u.id AND enabled_at IS NOT NULL)
                   AS has_second_factor,
               (SELECT MAX(foreign_cost) FROM tenant_auth_users WHERE foreign_scheme = 'argon2') AS argon2,
               (SELECT MAX(foreign_cost) FROM tenant_auth_users WHERE foreign_scheme = 'bcrypt') AS bcrypt,
               (SELECT MAX(foreign_cost) FROM tenant_auth_users WHERE foreign_scheme = 'scrypt') AS scrypt,
               (SELECT MAX(foreign_cost) FROM tenant_auth_users WHERE foreign_scheme = 'pbkdf2-sha256') AS pbkdf2_sha256,
               (SELECT MAX(foreign_cost) FROM tenant_auth_users WHERE foreign_scheme = 'pbkdf2-sha512') AS pbkdf2_sha512
          FROM (SELECT 1) AS once
          LEFT JOIN tenant_auth_users u ON u.email_key = $1";
}

/// Locking the membership's row, then the account's, which is reading both where there is one writer.
macro_rules! hold {
    () => {
        "
        SELECT m.id AS id, m.org_id AS org_id, m.user_id AS user_id, m.role AS role, m.status AS status, m.joined_at AS joined_at,
               m.metadata AS metadata, u.epoch AS epoch
          FROM tenant_auth_memberships m
          JOIN tenant_auth_users u ON u.id = m.user_id
         WHERE m.org_id = $1 AND m.user_id = $2"
    };
}

#[cfg(feature = "sqlite")]
pub(in crate::store) mod sqlite {
    use crate::store::dialect::statements;

    statements! {
        pub(super) HOLD = hold!();
    }
}

#[cfg(feature = "postgres")]
pub(in crate::store) mod postgres {
    use crate::store::dialect::statements;

    statements! {
        // PostgreSQL locks in the order of this clause, and joins anew what it finds then. That is sound because every row that the
        // statement reads is locked: of others it would tell what was before the wait.
        pub(super) HOLD = concat!(hold!(), "
           FOR NO KEY UPDATE OF m, u");
    }
}

row! {
    #[derive(Default)]
    DearestRow {
        argon2: Option<i64>,
        bcrypt: Option<i64>,
        scrypt: Option<i64>,
        pbkdf2_sha256: Option<i64>,
        pbkdf2_sha512: Option<i64>,
    }
}

impl From<DearestRow> for Vec<ForeignCost> {
    fn from(row: DearestRow) -> Self {
        let schemes = [
            (HashScheme::Argon2, row.argon2),
            (HashScheme::Bcrypt, row.bcrypt),
            (HashScheme::Scrypt, row.scrypt),
            (HashScheme::Pbkdf2Sha256, row.pbkdf2_sha256),
            (HashScheme::Pbkdf2Sha512, row.pbkdf2_sha512),
        ];
        let cost = |(scheme, units): (HashScheme, Option<i64>)| Some(ForeignCost { scheme, units: units?.unsigned_abs() });
        schemes.into_iter().filter_map(cost).collect()
    }
}

/// One row always, with or without an account.
#[derive(Default)]
struct EntryRow {
    known: Option<(AccountRow, bool)>,
    dearest: DearestRow,
}

impl FromRow for EntryRow {
    fn from_row(row: &Row) -> Result<Self, Error> {
        let id: Option<String> = row.get("id")?;
        let known = match id {
            Some(_) => Some((AccountRow::from_row(row)?, row.get("has_second_factor")?)),
            None => None,
        };
        Ok(Self { known, dearest: DearestRow::from_row(row)? })
    }
}

/// A membership and the epoch of its account.
struct HeldRow(MembershipRow, i64);

impl FromRow for HeldRow {
    fn from_row(row: &Row) -> Result<Self, Error> {
        Ok(Self(MembershipRow::from_row(row)?, row.get("epoch")?))
    }
}

impl Logins<&mut Tx> {
    /// Locks a membership, then its account, until this transaction ends: the membership and the account's epoch as they are then.
    pub(crate) async fn hold(mut self, org: &OrgId, user: &UserId) -> Result<Option<(Membership, i64)>, Error> {
        let held = fetch_optional_of!(self.0, HeldRow, HOLD, org.as_str(), user.as_str())?;
        held.map(|HeldRow(membership, epoch)| Ok((membership.try_into()?, epoch))).transpose()
    }
}

impl<L: Link> Logins<L> {
    /// What a login with this address rests on, in one statement whether or not there is an account.
    pub(crate) async fn find(mut self, email: &Email) -> Result<Entry, Error> {
        let EntryRow { known, dearest } = fetch_optional!(self.0, EntryRow, FIND, email.key())?.unwrap_or_default();
        let known = match known {
            Some((account, has_second_factor)) => Some(Known { account: account.try_into()?, has_second_factor }),
            None => None,
        };
        Ok(Entry { known, dearest: dearest.into() })
    }
}
