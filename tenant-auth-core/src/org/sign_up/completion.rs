//! Completing a sign-up: the organization, its first org_admin and their session, in one transaction with the use of the link. Passwords
//! are compared and hashed before it; what they were compared with is judged again inside.

use std::{fmt, sync::Arc, time::Duration};

use super::{account_of, limits, newcomer::Newcomer, refused::Refused, slugs::is_reserved};
use crate::{
    account::{
        Entrant, Opened, Opening, TypedPassword, check_password, events_of_user,
        two_factor::{told_of_code, use_code},
    },
    bounded::QueueShare,
    caller::{Client, Tenant, hold_account},
    error::{Error, InvalidValue},
    event::{EventKind, NewOrgData, UserData},
    id::OrgId,
    model::{AuthMethod, Organization, Role, Status, User},
    org::join,
    secret::{LinkToken, Password},
    service::TenantAuth,
    store::{Account, Actor, DeploymentDeed, Event, Tx},
    throttle::{Attempt, log_refused},
    time::DAY,
    value::{DisplayName, Email, Plan, Slug, password::Owner},
};

/// What somebody brings to make an organization of their own.
#[derive(Clone)]
pub struct SignUpCompletion {
    /// The token of the link that was mailed.
    pub token: LinkToken,
    /// The organization's name.
    pub organization: DisplayName,
    /// The organization's slug.
    pub slug: Slug,
    /// The person's name: for an address that no account has proved, and for no other.
    pub name: Option<DisplayName>,
    /// The password of the account that has proved the address, or a new one.
    pub password: Option<Password>,
    /// A code of the account's second factor, where it has one.
    pub code: Option<String>,
}

/// Without the code: a recovery code stays good until it is used.
impl fmt::Debug for SignUpCompletion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SignUpCompletion").field("slug", &self.slug).finish_non_exhaustive()
    }
}

/// The person who makes the organization.
enum Founder {
    /// Somebody whose account has proved the address.
    Known {
        account: Account,
        has_second_factor: bool,
    },
    New(Newcomer),
}

/// How long an organization waits for somebody to come back to it (behaviour.md, B202).
const UNPROVEN: Duration = DAY.saturating_mul(14);
/// What stands for the organization that there is not yet, in the turns of the hashing queue and in the log.
const NO_ORGANIZATION: &str = "sign-up";

impl TenantAuth {
    /// Makes an organization, its first org_admin, and a session. An address without an account gets one, which the link verifies. An
    /// account whose address was never proved before counts as none: the link's holder alone owns it from then on, with this name and
    /// password, and its sessions, links, former password and second factor end.
    ///
    /// # Errors
    /// [`Error::SignUpClosed`]; [`Error::InvalidLink`]; [`Error::SlugReserved`]; [`Error::SlugTaken`]; for an address that an account
    /// has proved [`Error::AccountExists`] where a name comes, [`Error::WrongPassword`] and [`Error::WrongCode`]; for any other
    /// [`Error::WeakPassword`], and [`Error::AccountExists`] when it was proved meanwhile; [`Error::Invalid`] where something is
    /// missing; [`Error::RateLimited`]. The link stays good in each of these cases.
    pub async fn complete_sign_up(&self, sign_up: SignUpCompletion, client: Client) -> Result<Opened, Error> {
        // An account that was not its owner's is handed over, once.
        let is_made = |error: &Error| matches!(error, Error::InvalidLink | Error::SlugTaken | Error::AccountExists);
        let (slug, by, token) = (sign_up.slug.clone(), client.clone(), sign_up.token.digest());
        let made = async {
            let mut made = self.found(sign_up, client).await;
            if matches!(&made, Err(refused) if matches!(refused.error, Error::AccountExists)) {
                // Of completions by one link at once, the first one made the account. To the others it is a link that was used.
                let link = self.store().read().await?.sign_ups().find_link(&token, self.now()).await?;
                made = made.map_err(|refused| if link.is_some() { refused } else { Error::InvalidLink.into() });
            }
            if let Err(refused) = &made {
                self.tell_refused(refused, slug, &by).await;
            }
            made.map_err(|refused| refused.error)
        };
        self.telling(is_made, made).await
    }

    async fn found(&self, sign_up: SignUpCompletion, client: Client) -> Result<Opened, Refused> {
        self.refuse_closed_sign_up()?;
        let (email, account) = self.invited_to_sign_up(&sign_up).await?;
        limits::refuse_spent(self, account.as_ref(), &client).await?;
        let share = client.queue_share(&OrgId::from_stored(NO_ORGANIZATION));
        let code = sign_up.code.clone();
        let founder = match account {
            Some(user) if user.is_email_verified => self.known_founder(user, &sign_up, (&client, share)).await?,
            Some(_) | None => self.new_founder(&email, &sign_up, &share).await?,
        };
        let founding = Founding { auth: self, sign_up, email, client };
        match founder {
            Founder::Known { account, has_second_factor: true } => {
                let code = code.ok_or(Error::from(InvalidValue::CodeRequired))?;
                founding.with_code(account, &code).await
            }
            founder => founding.run(founder, None).await?.ok_or(Error::WrongCode.into()),
        }
    }

    /// The address of the link and the account that it has, once nothing else stands against the organization.
    async fn invited_to_sign_up(&self, sign_up: &SignUpCompletion) -> Result<(Email, Option<User>), Error> {
        let mut reader = self.store().read().await?;
        let email = reader.sign_ups().find_link(&sign_up.token.digest(), self.now()).await?.ok_or(Error::InvalidLink)?;
        if is_reserved(self.config(), &sign_up.slug) {
            return Err(Error::SlugReserved);
        }
        // Judged again at the insertion; here it saves a hash.
        if reader.organizations().find_by_slug(&sign_up.slug).await?.is_some() {
            return Err(Error::SlugTaken);
        }
        let account = account_of(&mut reader, &email).await?;
        Ok((email, account))
    }

    async fn known_founder(&self, user: User, sign_up: &SignUpCompletion, by: (&Client, QueueShare)) -> Result<Founder, Error> {
        if sign_up.name.is_some() {
            return Err(Error::AccountExists);
        }
        let (client, share) = by;
        let password = sign_up.password.as_ref().ok_or(InvalidValue::PasswordRequired)?;
        let account = match self.confirm_password(&user, TypedPassword { password, client, share }).await {
            Err(Error::SessionRequired) => return Err(Error::InvalidLink), // the account was deleted meanwhile
            confirmed => confirmed?,
        };
        let factor = self.store().read().await?.second_factors().find(&account.user.id).await?;
        let has_second_factor = factor.is_some_and(|factor| factor.enabled_at().is_some());
        Ok(Founder::Known { account, has_second_factor })
    }

    async fn new_founder(&self, email: &Email, sign_up: &SignUpCompletion, share: &QueueShare) -> Result<Founder, Error> {
        let name = sign_up.name.clone().ok_or(InvalidValue::NameRequired)?;
        let typed = sign_up.password.as_ref().ok_or(InvalidValue::PasswordRequired)?;
        let owner = Owner { email, name: &name, slug: &sign_up.slug, organization: &sign_up.organization };
        let checked = check_password(self, typed, owner, share).await?;
        let password = self.hasher().hash(&checked, share).await?;
        Ok(Founder::New(Newcomer { name, password }))
    }
}

/// An organization about to be made.
struct Founding<'a> {
    auth: &'a TenantAuth,
    sign_up: SignUpCompletion,
    email: Email,
    client: Client,
}

impl Founding<'_> {
    /// Makes the organization of somebody with a second factor.
    async fn with_code(&self, account: Account, code: &str) -> Result<Opened, Refused> {
        let user = account.user.id.clone();
        let attempt = self.auth.code_attempt(&user, &self.client).await?;
        let outcome = self.run(Founder::Known { account, has_second_factor: true }, Some((&attempt, code))).await;
        // SQLite has one writer: the attempt is settled in the transaction, or after that was given up.
        match outcome {
            Ok(Some(opened)) => Ok(opened),
            Ok(None) => {
                let orgs = self.auth.store().read().await?.users().organizations_of(&user).await?;
                match orgs.first() {
                    Some(org) => self.auth.count_wrong_code(attempt, &org.id, &user).await?,
                    None => attempt.failed().await?,
                }
                log_refused(&Error::WrongCode, &OrgId::from_stored(NO_ORGANIZATION), &self.client);
                Err(Error::WrongCode.into())
            }
            Err(refused) => {
                attempt.withdrawn().await;
                Err(refused)
            }
        }
    }

    /// The transaction; `None` when the code is wrong, which undoes it.
    async fn run(&self, founder: Founder, code: Option<(&Attempt, &str)>) -> Result<Option<Opened>, Refused> {
        let mut tx = self.auth.begin().await?;
        if let Some((attempt, _)) = code {
            attempt.released(&mut tx).await?;
        }
        let org = Organization {
            id: tx.new_id(),
            name: self.sign_up.organization.clone(),
            slug: self.sign_up.slug.clone(),
            plan: Plan::default(),
            status: Status::Active,
            app_url: None,
            created_at: tx.now(),
            allowed_origins: Vec::new(),
            deletes_at: None,
            is_trusted: false,
            unproven_until: Some(tx.now().plus(UNPROVEN)),
        };
        // When several take a slug at once, the unique index admits one.
        if !tx.organizations().insert(&org).await? {
            return Err(Error::SlugTaken.into());
        }
        let (mut methods, mut used) = (vec![AuthMethod::Password], None);
        let (account, newly_verified) = self.settle(&mut tx, &org.id, founder).await?;
        if let Some((attempt, code)) = code {
            used = use_code(&mut tx, &account.user.id, code).await?;
            attempt.in_time()?;
            if used.is_none() {
                return Ok(None);
            }
            methods.push(AuthMethod::Otp);
        }
        if !tx.sign_ups().take_link(&self.sign_up.token.digest()).await? {
            return Err(Error::InvalidLink.into());
        }
        let actor = Actor::User(account.user.id.clone());
        tx.record(actor.clone(), DeploymentDeed::OrganizationCreated((&org).into()));
        tx.push(Event::new(EventKind::OrgCreated, &org, actor.clone(), &NewOrgData::of(&org))?);
        let membership = join(&mut tx, &org, &account.user, Role::OrgAdmin, actor).await?;
        limits::spend(&mut tx, self.auth.config(), &account.user, &self.client).await?;
        tx.ask_for(self.client.language.clone());
        let then = match used {
            Some(used) => told_of_code(&mut tx, used, &org.id, &account.user).await?,
            None if newly_verified => told_everywhere(&mut tx, &account.user).await?,
            None => Vec::new(),
        };
        let tenant = Tenant { auth: self.auth.clone(), org: Arc::new(org), client: self.client.clone() };
        let opening = Opening { id: None, methods, request: self.client.clone(), client: self.client.clone() };
        Ok(Some(tenant.enter_telling(tx, Entrant { account, membership, opening }, then).await?))
    }

    /// The founder's account, locked, and whether its address is verified only now.
    async fn settle(&self, tx: &mut Tx, org: &OrgId, founder: Founder) -> Result<(Account, bool), Error> {
        let account = match founder {
            Founder::New(newcomer) => return Ok((newcomer.settle(tx, org, &self.email).await?, true)),
            Founder::Known { account, .. } => account,
        };
        // With the memberships, too: no organization is told of a recovery code after the person has gone from there.
        hold_account(tx, &account.user.id).await?;
        // Race: the epoch has moved on when the password or the second factor was changed after they were compared.
        if !tx.users().hold_at(&account.user.id, account.epoch).await? {
            return Err(Error::WrongPassword);
        }
        // Read again under lock: the mailbox that got the link may not be the account's any more.
        let account = tx.users().find(&account.user.id).await?.filter(|account| account.user.email.is_written_as(&self.email));
        Ok((account.ok_or(Error::InvalidLink)?, false))
    }
}

/// The proof of a member's address, for each organization of the member.
async fn told_everywhere(tx: &mut Tx, user: &User) -> Result<Vec<Event>, Error> {
    events_of_user(tx, EventKind::UserEmailVerified, &Actor::User(user.id.clone()), &UserData::of(user)).await
}
