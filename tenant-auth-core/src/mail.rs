//! What the service writes to people. A mail is composed when it is caused, sealed, and left in the outbox; links come from the
//! settings alone, never from a request. Values people chose are escaped in HTML and kept to one line in the subject.

use std::time::Duration;

use minijinja::{Environment, context};
use zeroize::Zeroizing;

use crate::{
    error::Error,
    id::{DeliveryId, Id, OrgId},
    letters::Letter,
    model::{Invite, Organization},
    ports::Message,
    sealed::Place,
    service::TenantAuth,
    store::{ClaimedMail, OutgoingMail, Tx},
    time::Timestamp,
    value::Email,
};

/// What an invitation mail tells.
pub(crate) struct InviteMail<'a> {
    pub(crate) org: &'a Organization,
    pub(crate) invite: &'a Invite,
    pub(crate) link: &'a str,
}

/// A mail to be left in the outbox.
pub(crate) struct Posting<'a> {
    pub(crate) org: &'a OrgId,
    pub(crate) kind: &'static str,
    pub(crate) message: Message,
    pub(crate) useless_after: Timestamp,
}

/// Composes the mail of an invite.
pub(crate) fn invite(mail: &InviteMail<'_>) -> Result<Message, Error> {
    let values = context! {
        organization => mail.org.name.as_str(),
        inviter => mail.invite.invited_by_email.as_ref().map(Email::as_str),
        role => mail.invite.role.as_str(),
        link => mail.link,
        app_url => mail.org.app_url.as_ref().map(crate::value::AppUrl::as_str),
        expires_at => mail.invite.expires_at.to_iso(),
    };
    Ok(Message {
        to: mail.invite.email.as_str().to_owned(),
        subject: format!("Your invitation to {}", mail.org.name),
        text: render("invite.txt", include_str!("../templates/invite.txt"), &values)?,
        html: render("invite.html", include_str!("../templates/invite.html"), &values)?,
    })
}

/// minijinja escapes by the template's name: `.html` is escaped, `.txt` is not.
pub(crate) fn render(name: &'static str, template: &'static str, values: &minijinja::Value) -> Result<String, Error> {
    Environment::new().render_named_str(name, template, values).map_err(Error::internal)
}

/// Notices have no link that could expire.
const NOTICE_KEPT: Duration = Duration::from_secs(2 * 24 * 3_600);

/// Leaves a letter in the outbox of a transaction; `useless_after` is its link's end, when it has one.
pub(crate) async fn letter(
    auth: &TenantAuth,
    tx: &mut Tx,
    org: &OrgId,
    (recipient, letter): (&Email, &Letter<'_>),
    now: Timestamp,
) -> Result<DeliveryId, Error> {
    let useless_after = match letter {
        Letter::ResetPassword { until, .. } | Letter::VerifyEmail { until, .. } | Letter::ChangeEmail { until, .. } => *until,
        _ => now.plus(NOTICE_KEPT),
    };
    post(auth, tx, Posting { org, kind: letter.kind(), message: letter.to(recipient)?, useless_after }, now).await
}

/// Tells every active org_admin of something that gives power over the organization, but not of themselves.
pub(crate) async fn tell_admins(
    auth: &TenantAuth,
    tx: &mut Tx,
    org: &OrgId,
    notice: &Letter<'_>,
    now: Timestamp,
) -> Result<(), Error> {
    let admins = tx.members().active_admins(org).await?;
    for admin in admins.iter().filter(|admin| !notice.is_about(admin)) {
        letter(auth, tx, org, (admin, notice), now).await?;
    }
    Ok(())
}

/// Leaves a mail in the outbox of a transaction.
pub(crate) async fn post(auth: &TenantAuth, tx: &mut Tx, posting: Posting<'_>, now: Timestamp) -> Result<DeliveryId, Error> {
    let id: DeliveryId = Id::generate(now, auth.entropy());
    let plain = Zeroizing::new(serde_json::to_vec(&posting.message).map_err(Error::internal)?);
    let sealed = auth.master_keys().seal(&plain, place(&id, posting.org), auth.entropy())?;
    let mail = OutgoingMail {
        id: id.clone(),
        org_id: posting.org.clone(),
        kind: posting.kind,
        sealed,
        created_at: now,
        useless_after: posting.useless_after,
    };
    tx.mails().insert(&mail).await?;
    Ok(id)
}

/// Opens a waiting mail.
pub(crate) fn open(auth: &TenantAuth, mail: &ClaimedMail) -> Result<Message, Error> {
    let plain = auth.master_keys().open(&mail.content, place(&mail.id, &mail.org_id));
    let plain = plain.ok_or_else(|| Error::internal("a waiting mail does not open"))?;
    serde_json::from_slice(&plain).map_err(Error::internal)
}

fn place<'a>(id: &'a DeliveryId, org: &'a OrgId) -> Place<'a> {
    Place { table: "tenant_auth_mails", column: "content", row: id.as_str(), org: org.as_str() }
}
