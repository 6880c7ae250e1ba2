//! What hangs on a person's account.

use serde_json::{Value, json};

use crate::{
    error::Error,
    id::UserId,
    store::{Deed, PersonAccount, PersonDeed, PersonFormerId, PersonLink, PersonLogin, PersonMembership, PersonSession, Tx},
    time::Timestamp,
};

/// A time as JSON.
pub(super) fn at(millis: i64) -> Timestamp {
    Timestamp::from_millis(millis)
}

pub(super) async fn account(tx: &mut Tx, account: Option<PersonAccount>) -> Result<Value, Error> {
    let Some(account) = account else { return Ok(Value::Null) };
    let user = UserId::from_stored(account.id);
    let factor = tx.person().factor(&user).await?.map(|factor| {
        json!({
            "startedAt": at(factor.created_at), "enabledAt": factor.enabled_at.map(at), "recoveryCodesRemaining": factor.recovery_codes,
        })
    });
    Ok(json!({
        "id": user,
        "name": account.name,
        "email": account.email,
        "isEmailVerified": account.is_email_verified,
        "role": account.role,
        "bio": account.bio,
        "phone": account.phone,
        "language": account.language,
        "createdAt": at(account.created_at),
        "hasPassword": !account.password_hash.is_empty(),
        "importedPasswordScheme": account.foreign_scheme,
        "secondFactor": factor,
    }))
}

/// By which ids imported logs know the person.
pub(super) async fn former_ids(tx: &mut Tx, user: Option<&UserId>) -> Result<Value, Error> {
    let Some(user) = user else { return Ok(json!([])) };
    let told = |PersonFormerId { org, id }: PersonFormerId| json!({ "org": org, "id": id });
    Ok(tx.person().former_ids(user).await?.into_iter().map(told).collect())
}

pub(super) async fn memberships(tx: &mut Tx, user: Option<&UserId>) -> Result<Value, Error> {
    let Some(user) = user else { return Ok(json!([])) };
    let memberships = tx.person().memberships(user).await?;
    let told = memberships.into_iter().map(|PersonMembership { org, id, role, status, metadata, joined_at }| {
        let metadata: Value = serde_json::from_str(&metadata).map_err(Error::internal)?;
        let joined = at(joined_at);
        Ok(json!({ "org": org, "id": id, "role": role, "status": status, "metadata": metadata, "joinedAt": joined }))
    });
    told.collect::<Result<Vec<_>, Error>>().map(Value::Array)
}

pub(super) async fn sessions(tx: &mut Tx, user: Option<&UserId>) -> Result<Value, Error> {
    let Some(user) = user else { return Ok(json!([])) };
    let told = |session: PersonSession| {
        json!({
            "org": session.org,
            "id": session.id,
            "methods": session.amr.split(' ').collect::<Vec<_>>(),
            "createdAt": at(session.auth_time),
            "refreshedAt": at(session.refreshed_at),
            "lastUsedAt": at(session.last_used_at),
            "idleUntil": at(session.idle_until),
            "expiresAt": at(session.expires_at),
            "ip": session.ip,
            "userAgent": session.user_agent,
        })
    };
    Ok(tx.person().sessions(user).await?.into_iter().map(told).collect())
}

pub(super) async fn waiting_logins(tx: &mut Tx, user: Option<&UserId>) -> Result<Value, Error> {
    let Some(user) = user else { return Ok(json!([])) };
    let told = |login: PersonLogin| {
        json!({
            "org": login.org,
            "id": login.id,
            "method": login.method,
            "attempts": login.attempts,
            "ip": login.ip,
            "userAgent": login.user_agent,
            "createdAt": at(login.created_at),
            "expiresAt": at(login.expires_at),
        })
    };
    Ok(tx.person().waiting_logins(user).await?.into_iter().map(told).collect())
}

pub(super) async fn links(tx: &mut Tx, user: Option<&UserId>) -> Result<Value, Error> {
    let Some(user) = user else { return Ok(json!([])) };
    let told = |PersonLink { org, purpose, email, created_at, expires_at }: PersonLink| json!({ "org": org, "purpose": purpose, "email": email, "createdAt": at(created_at), "expiresAt": at(expires_at) });
    Ok(tx.person().links(user).await?.into_iter().map(told).collect())
}

pub(super) async fn made(tx: &mut Tx, deed: Deed, user: Option<&UserId>) -> Result<Value, Error> {
    let Some(user) = user else { return Ok(json!([])) };
    let told = |PersonDeed { org, id, created_at }: PersonDeed| json!({ "org": org, "id": id, "createdAt": at(created_at) });
    Ok(tx.person().made(deed, user).await?.into_iter().map(told).collect())
}
