//! Members as a customer's backend reads them with an API key. An account that is no member of the key's organization is not found.

use crate::{
    caller::Backend,
    error::{Error, Thing},
    id::UserId,
    model::{MemberEntry, MemberFilter, Membership, User},
    org::{ReadBy, list_members, list_members_with_sequence},
    page::{List, Page},
    scope::{MembersRead, UsersRead},
};

impl Backend<UsersRead> {
    /// A member's account and membership.
    ///
    /// # Errors
    /// [`Error::NotFound`] unless the user is a member.
    pub async fn user(&self, user: &UserId) -> Result<(User, Membership), Error> {
        let mut reader = self.auth.store().read().await?;
        let member = reader.members().find(&self.org.id, user).await?.ok_or(Error::NotFound(Thing::Member))?;
        let account = reader.users().find(user).await?.ok_or(Error::NotFound(Thing::Member))?;
        Ok((account.user, member.membership))
    }
}

impl Backend<MembersRead> {
    /// The organization's members, by the time they joined.
    ///
    /// # Errors
    /// [`Error::Unavailable`].
    pub async fn members(&self, page: &Page) -> Result<List<MemberEntry>, Error> {
        self.members_like(&MemberFilter::default(), page).await
    }

    /// The members whom a filter chooses, by the time they joined.
    ///
    /// # Errors
    /// [`Error::Invalid`] for a cursor of another list, filter or order.
    pub async fn members_like(&self, filter: &MemberFilter, page: &Page) -> Result<List<MemberEntry>, Error> {
        list_members(ReadBy::Backend, &self.auth, &self.org.id, filter, page).await
    }

    /// The same for whoever keeps a copy: beside the first page the number of the organization's last event, both of one moment. What
    /// that event and those before it did is in the page. Later events are to be applied, also where a later page shows their effect
    /// already. So list and events together are true to the members.
    ///
    /// # Errors
    /// As [`Backend::members_like`].
    pub async fn members_to_copy(&self, filter: &MemberFilter, page: &Page) -> Result<(List<MemberEntry>, Option<i64>), Error> {
        if !page.is_first() {
            return Ok((self.members_like(filter, page).await?, None));
        }
        match list_members_with_sequence(&self.auth, &self.org.id, filter, page).await {
            Ok((list, sequence)) => Ok((list, Some(sequence))),
            Err(Error::UnknownOrganization) => Err(Error::InvalidApiKey), // it was removed meanwhile
            Err(error) => Err(error),
        }
    }

    /// One entry of the member list.
    ///
    /// # Errors
    /// [`Error::NotFound`] unless the user is a member.
    pub async fn member(&self, user: &UserId) -> Result<MemberEntry, Error> {
        let member = self.auth.store().read().await?.members().find(&self.org.id, user).await?;
        member.ok_or(Error::NotFound(Thing::Member))
    }
}
