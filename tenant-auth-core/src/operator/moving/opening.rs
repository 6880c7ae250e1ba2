//! What opens accounts and interfaces, as a sealed export holds it: unsealed here, because the target has another master key.

use base64::{Engine, engine::general_purpose::STANDARD};

use super::record::{Credentials, SecondFactor, WebhookSecret};
use crate::{
    account::open_second_factor,
    error::Error,
    model::Webhook,
    store::{ExportedMember, SealedSecret, Tx},
    time::Timestamp,
    webhooks::open_secret,
};

pub(super) async fn credentials(tx: &mut Tx, member: &ExportedMember) -> Result<Credentials, Error> {
    let user = &member.user.id;
    let second_factor = match &member.factor {
        Some(factor) => {
            let secret = STANDARD.encode(&*open_second_factor(tx, user, &factor.sealed)?);
            Some(SecondFactor { secret, enabled_at: factor.enabled_at, last_step: factor.last_step })
        }
        None => None,
    };
    Ok(Credentials {
        password: Some(&member.password).filter(|password| !password.is_void()).map(|password| password.as_str().to_owned()),
        recovery_codes: if second_factor.is_some() { tx.exports().recovery_codes(user).await? } else { Vec::new() },
        second_factor,
    })
}

pub(super) async fn secrets(tx: &mut Tx, webhook: &Webhook) -> Result<Vec<WebhookSecret>, Error> {
    let now = tx.now();
    let mut opened = Vec::new();
    for stored in tx.exports().webhook_secrets(&webhook.org_id, &webhook.id, now).await? {
        let secret = open_secret(tx, &webhook.org_id, &SealedSecret { id: stored.id, sealed: stored.secret })?;
        opened.push(WebhookSecret {
            secret: secret.expose().to_string(),
            created_at: Timestamp::from_millis(stored.created_at),
            expires_at: stored.expires_at.map(Timestamp::from_millis),
        });
    }
    Ok(opened)
}
