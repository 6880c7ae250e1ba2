//! Logging in. Unknown address and wrong password cost the same time and say the same; membership is judged only after a
//! correct password, so that nobody learns who belongs where. The password is compared before the transaction begins: the
//! session records the account's epoch as it was read then, and a password change meanwhile makes it dead on arrival.

use crate::{
    account::{Client, open_session},
    caller::Tenant,
    error::Error,
    model::{AuthMethod, Membership, Status},
    ports::Verdict,
    secret::Password,
    store::{Account, Standing},
    token::Tokens,
    value::{Email, password},
};

/// What a person logs in with.
#[derive(Debug)]
pub struct Credentials {
    /// The account's address.
    pub email: Email,
    /// The password as typed.
    pub password: Password,
    /// Where the request comes from.
    pub client: Client,
}

/// How far a login has come.
#[derive(Debug)]
#[non_exhaustive]
pub enum Login {
    /// The person is in.
    Session(Box<Opened>),
}

/// A session that was just opened.
#[derive(Debug)]
pub struct Opened {
    /// Its first tokens.
    pub tokens: Tokens,
    pub(crate) standing: Standing,
}

impl Opened {
    /// The person.
    pub fn user(&self) -> &crate::model::User {
        &self.standing.user
    }

    /// Their membership.
    pub fn membership(&self) -> &Membership {
        &self.standing.membership
    }

    /// The organization.
    pub fn organization(&self) -> &crate::model::Organization {
        &self.standing.org
    }

    /// The session.
    pub fn session(&self) -> &crate::model::Session {
        &self.standing.session
    }
}

impl Tenant {
    /// Logs a person in to this organization.
    ///
    /// # Errors
    /// [`Error::InvalidCredentials`]; after a correct password [`Error::NotAMember`] or [`Error::Suspended`];
    /// [`Error::Unavailable`] when too many logins wait.
    pub async fn login(&self, credentials: Credentials) -> Result<Login, Error> {
        let account = self.auth.store().read().await?.users().find_by_email(&credentials.email).await?;
        let (account, verdict) = self.prove(account, &credentials.password).await?;
        if self.org.status == Status::Suspended {
            return Err(Error::Suspended);
        }
        let stronger = match verdict {
            Verdict::MatchOutdated => Some(self.auth.hasher().hash(&credentials.password).await?),
            Verdict::Match | Verdict::Mismatch => None,
        };

        let now = self.auth.now();
        let mut tx = self.auth.store().begin().await?;
        let membership = tx.members().hold(&self.org.id, &account.user.id).await?.ok_or(Error::NotAMember)?;
        if membership.status == Status::Suspended {
            return Err(Error::Suspended);
        }
        if let Some(stronger) = stronger {
            tx.users().rehash(&account.user.id, &account.password, &stronger).await?;
        }
        let standing = open_session(&mut tx, self, account, membership, (AuthMethod::Password, credentials.client), now).await?;
        self.auth.commit(tx, now).await?;

        let tokens = self.auth.signer().issue(&standing.session)?;
        Ok(Login::Session(Box::new(Opened { tokens, standing })))
    }

    /// The account, once the password is proved to be its own.
    async fn prove(&self, account: Option<Account>, typed: &Password) -> Result<(Account, Verdict), Error> {
        // What is too long to be a password is compared too, as nothing, so that it takes the time of any other.
        let typed = password::normalized(typed).unwrap_or_else(|| Password::new(""));
        let verdict = self.auth.hasher().verify(&typed, account.as_ref().map(|account| &account.password)).await?;
        match (account, verdict) {
            (Some(account), Verdict::Match | Verdict::MatchOutdated) => Ok((account, verdict)),
            _ => Err(Error::InvalidCredentials),
        }
    }
}
