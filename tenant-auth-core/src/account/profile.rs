//! The person's own profile. The account is the same in all organizations, so each organization gets the event of a change.

use crate::{
    account::tell_user,
    caller::Member,
    error::Error,
    event::{EventKind, UserData},
    model::{Profile, User},
    throttle::PROFILE_CHANGES,
    value::DisplayName,
};

/// A new profile; it replaces the old one, and a field that is left out is removed.
#[derive(Debug)]
pub struct ProfileUpdate {
    /// The person's name.
    pub name: DisplayName,
    /// The optional fields.
    pub profile: Profile,
}

impl Member {
    /// Replaces name and profile.
    ///
    /// # Errors
    /// [`Error::SessionRequired`] or [`Error::Suspended`] when the session or the right ended meanwhile; [`Error::RateLimited`] beyond
    /// 60 changes in an hour.
    pub async fn update_profile(&self, update: ProfileUpdate) -> Result<User, Error> {
        PROFILE_CHANGES.refuse_spent_by(self).await?;
        let mut write = self.begin_own_write().await?;
        PROFILE_CHANGES.spend_by_caller(&mut write).await?;
        let previous = write.live.user.clone();
        let user = User { name: update.name, profile: update.profile, ..previous.clone() };
        write.users().set_profile(&user.id, &user.name, &user.profile).await?;
        let data = UserData::changed(&user, &previous);
        tell_user(&mut write.tx, EventKind::UserUpdated, &self.actor(), &data).await?;
        write.commit().await?;
        Ok(user)
    }
}
