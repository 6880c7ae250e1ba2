//! Checking a new password against the rules of `value::password`, on the threads that the service keeps for it.

use crate::{
    bounded::QueueShare,
    error::Error,
    secret::Password,
    service::TenantAuth,
    value::password::{Owner, judge},
};

/// Checks a new password against every rule, in its share's turn, and returns it in the form that is hashed.
///
/// # Errors
/// [`Error::WeakPassword`], naming each broken rule; [`Error::Unavailable`] when too many wait to be checked.
pub(crate) async fn check_password(
    auth: &TenantAuth,
    password: &Password,
    owner: Owner<'_>,
    share: &QueueShare,
) -> Result<Password, Error> {
    let (password, names) = (password.clone(), owner.names());
    let min_score = auth.config().passwords.min_score;
    auth.estimates().run(share, move || judge(&password, &names, min_score)).await
}
