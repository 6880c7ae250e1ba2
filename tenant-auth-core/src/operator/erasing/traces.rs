//! What is kept by a person's address, whether or not it has an account: mails that wait, requests for links, links to sign up with, the
//! networks that an account was known at, and counters, which hold a digest of the address. It is read before anything is written, for some
//! of it takes a whole table, and SQLite has one writer.

use crate::{
    error::Error,
    id::{Id, MailId, UserId},
    mail,
    service::TenantAuth,
    store::{PersonMail, Tx},
    throttle::account_key,
    value::Email,
};

/// Deletes what counts an account by its id.
///
/// # Errors
/// [`Error::Unavailable`].
pub(super) async fn forget_counters(auth: &TenantAuth, user: &UserId) -> Result<(), Error> {
    let keys = counters(auth, user.as_str(), user.as_str()).await?;
    if keys.is_empty() {
        return Ok(());
    }
    let mut tx = auth.begin().await?;
    tx.throttles().forget_all(keys).await?;
    tx.commit().await
}

/// Deletes what is kept by an address and what counts the account that had it; `false` when there was nothing but counts and networks. Where the address has an
/// account by now, it is that one's, and stays.
///
/// # Errors
/// [`Error::Unavailable`]; what is left is found by the same call.
pub(super) async fn forget_traces(auth: &TenantAuth, email: &Email, user: Option<&UserId>) -> Result<bool, Error> {
    let had_mails = cancel_mails(auth, email).await?;
    let account = account_key(email);
    let counters = counters(auth, &account, user.map_or(account.as_str(), UserId::as_str)).await?;
    let requests = auth.store().read().await?.erasing().reset_requests(email).await?;
    let Some(mut tx) = begin_without_account(auth, email).await? else { return Ok(had_mails) };
    let mut deleted = 0;
    // Requests before counters, as with whoever fulfils them, and links after counters, as with a sign-up (lock order).
    for request in requests {
        deleted += u64::from(tx.links().take_reset_request(&request).await?.is_some());
    }
    deleted += tx.erasing().forget_sign_up_request(email).await?;
    // Of which nobody is told: a mistyped address has them, too.
    tx.throttles().forget_all(counters).await?;
    tx.throttles().forget_known(&account).await?;
    deleted += tx.erasing().forget_sign_up_links(email).await?;
    tx.commit().await?;
    Ok(had_mails || deleted > 0)
}

/// The keys of the counters of a digest of an address and of an account.
async fn counters(auth: &TenantAuth, account_key: &str, user: &str) -> Result<Vec<String>, Error> {
    let counters = auth.store().read().await?.person().counters(account_key, user).await?;
    Ok(counters.into_iter().map(|counter| counter.key).collect())
}

/// `None` where the address has an account by now.
async fn begin_without_account(auth: &TenantAuth, email: &Email) -> Result<Option<Tx>, Error> {
    let mut tx = auth.begin().await?;
    let account = tx.users().find_by_email(email).await?;
    Ok(account.is_none().then_some(tx))
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
        let Some(mut tx) = begin_without_account(auth, email).await? else { return Ok(had_some) };
        had_some = true;
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
