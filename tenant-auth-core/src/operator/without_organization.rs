//! Finding the accounts that belong to no organization. Nothing deletes them: their people left the last one themselves, or an invite kept
//! the account when its organization was removed. Whoever may not keep them without a reason deletes them with
//! [`Operator::delete_user`] (behaviour.md, B294).

use super::Operator;
use crate::{error::Error, id::UserId, model::User, time::Timestamp};

/// How many accounts are looked at together.
const AT_ONCE: usize = if cfg!(test) { 2 } else { 1_000 };

/// An account that belongs to no organization.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct AccountWithoutOrganization {
    /// The account.
    pub user: User,
    /// When it was made.
    pub created_at: Timestamp,
    /// Whether an invite waits for its address, so that its person may be about to join.
    pub is_invited: bool,
}

/// Some of the accounts that belong to no organization; see [`Operator::accounts_without_organization`].
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct AccountsWithoutOrganization {
    /// Those among the accounts that were looked at, in the order of their ids; there may be none.
    pub accounts: Vec<AccountWithoutOrganization>,
    /// After which id to look next; `None` at the end.
    pub next: Option<UserId>,
}

impl Operator {
    /// Looks at the next 1,000 accounts after an id, of all there are, for those that belong to no organization. Begin with `None`, and
    /// go on with `next` until it is `None`.
    ///
    /// # Errors
    /// [`Error::Unavailable`].
    pub async fn accounts_without_organization(&self, after: Option<&UserId>) -> Result<AccountsWithoutOrganization, Error> {
        let most = i64::try_from(AT_ONCE).map_err(Error::internal)?;
        let looked_at = self.auth.store().read().await?.without_organization().after(after, self.auth.now(), most).await?;
        let next = looked_at.last().filter(|_| looked_at.len() == AT_ONCE).map(|last| last.user.id.clone());
        let accounts = looked_at.into_iter().filter(|account| !account.is_member).map(|account| AccountWithoutOrganization {
            user: account.user,
            created_at: account.created_at,
            is_invited: account.is_invited,
        });
        Ok(AccountsWithoutOrganization { accounts: accounts.collect(), next })
    }
}

#[cfg(all(test, feature = "testing", feature = "sqlite"))]
mod tests {
    use crate::{model::Role, testing::TestAuth};

    #[tokio::test]
    async fn accounts_are_found_some_at_a_time_among_all() {
        let test = TestAuth::new().await;
        let (operator, admin) = (test.auth.operator(), test.org_admin().await);
        let mut left = Vec::new();
        for name in ["Ann", "Bea", "Cleo"] {
            let person = test.person(name, Role::Member).await;
            admin.remove_member(&person.id).await.expect("they are a member");
            left.push(person.id);
        }
        let (mut found, mut looks, mut after) = (Vec::new(), 0, None);
        loop {
            let some = operator.accounts_without_organization(after.as_ref()).await.expect("a list");
            assert!(some.accounts.len() <= super::AT_ONCE);
            found.extend(some.accounts.into_iter().map(|account| account.user.id));
            (looks, after) = (looks + 1, some.next);
            if after.is_none() {
                break;
            }
        }
        left.sort();
        assert_eq!(found, left);
        assert!(looks > 1, "more than one look was needed");
    }
}
