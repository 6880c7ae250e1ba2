//! Sign-up: anybody makes an organization of their own, by a link mailed to their address. Asking for the link answers the same for every
//! address, and the worker mails it whether or not the address has an account, so that nothing tells who has one; whoever holds the link
//! reads that address's mail, and may know.
//!
//! What must stay true: a link makes one organization at most; no founder's account rests on an address that was not proved; an account
//! whose address was proved is used by its password and second factor alone.

mod completion;
mod limits;
mod mailing;
mod newcomer;
mod refused;
mod slugs;

pub use completion::SignUpCompletion;
pub(crate) use mailing::SignUpPost;
pub(crate) use slugs::is_reserved;

use crate::{
    caller::Client,
    error::Error,
    model::User,
    secret::LinkToken,
    service::TenantAuth,
    store::Reader,
    throttle::{SIGN_UP_REQUESTS, wide_network_of},
    value::Email,
};

/// A preview of a sign-up, for the holder of its link.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct SignUpPreview {
    /// The address that the link was mailed to.
    pub email: Email,
    /// Whether an account has proved the address, so that its password is asked for instead of a name and a new one. An account whose
    /// address was never proved counts as none: the link's holder will own it.
    pub account_exists: bool,
}

/// The account that a link's address has.
///
/// # Errors
/// [`Error::InvalidLink`] where another's mailbox may have got the link, before there was the account (B25).
async fn account_of(reader: &mut Reader, email: &Email) -> Result<Option<User>, Error> {
    let account = reader.users().find_by_email(email).await?.map(|account| account.user);
    match account {
        Some(user) if !user.email.is_written_as(email) => Err(Error::InvalidLink),
        account => Ok(account),
    }
}

impl TenantAuth {
    /// Requests a mail with a link that makes an organization. The answer does not reveal whether the address has an account. One
    /// request waits for each address: asking again while it waits renews it.
    ///
    /// # Errors
    /// [`Error::SignUpClosed`]; [`Error::RateLimited`] beyond 30 requests of the client's network in 15 minutes.
    pub async fn request_sign_up(&self, email: &Email, client: &Client) -> Result<(), Error> {
        self.refuse_closed_sign_up()?;
        let network = wide_network_of(client);
        if let Some(network) = &network {
            SIGN_UP_REQUESTS.refuse_spent(self, network).await?;
        }
        let mut tx = self.begin().await?;
        if let Some(network) = &network {
            SIGN_UP_REQUESTS.spend(&mut tx, network).await?;
        }
        tx.sign_ups().request(email, client.language.as_ref()).await?;
        tx.commit().await
    }

    /// The preview of a sign-up; its link is not used up.
    ///
    /// # Errors
    /// [`Error::SignUpClosed`]; [`Error::InvalidLink`].
    pub async fn preview_sign_up(&self, token: &LinkToken) -> Result<SignUpPreview, Error> {
        self.refuse_closed_sign_up()?;
        let mut reader = self.store().read().await?;
        let email = reader.sign_ups().find_link(&token.digest(), self.now()).await?.ok_or(Error::InvalidLink)?;
        let account_exists = account_of(&mut reader, &email).await?.is_some_and(|user| user.is_email_verified);
        Ok(SignUpPreview { email, account_exists })
    }

    fn refuse_closed_sign_up(&self) -> Result<(), Error> {
        if self.config().sign_up.is_open { Ok(()) } else { Err(Error::SignUpClosed) }
    }
}
