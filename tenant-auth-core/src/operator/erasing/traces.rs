//! What is kept by a person's address, whether or not it has an account: mails that wait, requests for links, links to sign up with, and
//! counters, which hold a digest of the address.

use crate::{
    error::Error,
    id::{Id, MailId, UserId},
    mail,
    service::TenantAuth,
    store::PersonMail,
    throttle::account_key,
    value::Email,
};

/// Deletes what is kept by an address and what counts the account that had it; `false` when there was nothing.
///
/// # Errors
/// [`Error::Unavailable`]; what is left is found by the same call.
pub(super) async fn forget_traces(auth: &TenantAuth, email: &Email, user: Option<&UserId>) -> Result<bool, Error> {
    let had_mails = cancel_mails(auth, email).await?;
    let mut tx = auth.begin().await?;
    let mut deleted = 0;
    // Requests before counters, as with whoever fulfils them, and links after counters, as with a sign-up (lock order).
    for request in tx.erasing().reset_requests(email).await? {
        deleted += u64::from(tx.links().take_reset_request(&request).await?.is_some());
    }
    deleted += tx.erasing().forget_sign_up_request(email).await?;
    let account = account_key(email);
    let counters = tx.person().counters(&account, user.map_or(account.as_str(), UserId::as_str)).await?;
    deleted += tx.throttles().forget_all(counters.into_iter().map(|counter| counter.key).collect()).await?;
    deleted += tx.erasing().forget_sign_up_links(email).await?;
    tx.commit().await?;
    Ok(had_mails || deleted > 0)
}

/// Cancels the mails that wait for an address; `false` when none did. Page by page: an import may have queued very many for its domain.
async fn cancel_mails(auth: &TenantAuth, email: &Email) -> Result<bool, Error> {
    let (mut had_some, mut after) = (false, String::new());
    loop {
        let page = auth.store().read().await?.person().mails(&after, &email.domain()).await?;
        let Some(last) = page.last() else { return Ok(had_some) };
        after.clone_from(&last.id);
        let theirs: Vec<MailId> =
            page.iter().filter(|mail| is_to(auth, mail, email)).map(|mail| Id::from_stored(mail.id.clone())).collect();
        if theirs.is_empty() {
            continue;
        }
        had_some = true;
        let mut tx = auth.begin().await?;
        for mail in &theirs {
            tx.mails().cancel(mail).await?;
        }
        tx.commit().await?;
    }
}

/// One that does not open is sent to nobody.
fn is_to(auth: &TenantAuth, mail: &PersonMail, email: &Email) -> bool {
    let (id, org) = (Id::from_stored(mail.id.clone()), Id::from_stored(mail.org_id.clone()));
    mail::open_content(auth, &id, &org, &mail.content).is_ok_and(|message| message.to.key() == email.key())
}
