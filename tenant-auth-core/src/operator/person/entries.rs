//! The entries of the audit logs that tell of a person: those about the account, those about invites to the address, and those about
//! what the person did. An entry's data are told where they are about the person, and its context where it is of the person's request.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::account::at;
use crate::{
    error::Error,
    id::{OrgId, UserId},
    model::OrgRef,
    operator::erasing::Addressed,
    store::{FormerSelf as Known, PersonEntry, Tx},
};

/// By organization and number.
type Found = BTreeMap<(OrgId, i64), Value>;

pub(super) async fn entries(tx: &mut Tx, user: Option<&UserId>, addressed: &[Addressed]) -> Result<Value, Error> {
    let mut found = Found::new();
    if let Some(user) = user {
        for org in tx.erasing().told_of(user).await? {
            let whole = Known { org, id: user.clone(), before: i64::MAX };
            about(tx, &whole, &mut found).await?;
            by(tx, &whole, &mut found).await?;
        }
        for former in tx.erasing().former_selves(user).await? {
            about(tx, &former, &mut found).await?;
            by(tx, &former, &mut found).await?;
        }
    }
    for Addressed { org, event } in addressed {
        // One that was swept since it was found is no longer kept.
        if let Some(entry) = tx.person().entry(event.as_str()).await? {
            take(&mut found, org, user, true, entry)?;
        }
    }
    Ok(found.into_values().collect())
}

/// The entries of the deployment's own log. Its data name people by ids alone, whomever they are about.
pub(super) async fn of_deployment(tx: &mut Tx, user: Option<&UserId>) -> Result<Value, Error> {
    let (mut all, mut after) = (Vec::new(), 0);
    while let Some(user) = user {
        let page = tx.person().deployment_entries(user, after).await?;
        let Some(last) = page.last() else { break };
        after = last.sequence;
        all.extend(page.into_iter().map(
            |entry| json!({ "sequence": entry.sequence, "id": entry.id, "type": entry.kind, "timestamp": at(entry.created_at) }),
        ));
    }
    Ok(all.into())
}

async fn about(tx: &mut Tx, Known { org, id, before }: &Known, found: &mut Found) -> Result<(), Error> {
    let mut after = 0;
    loop {
        let page = tx.person().entries_about(&org.id, id, after).await?;
        let Some(last) = page.last() else { return Ok(()) };
        after = last.sequence;
        for entry in page.into_iter().filter(|entry| entry.sequence < *before) {
            take(found, org, Some(id), true, entry)?;
        }
    }
}

async fn by(tx: &mut Tx, Known { org, id, before }: &Known, found: &mut Found) -> Result<(), Error> {
    let mut after = 0;
    loop {
        let page = tx.person().entries_by(&org.id, id, after).await?;
        let Some(last) = page.last() else { return Ok(()) };
        after = last.sequence;
        for entry in page.into_iter().filter(|entry| entry.sequence < *before) {
            let is_about = entry.user_id.as_deref() == Some(id.as_str());
            take(found, org, Some(id), is_about, entry)?;
        }
    }
}

fn take(found: &mut Found, org: &OrgRef, user: Option<&UserId>, is_about: bool, entry: PersonEntry) -> Result<(), Error> {
    let is_theirs = user.is_some_and(|user| entry.actor_id.as_deref() == Some(user.as_str()));
    let json = |text: Option<String>| text.map(|text| serde_json::from_str::<Value>(&text)).transpose().map_err(Error::internal);
    let mut told = json!({
        "org": org.slug,
        "sequence": entry.sequence,
        "id": entry.id,
        "type": entry.kind,
        "timestamp": at(entry.created_at),
        "actor": { "type": entry.actor_type, "id": entry.actor_id },
    });
    if is_about {
        told["data"] = json!(json(entry.data)?);
    }
    if is_theirs {
        told["context"] = json!(json(entry.context)?);
    }
    // What was found as being about the person stays so.
    found.entry((org.id.clone(), entry.sequence)).or_insert(told);
    Ok(())
}
