//! Accounts. A user's `epoch` grows with every change of password, email or second factor; sessions of an older epoch are dead.

use crate::{
    error::Error,
    id::{Id, UserId},
    model::{AccountRole, OrgRef, Profile, User},
    ports::ForeignHash,
    secret::StoredPassword,
    store::{
        Change, Link, Tx,
        dialect::{execute, fetch_all, fetch_optional, fetch_optional_of, row, statements},
        failure::is_duplicate,
        sql::corrupt,
    },
    value::{Bio, DisplayName, Email, Language, Phone, Slug},
};

pub(crate) struct Users<L>(pub(in crate::store) L);

/// A user with the columns that never leave the service.
#[derive(Debug, Clone)]
pub(crate) struct Account {
    pub(crate) user: User,
    pub(crate) password: StoredPassword,
    pub(crate) epoch: i64,
    /// The language that the person's browser asked for at the last login: that of the person's mails.
    pub(crate) language: Option<Language>,
}

impl Account {
    /// What a typed password is compared with; `None` when no password opens the account.
    pub(crate) fn comparable_password(&self) -> Option<&StoredPassword> {
        Some(&self.password).filter(|password| !password.is_void())
    }
}

statements! {
    FIND = "
        SELECT id, name, email, role, is_email_verified, bio, phone, password_hash, epoch, language
          FROM tenant_auth_users
         WHERE id = $1";
    FIND_BY_EMAIL = "
        SELECT id, name, email, role, is_email_verified, bio, phone, password_hash, epoch, language
          FROM tenant_auth_users
         WHERE email_key = $1";
    // Without an index, which every account would pay for: a person asks, and seldom.
    OPERATORS = "
        SELECT id, name, email, role, is_email_verified, bio, phone, password_hash, epoch, language
          FROM tenant_auth_users
         WHERE role = $1
         ORDER BY email_key";
    INSERT = "
        INSERT INTO tenant_auth_users
               (id, name, email, email_key, role, is_email_verified, bio, phone, password_hash, epoch, created_at,
                foreign_scheme, foreign_cost)
        VALUES ($1, $2, $3, $4, $5, $6, NULL, NULL, $7, 1, $8, $9, $10)
        ON CONFLICT (email_key) DO NOTHING";
    SET_PROFILE = "UPDATE tenant_auth_users SET name = $2, bio = $3, phone = $4 WHERE id = $1";
    SET_PASSWORD = "
        UPDATE tenant_auth_users
           SET password_hash = $2, foreign_scheme = NULL, foreign_cost = NULL
         WHERE id = $1 AND epoch = $3";
    VOID_PASSWORD = "
        UPDATE tenant_auth_users
           SET password_hash = $2, foreign_scheme = NULL, foreign_cost = NULL
         WHERE id = $1";
    LANGUAGE_OF = "SELECT language FROM tenant_auth_users WHERE email_key = $1 AND language IS NOT NULL";
    SET_LANGUAGE = "UPDATE tenant_auth_users SET language = $2 WHERE id = $1";
    SET_ROLE = "UPDATE tenant_auth_users SET role = $2 WHERE id = $1";
    BUMP_EPOCH = "UPDATE tenant_auth_users SET epoch = epoch + 1 WHERE id = $1 RETURNING epoch";
    SET_EMAIL = "
        UPDATE tenant_auth_users
           SET email = $2, email_key = $3, is_email_verified = $4
         WHERE id = $1 AND NOT EXISTS (SELECT id FROM tenant_auth_users o WHERE o.email_key = $3 AND o.id <> $1)";
    DELETE = "DELETE FROM tenant_auth_users WHERE id = $1";
    REHASH = "
        UPDATE tenant_auth_users
           SET password_hash = $2, foreign_scheme = NULL, foreign_cost = NULL
         WHERE id = $1 AND password_hash = $3";
    VERIFY_EMAIL = "UPDATE tenant_auth_users SET is_email_verified = TRUE WHERE id = $1 AND is_email_verified = FALSE";
    ORGANIZATIONS_OF = "
        SELECT o.id AS id, o.slug AS slug
          FROM tenant_auth_memberships m
          JOIN tenant_auth_organizations o ON o.id = m.org_id
         WHERE m.user_id = $1
         ORDER BY o.id";
}

/// Locking the account's row, which is reading it where there is one writer: an UPDATE would write the page again.
#[cfg(feature = "sqlite")]
pub(in crate::store) mod sqlite {
    use crate::store::dialect::statements;

    statements! {
        pub(super) HOLD = "SELECT epoch FROM tenant_auth_users WHERE id = $1";
        pub(super) HOLD_ALONE = "SELECT epoch FROM tenant_auth_users WHERE id = $1";
        pub(super) REFER_TO = "SELECT epoch FROM tenant_auth_users WHERE id = $1";
    }
}

#[cfg(feature = "postgres")]
pub(in crate::store) mod postgres {
    use crate::store::dialect::statements;

    statements! {
        pub(super) HOLD = "SELECT epoch FROM tenant_auth_users WHERE id = $1 FOR NO KEY UPDATE";
        pub(super) HOLD_ALONE = "SELECT epoch FROM tenant_auth_users WHERE id = $1 FOR UPDATE";
        pub(super) REFER_TO = "SELECT epoch FROM tenant_auth_users WHERE id = $1 FOR KEY SHARE";
    }
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
        password_hash: String,
        epoch: i64,
        language: Option<String>,
    }
}

row! { EpochRow { epoch: i64, } }
row! { LanguageRow { language: String, } }

row! { OrganizationOfUserRow { id: String, slug: String, } }

impl TryFrom<AccountRow> for Account {
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
            password: StoredPassword::new(row.password_hash),
            epoch: row.epoch,
            language: row.language.map(Language::from_stored),
        })
    }
}

impl<L: Link> Users<L> {
    pub(crate) async fn find(mut self, user: &UserId) -> Result<Option<Account>, Error> {
        fetch_optional!(self.0, AccountRow, FIND, user.as_str())?.map(Account::try_from).transpose()
    }

    pub(crate) async fn find_by_email(mut self, email: &Email) -> Result<Option<Account>, Error> {
        fetch_optional!(self.0, AccountRow, FIND_BY_EMAIL, email.key())?.map(Account::try_from).transpose()
    }

    /// Every account that is an operator's, in the order of their addresses.
    pub(crate) async fn operators(mut self) -> Result<Vec<User>, Error> {
        let rows = fetch_all!(self.0, AccountRow, OPERATORS, AccountRole::Admin.as_str())?;
        rows.into_iter().map(|row| Account::try_from(row).map(|account| account.user)).collect()
    }

    /// The language in which an address is written to; `None` when no account has it, or its owner's browser asked for none.
    pub(crate) async fn language_of(mut self, email: &Email) -> Result<Option<Language>, Error> {
        let row = fetch_optional!(self.0, LanguageRow, LANGUAGE_OF, email.key())?;
        Ok(row.map(|row| Language::from_stored(row.language)))
    }

    /// Every organization of the user, in the order in which transactions must lock them.
    pub(crate) async fn organizations_of(mut self, user: &UserId) -> Result<Vec<OrgRef>, Error> {
        let rows = fetch_all!(self.0, OrganizationOfUserRow, ORGANIZATIONS_OF, user.as_str())?;
        Ok(rows.into_iter().map(|row| OrgRef { id: Id::from_stored(row.id), slug: Slug::from_stored(row.slug) }).collect())
    }
}

impl Users<&mut Tx> {
    /// `false` when the address has an account.
    pub(crate) async fn insert(mut self, user: &User, password: &StoredPassword) -> Result<bool, Error> {
        let now = self.0.now();
        let foreign = ForeignHash::of(password).map(|hash| hash.cost());
        let units = foreign.map(|cost| i64::try_from(cost.units)).transpose().map_err(Error::internal)?;
        let inserted = execute!(
            self.0,
            INSERT,
            user.id.as_str(),
            user.name.as_str(),
            user.email.as_str(),
            user.email.key(),
            user.role.as_str(),
            user.is_email_verified,
            password.as_str(),
            now.millis(),
            foreign.map(|cost| cost.scheme.as_str()),
            units
        )?;
        Ok(inserted == 1)
    }

    /// Locks the account's row until this transaction ends.
    pub(crate) async fn hold(mut self, user: &UserId) -> Result<(), Error> {
        fetch_optional_of!(self.0, EpochRow, HOLD, user.as_str())?;
        Ok(())
    }

    /// The same, once no other transaction refers to it with a row that is not committed: for the end of the account.
    pub(crate) async fn hold_alone(mut self, user: &UserId) -> Result<(), Error> {
        fetch_optional_of!(self.0, EpochRow, HOLD_ALONE, user.as_str())?;
        Ok(())
    }

    /// Keeps the account from ending, and from another address, before this transaction ends; `false` when there is none.
    pub(crate) async fn refer_to(mut self, user: &UserId) -> Result<bool, Error> {
        Ok(fetch_optional_of!(self.0, EpochRow, REFER_TO, user.as_str())?.is_some())
    }

    /// Locks the account's row until this transaction ends; `false` when the account has changed since `epoch` was read.
    pub(crate) async fn hold_at(mut self, user: &UserId, epoch: i64) -> Result<bool, Error> {
        Ok(fetch_optional_of!(self.0, EpochRow, HOLD, user.as_str())?.is_some_and(|row| row.epoch == epoch))
    }

    pub(crate) async fn set_profile(mut self, user: &UserId, name: &DisplayName, profile: &Profile) -> Result<(), Error> {
        let (bio, phone) = (profile.bio.as_ref().map(Bio::as_str), profile.phone.as_ref().map(Phone::as_str));
        execute!(self.0, SET_PROFILE, user.as_str(), name.as_str(), bio, phone)?;
        self.changed(Change::ProfileChanged, user).await
    }

    /// `false` when the account changed since `epoch` was read.
    pub(crate) async fn set_password(mut self, user: &UserId, password: &StoredPassword, epoch: i64) -> Result<bool, Error> {
        Ok(execute!(self.0, SET_PASSWORD, user.as_str(), password.as_str(), epoch)? == 1)
    }

    /// Takes the account's password away: none opens it until another is set.
    pub(crate) async fn void_password(mut self, user: &UserId) -> Result<StoredPassword, Error> {
        let void = StoredPassword::void();
        execute!(self.0, VOID_PASSWORD, user.as_str(), void.as_str())?;
        Ok(void)
    }

    /// Sets the language of the person's mails. Called in the transaction of a login, which holds the account.
    pub(crate) async fn set_language(mut self, user: &UserId, language: &Language) -> Result<(), Error> {
        execute!(self.0, SET_LANGUAGE, user.as_str(), language.as_str())?;
        Ok(())
    }

    /// Sets whether the account is an operator.
    pub(crate) async fn set_role(mut self, user: &UserId, role: AccountRole) -> Result<(), Error> {
        execute!(self.0, SET_ROLE, user.as_str(), role.as_str())?;
        self.changed(Change::OperatorChanged, user).await
    }

    /// Raises the account's epoch, which ends every session that is not moved to the new epoch.
    pub(crate) async fn bump_epoch(mut self, user: &UserId) -> Result<i64, Error> {
        let row = fetch_optional!(self.0, EpochRow, BUMP_EPOCH, user.as_str())?;
        self.changed(Change::CredentialsChanged, user).await?;
        row.map(|row| row.epoch).ok_or(Error::SessionRequired)
    }

    /// Sets the address; `false` when another account has it.
    pub(crate) async fn set_email(mut self, user: &UserId, email: &Email, is_verified: bool) -> Result<bool, Error> {
        match execute!(self.0, SET_EMAIL, user.as_str(), email.as_str(), email.key(), is_verified) {
            Ok(changed) => self.changed(Change::EmailChanged, user).await.map(|()| changed == 1),
            // When two accounts take an address at once, the unique index admits one.
            Err(error) if is_duplicate(&error) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Deletes the account and every row that belongs to it.
    pub(crate) async fn delete(mut self, user: &UserId) -> Result<(), Error> {
        self.changed(Change::UserDeleted, user).await?; // before the memberships go with the account
        execute!(self.0, DELETE, user.as_str())?;
        Ok(())
    }

    /// Replaces a hash by a stronger one of the same password, unless the password has changed in the meantime.
    pub(crate) async fn rehash(mut self, user: &UserId, from: &StoredPassword, to: &StoredPassword) -> Result<(), Error> {
        execute!(self.0, REHASH, user.as_str(), to.as_str(), from.as_str())?;
        Ok(())
    }

    /// `true` when it was not verified before.
    pub(crate) async fn verify_email(mut self, user: &UserId) -> Result<bool, Error> {
        let newly = execute!(self.0, VERIFY_EMAIL, user.as_str())? == 1;
        self.changed(Change::EmailVerified, user).await?;
        Ok(newly)
    }

    /// Records a change of the account, also in each organization of the user. To be called while the account is locked, as every change
    /// of it does: a membership that is made at the same time waits, or is seen here.
    async fn changed(&mut self, change: Change, user: &UserId) -> Result<(), Error> {
        self.0.touch(change, None, user.as_str());
        for row in fetch_all!(self.0, OrganizationOfUserRow, ORGANIZATIONS_OF, user.as_str())? {
            self.0.touch(Change::AccountChanged, Some(&Id::from_stored(row.id)), user.as_str());
        }
        Ok(())
    }
}
