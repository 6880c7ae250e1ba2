//! Accepting an invite. The token in the link is the only authority: role and address come from the invite, also when the caller
//! has a session. A preview never uses up an invite; accepting does, once.

use crate::{
    account::{Entrant, Login, Opening, check_password, forget_predecessor, hand_over, mail_reset_link},
    caller::{Client, Tenant},
    error::{Error, InvalidValue},
    event::{EventKind, InviteData, UserData},
    model::{AccountRole, AuthMethod, Invite, OrgRef, Profile, Role, Status, User},
    org::{Place, join_with},
    secret::{LinkToken, Password, StoredPassword},
    store::{Account, Actor, Event, InviteRecord, Tx},
    time::Timestamp,
    value::{DisplayName, Email, password::Owner},
};

/// The registration fields of an invitee without an account. An invitee with an account sends none of them.
#[derive(Debug, Default)]
pub struct Registration {
    /// The new account's name.
    pub name: Option<DisplayName>,
    /// The new account's password.
    pub password: Option<Password>,
}

/// A preview of an invite, for the holder of its link.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct InvitePreview {
    /// The invited address.
    pub email: Email,
    /// The role the invite gives.
    pub role: Role,
    /// Until when the invite can be accepted.
    pub expires_at: Timestamp,
    /// Whether the address has an account, so that no name and password are needed.
    pub account_exists: bool,
}

/// The invitee: an existing account, or the fields of a new one.
enum Invitee {
    Known(Account),
    New(DisplayName, StoredPassword),
}

/// Whether the link of an invite opens this account, or makes one where there is none: whether the mailbox that got it is the one that the
/// account's holder, or the admin, wrote. Addresses that differ in case are one address here, and may be two mailboxes (B25).
fn opens(record: &InviteRecord, account: Option<&User>) -> bool {
    match account {
        Some(user) if record.is_to_holder => user.email == record.invite.email,
        Some(user) => user.email.is_written_as(&record.invite.email),
        None => !record.is_to_holder,
    }
}

impl Tenant {
    /// The preview of an invite; the invite is not used up.
    ///
    /// # Errors
    /// [`Error::InvalidInvite`].
    pub async fn preview_invite(&self, token: &LinkToken) -> Result<InvitePreview, Error> {
        let mut reader = self.auth.store().read().await?;
        let record = reader.invites().find_by_token(&self.org.id, token, self.auth.now()).await?.ok_or(Error::InvalidInvite)?;
        let account = reader.users().find_by_email(&record.invite.email).await?.map(|account| account.user);
        if !opens(&record, account.as_ref()) {
            return Err(Error::InvalidInvite);
        }
        let Invite { email, role, expires_at, .. } = record.invite;
        Ok(InvitePreview { email, role, expires_at, account_exists: account.is_some() })
    }

    /// Makes the invitee a member, creates the account when there is none, and opens a session; when the account has a second
    /// factor, the login first asks for its code. An account whose address was never proved before becomes the
    /// invitee's alone: its password, second factor, sessions and links end, and a link to choose a password is mailed.
    ///
    /// # Errors
    /// [`Error::InvalidInvite`]; [`Error::Invalid`] or [`Error::WeakPassword`] for a new account; [`Error::AccountExists`] when
    /// registration fields come for an address that has one; [`Error::AlreadyMember`]; [`Error::Suspended`]. The invite stays
    /// pending in each of these cases.
    pub async fn accept_invite(&self, token: &LinkToken, registration: Registration, client: Client) -> Result<Login, Error> {
        // An account that was not its owner's is handed over, once.
        let is_accepted = |error: &Error| matches!(error, Error::InvalidInvite);
        self.auth.telling(is_accepted, self.join_by_invite(token, registration, client)).await
    }

    async fn join_by_invite(&self, token: &LinkToken, registration: Registration, client: Client) -> Result<Login, Error> {
        if self.org.status == Status::Suspended {
            return Err(Error::Suspended);
        }
        let invitee = self.invitee(token, registration, &client).await?;

        let mut tx = self.auth.begin_in_turn(&self.org.id).await?;
        if let Invitee::Known(account) = &invitee {
            forget_predecessor(&mut tx, &account.user).await?;
        }
        let org = tx.organizations().lock(&self.org.id).await?.ok_or(Error::UnknownOrganization)?;
        if org.status == Status::Suspended {
            return Err(Error::Suspended);
        }
        let now = tx.now();
        let record = tx.invites().find_by_token(&org.id, token, now).await?.ok_or(Error::InvalidInvite)?;
        let metadata = tx.invites().metadata(&org.id, &record.invite.id).await?.unwrap_or_default();
        if !tx.invites().accept(&org.id, &record.invite.id).await? {
            return Err(Error::InvalidInvite);
        }
        tx.mails().cancel(&record.mail_id).await?;
        let account = self.settle(&mut tx, invitee, &record).await?;
        let (invite, actor) = (&record.invite, Actor::User(account.user.id.clone()));
        tx.push(Event::new(EventKind::InviteAccepted, &*self.org, actor.clone(), &InviteData::of(invite))?);
        let place = Place { role: invite.role, metadata };
        let membership = join_with(&mut tx, &self.org, &account.user, place, actor).await?;
        let opening = Opening { id: None, methods: vec![AuthMethod::Invite], request: client.clone(), client };
        let has_second_factor = tx.second_factors().in_force(&account.user.id).await?;
        let entrant = Entrant { account, membership, opening };
        if has_second_factor { self.wait_for_code(tx, entrant).await } else { self.enter(tx, entrant).await.map(Login::from) }
    }

    /// Finds the invitee's account; a new account's password is checked and hashed here, because hashing is too slow for a
    /// transaction.
    async fn invitee(&self, token: &LinkToken, registration: Registration, client: &Client) -> Result<Invitee, Error> {
        let mut reader = self.auth.store().read().await?;
        let record = reader.invites().find_by_token(&self.org.id, token, self.auth.now()).await?.ok_or(Error::InvalidInvite)?;
        let account = reader.users().find_by_email(&record.invite.email).await?;
        drop(reader);
        if !opens(&record, account.as_ref().map(|account| &account.user)) {
            return Err(Error::InvalidInvite);
        }
        let email = record.invite.email;
        match (account, registration) {
            (Some(account), Registration { name: None, password: None }) => Ok(Invitee::Known(account)),
            (Some(_), _) => Err(Error::AccountExists),
            (None, Registration { name: Some(name), password: Some(typed) }) => {
                let owner = Owner { email: &email, name: &name, slug: &self.org.slug, organization: &self.org.name };
                let share = self.queue_share(client);
                let checked = check_password(&self.auth, &typed, owner, &share).await?;
                let hash = self.auth.hasher().hash(&checked, &share).await?;
                Ok(Invitee::New(name, hash))
            }
            (None, Registration { name: None, .. }) => Err(InvalidValue::NameRequired.into()),
            (None, Registration { password: None, .. }) => Err(InvalidValue::PasswordRequired.into()),
        }
    }

    /// The invitee's account. Its address is verified now, because the link reached it.
    async fn settle(&self, tx: &mut Tx, invitee: Invitee, record: &InviteRecord) -> Result<Account, Error> {
        let (account, newly_verified) = match invitee {
            Invitee::Known(known) => {
                // Read again under lock: the account's epoch may have changed, and a session of an older epoch is dead; and the
                // mailbox that got the invite may not be the account's any more.
                tx.users().hold(&known.user.id).await?;
                let account = tx.users().find(&known.user.id).await?.filter(|account| opens(record, Some(&account.user)));
                let mut account = account.ok_or(Error::InvalidInvite)?;
                let newly = hand_over(tx, &self.org.id, &mut account).await?;
                if newly {
                    // Not counted as a mail that somebody asked for: it comes once in the life of an account.
                    mail_reset_link(tx, &self.org, &account.user, self.auth.config()).await?;
                }
                (account, newly)
            }
            Invitee::New(_, _) if !opens(record, None) => return Err(Error::InvalidInvite), // the account was deleted meanwhile
            Invitee::New(name, password) => {
                let user = User {
                    id: tx.new_id(),
                    name,
                    email: record.invite.email.clone(),
                    role: AccountRole::User,
                    is_email_verified: true,
                    profile: Profile::default(),
                };
                if !tx.users().insert(&user, &password).await? {
                    return Err(Error::AccountExists);
                }
                (Account { user, password, epoch: 1, language: None }, true)
            }
        };
        if newly_verified {
            let actor = Actor::User(account.user.id.clone());
            let data = UserData::of(&account.user);
            let mut orgs = tx.users().organizations_of(&account.user.id).await?;
            if !orgs.iter().any(|org| org.id == self.org.id) {
                orgs.push(OrgRef::from(&*self.org));
            }
            for org in orgs {
                tx.push(Event::new(EventKind::UserEmailVerified, org, actor.clone(), &data)?);
            }
        }
        Ok(account)
    }
}
