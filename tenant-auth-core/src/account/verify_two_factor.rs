//! The second step of a login. Each try is counted before it is judged: on the pending login (five tries use it up), and by the
//! rate limiter on the account (ten in a quarter of an hour, fifty a day), whose owner gets a mail when that limit is reached.

use crate::{
    account::{
        Entrant, Opened, Opening,
        two_factor::{may_be_recovery, told_of_code, use_code},
    },
    caller::{Client, Tenant, hold_account},
    error::Error,
    id::{OrgId, UserId},
    mail::{self, Letter},
    metrics::LoginOutcome,
    model::{AuthMethod, Status},
    service::TenantAuth,
    store::PendingLogin,
    throttle::{Attempt, Whose, log_refused, login_completed},
};

/// How many codes may be tried on one pending login.
const MOST_ATTEMPTS: i64 = 5;

/// A login of this organization that waits for its second factor.
#[derive(Debug)]
pub struct WaitingLogin {
    tenant: Tenant,
    login: PendingLogin,
}

impl Tenant {
    /// Finds the pending login of a partial token.
    ///
    /// # Errors
    /// [`Error::SecondFactorFailed`] for a text that is no partial token, or when its login was completed, used up by wrong codes
    /// or has expired.
    pub async fn waiting_login(&self, partial_token: &str) -> Result<WaitingLogin, Error> {
        let now = self.auth.now();
        self.auth.learn_key_of(partial_token).await?;
        let id = self.auth.signer().read_partial(partial_token, now).ok_or(Error::SecondFactorFailed)?;
        let login = self.auth.store().read().await?.pending_logins().find(&self.org.id, &id, now).await?;
        Ok(WaitingLogin { tenant: self.clone(), login: login.ok_or(Error::SecondFactorFailed)? })
    }
}

impl WaitingLogin {
    /// Completes the login by a one-time password or a recovery code, and opens its session.
    ///
    /// # Errors
    /// [`Error::SecondFactorFailed`] for anything wrong, used or too late; [`Error::RateLimited`]; [`Error::Suspended`].
    pub async fn verify(self, code: &str) -> Result<Box<Opened>, Error> {
        let Self { tenant, login } = self;
        let (client, whose) = (request_of(&tenant, &login), Whose::Account(login.user_id.clone()));
        let opened = tenant.verify_second_factor(login, code).await;
        if let Err(refusal) = &opened {
            log_refused(refusal, &tenant.org.id, &client);
            tenant.note_blocked(refusal, whose, &client).await;
        }
        tenant.auth.metrics().login(LoginOutcome::of_code(&opened));
        opened
    }
}

impl Tenant {
    async fn verify_second_factor(&self, login: PendingLogin, code: &str) -> Result<Box<Opened>, Error> {
        let attempt = self.auth.code_attempt(&login.user_id, &self.client).await?;
        // A login that is used up is not judged, so another code for it is no guess and is not counted on the account.
        let outcome = match self.admit_attempt(&login).await {
            Ok(true) => self.try_code(&login, &attempt, code).await,
            Ok(false) => Err(Error::SecondFactorFailed),
            Err(error) => Err(error),
        };
        match outcome {
            Ok(Some(opened)) => {
                attempt.withdrawn().await;
                Ok(Box::new(opened))
            }
            Ok(None) => {
                self.auth.count_wrong_code(attempt, &self.org.id, &login.user_id).await?;
                Err(Error::SecondFactorFailed)
            }
            Err(error) => {
                attempt.withdrawn().await;
                Err(error)
            }
        }
    }

    /// Counts the try on the pending login before the code is judged, in a transaction of its own: the rollback after a wrong
    /// code must not undo the count.
    async fn admit_attempt(&self, login: &PendingLogin) -> Result<bool, Error> {
        let mut tx = self.auth.begin().await?;
        let admitted = tx.pending_logins().attempt(&self.org.id, &login.id, MOST_ATTEMPTS).await?;
        tx.commit().await?;
        Ok(admitted)
    }

    /// `None` when the code is wrong, or the login is gone.
    async fn try_code(&self, login: &PendingLogin, attempt: &Attempt, code: &str) -> Result<Option<Opened>, Error> {
        let mut tx = self.auth.begin().await?;
        let Some(mut account) = tx.users().find(&login.user_id).await?.filter(|account| account.epoch == login.user_epoch) else {
            return Ok(None);
        };
        let client = client_of(self, login);
        if login.method == AuthMethod::Password {
            login_completed(&mut tx, &account.user.email, &client).await?;
        }
        if may_be_recovery(code) {
            // Every organization of the person is told of a recovery code; who tells others holds the one of the session.
            tx.organizations().lock(&self.org.id).await?.ok_or(Error::UnknownOrganization)?;
            hold_account(&mut tx, &login.user_id).await?;
            // Read again while it is held: what is told of the person comes after every change that is told.
            let held = tx.users().find(&login.user_id).await?.filter(|account| account.epoch == login.user_epoch);
            let Some(held) = held else { return Ok(None) };
            account = held;
        }
        let Some(membership) = tx.members().hold(&self.org.id, &login.user_id).await? else { return Ok(None) };
        if !tx.users().hold_at(&login.user_id, login.user_epoch).await? {
            return Ok(None);
        }
        // Read anew: the wait for a verdict may last, and the organization may have been suspended or removed meanwhile.
        let org = tx.organizations().find(&self.org.id).await?.ok_or(Error::UnknownOrganization)?;
        if membership.status == Status::Suspended || org.status == Status::Suspended {
            return Err(Error::Suspended);
        }
        let used = use_code(&mut tx, &login.user_id, code).await?;
        attempt.in_time()?;
        let Some(used) = used else { return Ok(None) };
        if !tx.pending_logins().take(&self.org.id, &login.id).await? {
            return Ok(None);
        }
        tx.ask_for(self.client.language.clone());
        let then = told_of_code(&mut tx, used, &self.org.id, &account.user).await?;
        let opening = Opening {
            id: Some(login.id.clone()),
            methods: vec![login.method, AuthMethod::Otp],
            request: request_of(self, login),
            client,
        };
        self.enter_telling(tx, Entrant { account, membership, opening }, then).await.map(Some)
    }
}

/// The client of the login's first step.
fn client_of(tenant: &Tenant, login: &PendingLogin) -> Client {
    Client {
        ip: login.ip.as_deref().and_then(|ip| ip.parse().ok()),
        stated_by: login.is_ip_stated.then(|| tenant.org.id.clone()),
        user_agent: login.user_agent.clone(),
        // That of the second step's own request.
        language: tenant.client.language.clone(),
    }
}

/// The client of the second step, where the host says whose it is ([`Tenant::seen_from`]); else that of the first.
fn request_of(tenant: &Tenant, login: &PendingLogin) -> Client {
    let is_known = tenant.client.ip.is_some() || tenant.client.user_agent.is_some();
    if is_known { tenant.client.clone() } else { client_of(tenant, login) }
}

impl TenantAuth {
    /// Counts a wrong code against the account's limits, and mails the account's owner when a limit is reached: whoever gets as far
    /// as entering codes knows the password.
    pub(crate) async fn count_wrong_code(&self, attempt: Attempt, org: &OrgId, user: &UserId) -> Result<(), Error> {
        let mut tx = self.begin().await?;
        if attempt.failed_in(&mut tx).await?
            && let Some(account) = tx.users().find(user).await?
        {
            mail::enqueue(&mut tx, org, &account.user.email, &Letter::CodesGuessed).await?;
        }
        tx.commit().await
    }
}
