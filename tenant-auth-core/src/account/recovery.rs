//! Password reset. A request writes one row and gets the same answer for every address, so that it does not reveal accounts; a
//! worker finds out later whether there is a member to mail. Using the link ends every session and opens none: the next login asks
//! for the second factor as usual.

use std::time::Duration;

use crate::{
    account::{Ending, check_password, forget_predecessor, hand_over, tell_ended, tell_user},
    caller::{Client, Tenant, hold_account},
    config::{Config, LinkedPage},
    error::Error,
    event::{EndReason, EventKind, UserData},
    id::DeliveryId,
    mail::{self, Letter},
    model::{Organization, Status, User},
    secret::{LinkToken, Password},
    service::TenantAuth,
    store::{Actor, LinkPurpose, MailedLink, ResetRequest, Tx},
    throttle::{RESET_REQUESTS, count_mail, forgive_passwords, wide_network_of},
    time::Timestamp,
    value::{Email, password::Owner},
};

/// How long a reset link works (behaviour.md, B60).
const LINK_TTL: Duration = Duration::from_secs(30 * 60);
/// How many requests one transaction fulfils. SQLite has one writer at a time, so transactions must be short.
const BATCH: u32 = 50;

/// What a mailed link does that resets a password or verifies an address.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct LinkPreview {
    /// Whether it resets the password; it verifies the address otherwise.
    pub resets: bool,
    /// The address of the account, to which the link was mailed.
    pub email: Email,
}

impl Tenant {
    /// Looks at a mailed link that resets a password or verifies an address, and does not use it up.
    ///
    /// # Errors
    /// [`Error::InvalidLink`], also when the account has another address by now.
    pub async fn preview_link(&self, token: &LinkToken) -> Result<LinkPreview, Error> {
        let (digest, now) = (token.digest(), self.auth.now());
        let mut reader = self.auth.store().read().await?;
        for purpose in [LinkPurpose::ResetPassword, LinkPurpose::VerifyEmail] {
            let Some((user, email)) = reader.links().find(&self.org.id, purpose, &digest, now).await? else { continue };
            if reader.users().find(&user).await?.is_some_and(|account| account.user.email == email) {
                return Ok(LinkPreview { resets: purpose == LinkPurpose::ResetPassword, email });
            }
        }
        Err(Error::InvalidLink)
    }

    /// Requests a mail with a link that resets the password. The answer does not reveal whether the address has an account. One
    /// request waits for each address in the organization: asking again while it waits renews it.
    ///
    /// # Errors
    /// [`Error::RateLimited`] beyond 30 requests of the client's network in 15 minutes.
    pub async fn request_password_reset(&self, email: &Email, client: &Client) -> Result<(), Error> {
        let network = wide_network_of(client);
        if let Some(network) = &network {
            RESET_REQUESTS.refuse_spent(&self.auth, network).await?;
        }
        let mut tx = self.auth.begin().await?;
        if let Some(network) = &network {
            RESET_REQUESTS.spend(&mut tx, network).await?;
        }
        tx.links().request_reset(&self.org.id, email, client.language.as_ref()).await?;
        tx.commit().await
    }

    /// Sets a new password by a mailed link. Every session of the account ends, and the other links of its owner stop working.
    /// Where the address was never verified before, the link verifies it and removes a second factor that somebody enabled until
    /// then (`account/first_proof.rs`). The rate limiter forgets the account's wrong passwords; it keeps the wrong codes, because
    /// whoever reads the mailbox could otherwise guess codes without limit.
    ///
    /// # Errors
    /// [`Error::InvalidLink`]; [`Error::WeakPassword`], which leaves the link usable.
    pub async fn reset_password(&self, token: &LinkToken, new: &Password) -> Result<(), Error> {
        let is_used = |error: &Error| matches!(error, Error::InvalidLink);
        self.auth.telling(is_used, self.set_password_by_link(token, new)).await
    }

    async fn set_password_by_link(&self, token: &LinkToken, new: &Password) -> Result<(), Error> {
        let digest = token.digest();
        let mut reader = self.auth.store().read().await?;
        let link = reader.links().find(&self.org.id, LinkPurpose::ResetPassword, &digest, self.auth.now()).await?;
        let (user_id, address) = link.ok_or(Error::InvalidLink)?;
        let account = reader.users().find(&user_id).await?.ok_or(Error::InvalidLink)?;
        drop(reader);
        let user = account.user;
        let owner = Owner { email: &user.email, name: &user.name, slug: &self.org.slug, organization: &self.org.name };
        let share = self.client.queue_share(&self.org.id);
        let checked = check_password(&self.auth, new, owner, &share).await?;
        let hash = self.auth.hasher().hash(&checked, &share).await?;

        let mut tx = self.auth.begin().await?;
        tx.serve(self.client.request_in(&self.org.id, None));
        forgive_passwords(&mut tx, &user.email).await?;
        forget_predecessor(&mut tx, &user).await?;
        hold_account(&mut tx, &user.id).await?;
        tx.links().take(&self.org.id, LinkPurpose::ResetPassword, &digest).await?.ok_or(Error::InvalidLink)?;
        // Read again under lock: the mailbox that got the link may not be the account's any more.
        let account = tx.users().find(&user.id).await?.filter(|account| account.user.email == address);
        let mut account = account.ok_or(Error::InvalidLink)?;
        let is_first_proof = hand_over(&mut tx, &self.org.id, &mut account).await?;
        let user = account.user;
        let epoch = tx.users().bump_epoch(&user.id).await?;
        if !tx.users().set_password(&user.id, &hash, epoch).await? {
            return Err(Error::InvalidLink);
        }
        tx.links().end_of_user(&user.id, LinkPurpose::ResetPassword).await?;
        tx.links().end_of_user(&user.id, LinkPurpose::ChangeEmail).await?;
        tx.pending_logins().end_of_user(&user.id).await?;
        let ended = tx.sessions().end_of_user(&user.id, None).await?;
        let actor = Actor::User(user.id.clone());
        let data = UserData::of(&user);
        if is_first_proof {
            tell_user(&mut tx, EventKind::UserEmailVerified, &actor, &data).await?;
        }
        tell_user(&mut tx, EventKind::UserPasswordChanged, &actor, &data).await?;
        tell_ended(&mut tx, &ended, &Ending { reason: EndReason::Password, actor }).await?;
        mail::enqueue(&mut tx, &self.org.id, &user.email, &Letter::PasswordChanged).await?;
        tx.commit().await
    }
}

/// Fulfils requests for reset mails, as many as one transaction takes; `true` when there were any. Called by the worker. A request
/// that cannot be fulfilled is logged and dropped, so that it hinders no other.
///
/// # Errors
/// [`Error::Unavailable`]; the requests wait on then.
pub(crate) async fn fulfil_reset_requests(auth: &TenantAuth) -> Result<bool, Error> {
    let waiting = auth.store().read().await?.links().reset_requests(BATCH).await?;
    match fulfil_all(auth, &waiting).await {
        Ok(()) => return Ok(!waiting.is_empty()),
        Err(error @ Error::Unavailable(_)) => return Err(error),
        // One of them failed; each has a transaction of its own now.
        Err(_) => {}
    }
    for request in &waiting {
        match fulfil_all(auth, std::slice::from_ref(request)).await {
            Err(error @ Error::Unavailable(_)) => return Err(error),
            Err(error) => {
                tracing::error!(request = %request, error = %error.causes(), "a request for a reset mail cannot be fulfilled; it is dropped");
                let mut tx = auth.begin().await?;
                tx.links().take_reset_request(request).await?;
                tx.commit().await?;
            }
            Ok(()) => {}
        }
    }
    Ok(true)
}

async fn fulfil_all(auth: &TenantAuth, requests: &[DeliveryId]) -> Result<(), Error> {
    if requests.is_empty() {
        return Ok(());
    }
    let mut tx = auth.begin().await?;
    for request in requests {
        if let Some(request) = tx.links().take_reset_request(request).await? {
            fulfil(&mut tx, &request, auth.config()).await?;
        }
    }
    tx.commit().await
}

/// Mails a link when the address belongs to a member of an active organization and has not reached its limit of mails per hour. A
/// request older than the link would have lived is dropped: nobody waits for its mail any more.
async fn fulfil(tx: &mut Tx, request: &ResetRequest, config: &Config) -> Result<(), Error> {
    if request.asked_at.plus(LINK_TTL) <= tx.now() {
        return Ok(());
    }
    let Some(org) = tx.organizations().find(&request.org_id).await?.filter(|org| org.status == Status::Active) else {
        return Ok(());
    };
    let Some(account) = tx.users().find_by_email(&request.email).await? else { return Ok(()) };
    let user = account.user;
    if tx.members().find(&org.id, &user.id).await?.is_none() {
        return Ok(());
    }
    // The address as stored: the one typed may differ in case, and mail goes to the stored form only.
    match count_mail(tx, LinkPurpose::ResetPassword, &user.email).await {
        Err(Error::RateLimited { .. }) => return Ok(()),
        counted => counted?,
    }
    tx.ask_for(request.language.clone());
    mail_reset_link(tx, &org, &user, config).await
}

/// Mails a link by which the person sets a new password.
pub(crate) async fn mail_reset_link(tx: &mut Tx, org: &Organization, user: &User, config: &Config) -> Result<(), Error> {
    let until = tx.now().plus(LINK_TTL);
    let url = place_reset_link(tx, org, user, until, config).await?;
    mail::enqueue(tx, &org.id, &user.email, &Letter::ResetPassword { link: &url, until }).await?;
    Ok(())
}

/// Mails a person whose account somebody else made a link by which they choose a password. It works as long as an invite does.
pub(crate) async fn mail_welcome_link(tx: &mut Tx, org: &Organization, user: &User, config: &Config) -> Result<(), Error> {
    let until = tx.now().plus(config.organizations.invite_ttl);
    let link = place_reset_link(tx, org, user, until, config).await?;
    let letter = Letter::Welcome { organization: &org.name, link: &link, until };
    mail::enqueue(tx, &org.id, &user.email, &letter).await?;
    Ok(())
}

/// Stores a link that sets a password, and returns its URL.
async fn place_reset_link(
    tx: &mut Tx,
    org: &Organization,
    user: &User,
    until: Timestamp,
    config: &Config,
) -> Result<String, Error> {
    let link = MailedLink {
        org_id: org.id.clone(),
        user_id: user.id.clone(),
        purpose: LinkPurpose::ResetPassword,
        email: user.email.clone(),
        created_at: tx.now(),
        expires_at: until,
    };
    let token = tx.new_link_token();
    let id = tx.new_id();
    tx.links().insert(&id, &link, &token.digest()).await?;
    Ok(config.link(LinkedPage::Reset, org.slug.as_str(), token.expose()))
}
