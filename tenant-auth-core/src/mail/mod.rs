//! Mails and their outbox. A mail is composed in the transaction that causes it (`letters.rs`), sealed, and stored in the outbox,
//! from which a worker sends it. Links come from the settings alone, never from a request, so that a forged `Host` header cannot
//! steer them.

mod attempts;
mod letters;
mod render;

use std::time::Duration;

use zeroize::Zeroizing;

use crate::{
    caller::Author,
    config::Product,
    error::Error,
    id::{MailId, OrgId},
    model::User,
    ports::Message,
    sealed::SealContext,
    service::TenantAuth,
    store::{ClaimedMail, OutgoingMail, Tx},
    throttle::{NOTICES, NOTICES_TO_AUTHOR, OWN_NOTICES},
    time::DAY,
    value::{Email, Language},
};

pub(crate) use attempts::{HELD_FOR, LEASE, RETRIES, comes_too_late, hand_over, keep_claimed, record_while_claimed, wait_after};
pub(crate) use letters::{InvitedBy, Letter};

/// How long a notice may still be sent, where nothing leaves meanwhile: it has no link that could expire.
const NOTICE_KEPT: Duration = DAY.saturating_mul(30);

/// Writes a letter to the outbox within a transaction, in the language that the recipient's browser asked for at the last login, else in
/// that of the request that the transaction serves, else in English (behaviour.md, B242). The letter is not sent once its link has expired.
pub(crate) async fn enqueue(tx: &mut Tx, org: &OrgId, recipient: &Email, letter: &Letter<'_>) -> Result<MailId, Error> {
    let (id, now): (MailId, _) = (tx.new_id(), tx.now());
    let language = language_for(tx, recipient, tx.language().cloned().as_ref()).await?;
    let message = letter.to(recipient, tx.product(), tx.languages().of(language.as_ref()), tx.mail_templates())?;
    let plain = Zeroizing::new(serde_json::to_vec(&message).map_err(Error::internal)?);
    let sealed = tx.seal(&plain, seal_context(&id, org))?;
    let mail = OutgoingMail {
        id: id.clone(),
        org_id: org.clone(),
        kind: letter.kind(),
        recipient_domain: recipient.domain(),
        sealed,
        created_at: now,
        useless_after: letter.link_ends().unwrap_or_else(|| now.plus(NOTICE_KEPT)),
    };
    tx.mails().insert(&mail).await?;
    Ok(id)
}

/// The language of a mail: that of the recipient's last login, else the one that is asked for.
pub(crate) async fn language_for(tx: &mut Tx, recipient: &Email, asked: Option<&Language>) -> Result<Option<Language>, Error> {
    Ok(tx.users().language_of(recipient).await?.or_else(|| asked.cloned()))
}

/// Writes a notice to every active org_admin, except to the one the notice is about.
pub(crate) async fn tell_admins(tx: &mut Tx, org: &OrgId, notice: &Letter<'_>) -> Result<(), Error> {
    let admins = tx.members().active_admins(org).await?;
    write_to(tx, org, &admins, notice).await
}

/// Writes a notice to people of what they did to their own account. Beyond the rate of this mail it is left out, and what was done stands:
/// nobody is kept from securing an account by the mails that tell of it.
pub(crate) async fn tell_owner(tx: &mut Tx, org: &OrgId, owner: &User, notice: &Letter<'_>) -> Result<(), Error> {
    if OWN_NOTICES.allows(tx, &format!("{}:{}", notice.name(), owner.id)).await? {
        enqueue(tx, org, &owner.email, notice).await?;
    } else {
        tracing::debug!(kind = notice.name(), "an account's own notice was left out: it has had enough of them in this hour");
    }
    Ok(())
}

/// Does what [`tell_admins`] does, for a deed that its author can repeat: it is counted, unless the process itself did it. Where it mails
/// its author alone, the mail is left out beyond the rate; else the deed is refused, for nobody silences the others' notices.
///
/// # Errors
/// [`Error::RateLimited`] when the organization's deeds have mailed others too much.
pub(crate) async fn tell_admins_of_deed(tx: &mut Tx, org: &OrgId, author: &Author, notice: &Letter<'_>) -> Result<(), Error> {
    let admins = tx.members().active_admins(org).await?;
    match author {
        Author::Member(_) if admins.len() <= 1 => {
            if !NOTICES_TO_AUTHOR.allows(tx, org.as_str()).await? {
                tracing::debug!(organization_id = %org, kind = notice.name(), "the only org_admin's own notice was left out");
                return Ok(());
            }
        }
        Author::Product(_) if admins.is_empty() => {}
        Author::Member(_) | Author::Product(_) => NOTICES.spend(tx, org.as_str()).await?,
        Author::Process => {}
    }
    write_to(tx, org, &admins, notice).await
}

/// Does what [`tell_admins`] does, for what the worker does of itself; it counts among the organization's deeds.
///
/// # Errors
/// [`Error::RateLimited`] when the organization's deeds have mailed too much.
pub(crate) async fn tell_admins_counted(tx: &mut Tx, org: &OrgId, notice: &Letter<'_>) -> Result<(), Error> {
    let admins = tx.members().active_admins(org).await?;
    let rate = if admins.len() > 1 { NOTICES } else { NOTICES_TO_AUTHOR };
    rate.spend(tx, org.as_str()).await?;
    write_to(tx, org, &admins, notice).await
}

async fn write_to(tx: &mut Tx, org: &OrgId, admins: &[Email], notice: &Letter<'_>) -> Result<(), Error> {
    for admin in admins.iter().filter(|admin| !notice.is_about(admin)) {
        enqueue(tx, org, admin, notice).await?;
    }
    Ok(())
}

/// Unseals a mail from the outbox.
pub(crate) fn open(auth: &TenantAuth, mail: &ClaimedMail) -> Result<Message, Error> {
    open_content(auth, &mail.id, &mail.org_id, &mail.content)
}

/// Unseals what a mail of the outbox holds.
pub(crate) fn open_content(auth: &TenantAuth, mail: &MailId, org: &OrgId, content: &str) -> Result<Message, Error> {
    let plain = auth.master_keys().open(content, seal_context(mail, org));
    let plain = plain.ok_or_else(|| Error::internal("a waiting mail does not open"))?;
    let message = serde_json::from_slice(&plain).map_err(Error::internal)?;
    Ok(with_logo(Message { id: mail.as_str().to_owned(), ..message }, &auth.config().product))
}

/// The mail with the logo that it shows, if it shows one. The outbox keeps the logo with no mail.
pub(crate) fn with_logo(message: Message, product: &Product) -> Message {
    let logo = product.logo.clone().filter(|_| message.html.contains(render::LOGO));
    Message { logo, ..message }
}

fn seal_context<'a>(id: &'a MailId, org: &'a OrgId) -> SealContext<'a> {
    SealContext { table: "tenant_auth_mails", column: "content", row: id.as_str(), org: org.as_str() }
}
