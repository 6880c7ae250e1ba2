//! What is found by a person's address, also where there is no account.

use serde_json::{Value, json};

use super::account::at;
use crate::{
    error::Error,
    id::{Id, UserId},
    mail,
    service::TenantAuth,
    store::{PersonCounter, PersonInvite, PersonNetwork, PersonReset, PersonSignUp, Tx},
    throttle::{account_key, pair_key},
    value::Email,
};

pub(super) async fn invites(tx: &mut Tx, email: &Email) -> Result<Value, Error> {
    let told = |invite: PersonInvite| {
        json!({
            "org": invite.org,
            "id": invite.id,
            "email": invite.email,
            "role": invite.role,
            "metadata": invite.metadata.and_then(|metadata| serde_json::from_str::<Value>(&metadata).ok()),
            "createdAt": at(invite.created_at),
            "expiresAt": at(invite.expires_at),
        })
    };
    Ok(tx.person().invites_to(email).await?.into_iter().map(told).collect())
}

pub(super) async fn reset_requests(tx: &mut Tx, email: &Email) -> Result<Value, Error> {
    let told = |PersonReset { org, email, language, created_at }: PersonReset| json!({ "org": org, "email": email, "language": language, "createdAt": at(created_at) });
    Ok(tx.person().reset_requests(email).await?.into_iter().map(told).collect())
}

/// Wishes for a link to sign up with, and such links, which have an end.
pub(super) async fn sign_ups(tx: &mut Tx, email: &Email) -> Result<Value, Error> {
    let told = |PersonSignUp { email, language, created_at, expires_at }: PersonSignUp| json!({ "email": email, "language": language, "createdAt": at(created_at), "expiresAt": (expires_at > 0).then(|| at(expires_at)) });
    Ok(tx.person().sign_ups(email).await?.into_iter().map(told).collect())
}

/// Mails that wait to be sent, without what they say: the links in them are credentials. And how many wait for the address's domain that
/// no key of this server opens, such as after a master key was lost: to whom they are is not known.
pub(super) async fn mails(auth: &TenantAuth, tx: &mut Tx, email: &Email) -> Result<(Value, u64), Error> {
    let (mut found, mut unreadable, mut after) = (Vec::new(), 0, String::new());
    loop {
        let page = tx.person().mails(&after, &email.domain()).await?;
        let Some(last) = page.last() else { return Ok((Value::Array(found), unreadable)) };
        after.clone_from(&last.id);
        for mail in page {
            let (id, org) = (Id::from_stored(mail.id.clone()), Id::from_stored(mail.org_id));
            let Ok(message) = mail::open_content(auth, &id, &org, &mail.content) else {
                unreadable += 1;
                continue;
            };
            if message.to.key() == email.key() {
                found.push(json!({
                    "org": mail.org,
                    "id": mail.id,
                    "kind": mail.kind,
                    "subject": message.subject,
                    "status": mail.status,
                    "attempts": mail.attempts,
                    "createdAt": at(mail.created_at),
                    "uselessAfter": at(mail.useless_after),
                }));
            }
        }
    }
}

/// Counters of failed attempts and of deeds. In the account's place stands a digest of the address; a network stands there only where it
/// is one of the person's own: whoever guesses from elsewhere is somebody else.
pub(super) async fn counters(tx: &mut Tx, email: &Email, user: Option<&UserId>) -> Result<Value, Error> {
    let account = account_key(email);
    let own: Vec<String> = tx.person().networks(&account).await?.into_iter().map(|network| network.ip_key).collect();
    let at_network = pair_key(&account, "");
    let is_strangers = |key: &str| key.strip_prefix(&at_network).is_some_and(|network| !own.iter().any(|known| known == network));
    let told = |counter: PersonCounter| {
        let name = if is_strangers(&counter.key) { at_network.trim_end_matches(':') } else { counter.key.as_str() };
        json!({
            "counter": name,
            "count": counter.failures,
            "windowEndsAt": at(counter.window_ends_at),
            "blockedUntil": at(counter.blocked_until),
            "forgottenAt": at(counter.forget_at),
        })
    };
    let counters = tx.person().counters(&account, user.map_or(account.as_str(), UserId::as_str)).await?;
    Ok(counters.into_iter().map(told).collect())
}

/// The networks from which the person logged in lately.
pub(super) async fn networks(tx: &mut Tx, email: &Email) -> Result<Value, Error> {
    let told =
        |PersonNetwork { ip_key, last_login_at }: PersonNetwork| json!({ "network": ip_key, "lastLoginAt": at(last_login_at) });
    Ok(tx.person().networks(&account_key(email)).await?.into_iter().map(told).collect())
}
