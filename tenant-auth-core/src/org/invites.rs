//! Invites: creating, listing, resending and revoking them. The mail leaves through the outbox, in the transaction of the invite;
//! its link holds the only copy of the token. A resent invite gets a new link, and the old link stops working.

use crate::{
    caller::{Author, OrgAdmin, OrgWrite},
    config::LinkedPage,
    error::{Error, Thing},
    event::{EventKind, InviteData},
    id::{InviteId, MailId, UserId},
    mail::{self, InvitedBy, Letter},
    model::{Invite, MailStatus, Organization, Role},
    org::tell_ended,
    page::{List, Page},
    secret::{Digest, LinkToken},
    service::TenantAuth,
    store::{Actor, Event, InviteRecord, MailKind, NewInvite, Tx},
    throttle::{DEPLOYMENT_INVITES, INVITES_TO_ADDRESS, INVITES_TO_ADDRESS_A_DAY, NEWCOMERS_INVITES, account_key},
    time::{DAY, Timestamp},
    value::{Email, SearchText},
};

/// The address and role to invite, and the inviter.
#[derive(Debug)]
pub(crate) struct Invitation<'a> {
    pub(crate) org: &'a Organization,
    pub(crate) email: &'a Email,
    pub(crate) role: Role,
    pub(crate) by: Inviter<'a>,
}

/// The inviter.
#[derive(Debug)]
pub(crate) enum Inviter<'a> {
    /// Whoever has the right of an org_admin; the invites that a member sent are revoked when that member is no admin any more.
    Admin(&'a Author),
    /// The deployment, through one of its operators.
    Operator(&'a Actor),
}

/// The rate limit of invitation mails: how many an organization's admins may send in a day, resent ones included (behaviour.md,
/// B90).
pub(crate) const MOST_INVITES_PER_DAY: u32 = 200;

impl OrgAdmin {
    /// Invites an address and mails it a link, good for seven days.
    ///
    /// # Errors
    /// [`Error::AlreadyMember`], [`Error::AlreadyInvited`]; [`Error::RateLimited`] after 200 invitation mails in a day; of an organization
    /// that sign-up made and nobody trusts after 10, after 10 to this address in an hour, or after 20 to it in a day by all of these.
    pub async fn invite(&self, email: &Email, role: Role) -> Result<Invite, Error> {
        let mut write = self.begin_write().await?;
        let invitation = Invitation { org: &write.org, email, role, by: Inviter::Admin(&write.author) };
        let (invite, _) = place_invite(self.auth(), &mut write.tx, &invitation).await?;
        write.commit().await?;
        Ok(invite)
    }

    /// The pending invites, oldest first.
    ///
    /// # Errors
    /// [`Error::Unavailable`].
    pub async fn invites(&self, page: &Page) -> Result<List<Invite>, Error> {
        self.invites_like(None, page).await
    }

    /// The pending invites whose address has this in it, oldest first.
    ///
    /// # Errors
    /// [`Error::Invalid`] for a cursor of another search or order.
    pub async fn invites_like(&self, search: Option<&SearchText>, page: &Page) -> Result<List<Invite>, Error> {
        let auth = self.auth();
        let mut reading = page.reading(&["invites", self.org_id().as_str(), search.map_or("", SearchText::as_str)])?;
        let mut reader = auth.store().read().await?;
        while let Some(bounds) = reading.wants_to_choose(search.is_some()) {
            let invites = reader.invites().list(self.org_id(), &bounds, auth.now()).await?;
            reading.take_those(invites, |invite| search.is_none_or(|text| text.is_in(invite.email.as_str())));
        }
        Ok(reading.finish())
    }

    /// Sends a pending invite again, with a new link and seven more days.
    ///
    /// # Errors
    /// [`Error::NotFound`] unless the invite is pending here; [`Error::RateLimited`] after 200 invitation mails in a day, or 1,000 by
    /// deployment keys; of an organization that sign-up made and nobody trusts as at [`Self::invite`].
    pub async fn resend_invite(&self, id: &InviteId) -> Result<Invite, Error> {
        let auth = self.auth();
        let mut write = self.begin_write().await?;
        let InviteRecord { mut invite, mail_id, .. } = self.pending(&mut write, id).await?;
        invite.expires_at = write.now().plus(auth.config().organizations.invite_ttl);
        invite.mail = MailStatus::Queued;
        write.mails().cancel(&mail_id).await?;
        let token = write.new_link_token();
        let mail = InviteMail { org: &write.org, invite: &invite, token: &token, by: invited_by(&write.author) };
        let (mail_id, digest) = mail_invite(auth, &mut write.tx, &mail).await?;
        // It may have ended with its deployment key since it was read.
        if !write.invites().renew(&NewInvite { invite: &invite, digest: &digest, mail_id: &mail_id }).await? {
            return Err(Error::NotFound(Thing::Invite));
        }
        count_for_product(&mut write.tx, &write.author.actor()).await?;
        count_for_admins(&mut write.tx, &write.org, &invite.email, invited_by(&write.author)).await?;
        write.push(EventKind::InviteResent, &InviteData::of(&invite))?;
        write.commit().await?;
        Ok(invite)
    }

    /// Revokes a pending invite; its link stops working.
    ///
    /// # Errors
    /// [`Error::NotFound`] unless the invite is pending here.
    pub async fn revoke_invite(&self, id: &InviteId) -> Result<(), Error> {
        let mut write = self.begin_write().await?;
        let InviteRecord { invite, mail_id, .. } = self.pending(&mut write, id).await?;
        if !write.invites().take(self.org_id(), id).await? {
            return Err(Error::NotFound(Thing::Invite));
        }
        write.mails().cancel(&mail_id).await?;
        write.push(EventKind::InviteRevoked, &InviteData::of(&invite))?;
        write.commit().await
    }

    async fn pending(&self, write: &mut OrgWrite, id: &InviteId) -> Result<InviteRecord, Error> {
        let now = write.now();
        write.invites().find(self.org_id(), id, now).await?.ok_or(Error::NotFound(Thing::Invite))
    }
}

/// Stores an invite with its mail and its event, in a transaction that holds the organization. An invite that a deployment key sends
/// ends with the key.
pub(crate) async fn place_invite(
    auth: &TenantAuth,
    tx: &mut Tx,
    invitation: &Invitation<'_>,
) -> Result<(Invite, LinkToken), Error> {
    let Invitation { org, email, role, by } = invitation;
    let (sender, actor, invited_by) = match by {
        Inviter::Admin(author) => (author.user(), author.actor(), invited_by(author)),
        Inviter::Operator(actor) => (None, (*actor).clone(), InvitedBy::Operator),
    };
    if tx.members().has_address(&org.id, email).await? {
        return Err(Error::AlreadyMember);
    }
    let invite = Invite {
        id: tx.new_id(),
        org_id: org.id.clone(),
        email: (*email).clone(),
        role: *role,
        invited_by: sender.map(|user| user.id.clone()),
        invited_by_email: sender.map(|user| user.email.clone()),
        created_at: tx.now(),
        expires_at: tx.now().plus(auth.config().organizations.invite_ttl),
        mail: MailStatus::Queued,
    };
    let token = tx.new_link_token();
    let (mail_id, digest) = mail_invite(auth, tx, &InviteMail { org, invite: &invite, token: &token, by: invited_by }).await?;
    // One of this address may have ended with its key: it is told of before another takes its place.
    tell_ended(tx, org).await?;
    if !tx.invites().insert_or_replace_expired(&NewInvite { invite: &invite, digest: &digest, mail_id: &mail_id }).await? {
        return Err(Error::AlreadyInvited);
    }
    count_for_product(tx, &actor).await?;
    if let Actor::DeploymentKey(key) = &actor {
        tx.invites().set_key(&org.id, &invite.id, key).await?;
    }
    count_for_admins(tx, org, &invite.email, invited_by).await?;
    if org.unproven_until.is_some() {
        tx.organizations().prove(&org.id).await?; // whoever invites means to stay
    }
    let data = InviteData::of(&invite);
    tx.push(Event::new(EventKind::InviteCreated, *org, actor, &data)?);
    Ok((invite, token))
}

/// An invite that was pending at another deployment.
pub(crate) struct MovedInvite<'a> {
    pub(crate) org: &'a Organization,
    pub(crate) id: InviteId,
    pub(crate) email: Email,
    pub(crate) role: Role,
    /// The account here of the admin who sent it, with whose right it ends; `None` where the account did not come along.
    pub(crate) invited_by: Option<UserId>,
    pub(crate) created_at: Timestamp,
}

/// Stores an invite of another deployment with a new link, which is mailed as by the operator; it is the same invite otherwise. `None` when
/// there is one with its id, or another to its address.
pub(crate) async fn place_moved_invite(auth: &TenantAuth, tx: &mut Tx, moved: MovedInvite<'_>) -> Result<Option<Invite>, Error> {
    let MovedInvite { org, id, email, role, invited_by, created_at } = moved;
    if tx.members().has_address(&org.id, &email).await? {
        return Err(Error::AlreadyMember);
    }
    let inviter = match &invited_by {
        Some(user) => tx.users().find(user).await?.map(|account| account.user.email),
        None => None,
    };
    let invite = Invite {
        id,
        org_id: org.id.clone(),
        email,
        role,
        invited_by,
        invited_by_email: inviter,
        created_at,
        expires_at: tx.now().plus(auth.config().organizations.invite_ttl),
        mail: MailStatus::Queued,
    };
    let token = tx.new_link_token();
    let mail = InviteMail { org, invite: &invite, token: &token, by: InvitedBy::Operator };
    let (mail_id, digest) = mail_invite(auth, tx, &mail).await?;
    if !tx.imports().invite(&NewInvite { invite: &invite, digest: &digest, mail_id: &mail_id }).await? {
        return Ok(None);
    }
    tx.push(Event::new(EventKind::InviteResent, org, Actor::System, &InviteData::of(&invite))?);
    Ok(Some(invite))
}

fn invited_by(author: &Author) -> InvitedBy {
    match author {
        Author::Member(_) | Author::Product(_) => InvitedBy::Admin,
        Author::Process => InvitedBy::Operator,
    }
}

/// The values that the mail of an invite shows.
struct InviteMail<'a> {
    org: &'a Organization,
    invite: &'a Invite,
    token: &'a LinkToken,
    by: InvitedBy,
}

/// Counts an invitation mail that a deployment key sends, with those of all other deployment keys.
async fn count_for_product(tx: &mut Tx, actor: &Actor) -> Result<(), Error> {
    if let Actor::DeploymentKey(_) = actor { DEPLOYMENT_INVITES.spend(tx, "all").await } else { Ok(()) }
}

/// Counts an invitation mail of an organization that anybody may have made: by its address, and in all. Such organizations share the day's
/// count of an address, for many are made soon. The rates' rows are taken after every other lock (lock order), by their keys.
async fn count_for_admins(tx: &mut Tx, org: &Organization, recipient: &Email, by: InvitedBy) -> Result<(), Error> {
    if by == InvitedBy::Operator || org.is_trusted {
        return Ok(());
    }
    let recipient = account_key(recipient);
    INVITES_TO_ADDRESS_A_DAY.spend(tx, &format!("newcomers:{recipient}")).await?;
    INVITES_TO_ADDRESS.spend(tx, &format!("{}:{recipient}", org.id)).await?;
    NEWCOMERS_INVITES.spend(tx, org.id.as_str()).await
}

/// Writes the mail of an invite to the outbox, within the rate limit; with the digest that says to which form of the address it goes. Where
/// the address has an account, that is the holder's: what an admin typed may be another's mailbox (B25). The admin is not told.
async fn mail_invite(auth: &TenantAuth, tx: &mut Tx, mail: &InviteMail<'_>) -> Result<(MailId, Digest), Error> {
    let InviteMail { org, invite, token, by } = *mail;
    let now = tx.now();
    // The organization's row is locked, so two requests cannot both pass this count.
    if by == InvitedBy::Admin
        && let Some(oldest) = tx.mails().nth_latest(&org.id, MailKind::Invite, now.minus(DAY), MOST_INVITES_PER_DAY).await?
    {
        return Err(Error::rate_limited(oldest.plus(DAY).since(now)));
    }
    let link = auth.config().link(LinkedPage::Invite, org.slug.as_str(), token.expose());
    // Members alone are named: a file that is imported may say that anybody with an account here had sent it.
    let inviter = match &invite.invited_by {
        Some(inviter) => tx.members().find(&org.id, inviter).await?.map(|member| member.name),
        None => None,
    };
    let shown = Invite { invited_by_email: invite.invited_by_email.clone().filter(|_| inviter.is_some()), ..invite.clone() };
    let letter = Letter::Invite { org, invite: &shown, inviter: inviter.as_ref(), link: &link, by };
    let holder = tx.users().find_by_email(&invite.email).await?.map(|account| account.user.email);
    let (to, digest) = match &holder {
        Some(held) if !held.is_written_as(&invite.email) => (held, token.digest_to_holder()),
        _ => (&invite.email, token.digest()),
    };
    Ok((mail::enqueue(tx, &org.id, to, &letter).await?, digest))
}
