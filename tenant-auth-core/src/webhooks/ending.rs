//! What ends with a webhook: who disables one cancels its pending deliveries, who deletes one deletes all of them. There may be hundreds
//! of thousands, so the transaction that disables or deletes takes as many as nobody waits for, and a worker the rest, in transactions that
//! each stand alone. Nothing is sent meanwhile: a delivery is claimed under the lock of its webhook's row, and only of an active one.

use std::{
    collections::VecDeque,
    time::{Duration, Instant},
};

use crate::{
    error::Error,
    id::{OrgId, WebhookId},
    model::{Webhook, WebhookStatus},
    service::TenantAuth,
    store::{Ending, EndingWebhook, Tx},
};

/// How many deliveries one transaction cancels or deletes.
const BATCH: i64 = 1_000;
/// How many the delivery loop cancels at once, in a transaction for which everybody's deliveries wait.
const FEW: i64 = 100;
/// How many webhooks one round works at.
const WEBHOOKS: i64 = 100;

/// Cancels what is pending of a webhook that this transaction holds and disables. What is left of a long backlog is a worker's.
pub(super) async fn cancel_pending(tx: &mut Tx, webhook: &Webhook) -> Result<(), Error> {
    if cancel_batch(tx, &webhook.id).await? {
        tx.webhooks().leave_cancelling(&webhook.org_id, &webhook.id).await?;
    }
    Ok(())
}

/// Deletes a webhook that this transaction holds. One with a long log is unknown from now on, and what is left of it a worker's.
pub(super) async fn delete(tx: &mut Tx, webhook: &Webhook) -> Result<(), Error> {
    let (org, id) = (&webhook.org_id, &webhook.id);
    if delete_batch(tx, org, id).await? {
        return tx.webhooks().leave_deleted(org, id).await;
    }
    tx.webhooks().delete(org, id).await
}

/// Cancels a few pending deliveries of a disabled webhook that this transaction holds, and leaves more to another loop.
pub(super) async fn cancel_few(tx: &mut Tx, org: &OrgId, webhook: &WebhookId) -> Result<(), Error> {
    if tx.deliveries().cancel_some(webhook, FEW).await? >= FEW.unsigned_abs() {
        tx.webhooks().leave_cancelling(org, webhook).await?;
    }
    Ok(())
}

/// Cancels what the disabling of a webhook left, before it is enabled: no such delivery may be made then.
///
/// # Errors
/// [`Error::Unavailable`]; what was cancelled until then stays so.
pub(super) async fn finish_cancelling(auth: &TenantAuth, org: &OrgId, id: &WebhookId) -> Result<(), Error> {
    let stands = auth.store().read().await?.webhooks().find(org, id).await?;
    if stands.is_none_or(|webhook| webhook.status == WebhookStatus::Active) {
        return Ok(());
    }
    let webhook = EndingWebhook { id: id.clone(), org_id: org.clone(), ending: Ending::Cancelling };
    while go_on(auth, &webhook).await? {}
    Ok(())
}

/// Cancels what came after [`finish_cancelling`], in the transaction that enables the webhook and holds it.
///
/// # Errors
/// [`Error::Unavailable`] when that is much: somebody else has disabled it again.
pub(super) async fn cancel_rest(tx: &mut Tx, webhook: &Webhook) -> Result<(), Error> {
    if cancel_batch(tx, &webhook.id).await? {
        return Err(Error::unavailable("deliveries of the webhook are still being cancelled"));
    }
    Ok(())
}

/// Goes on with webhooks that were disabled or deleted with more deliveries than one transaction takes, in turns, for about `at_most`.
///
/// # Errors
/// [`Error::Unavailable`] when one could not be gone on with: it is next time. The others are.
pub(crate) async fn finish_ended(auth: &TenantAuth, at_most: Duration) -> Result<(), Error> {
    let began = Instant::now();
    let mut ended = VecDeque::from(auth.store().read().await?.webhooks().ending(WEBHOOKS).await?);
    let mut finished = Ok(());
    while let Some(webhook) = ended.pop_front().filter(|_| began.elapsed() < at_most) {
        match go_on(auth, &webhook).await {
            Ok(true) => ended.push_back(webhook),
            Ok(false) => {}
            Err(error) => {
                tracing::warn!(webhook = %webhook.id, error = %error.causes(), "deliveries of a webhook that ended are left; they go with the next round");
                finished = Err(error);
            }
        }
    }
    finished
}

/// One transaction of a webhook's end; `false` when it is over.
async fn go_on(auth: &TenantAuth, webhook: &EndingWebhook) -> Result<bool, Error> {
    let mut tx = auth.begin().await?;
    if !tx.webhooks().hold_ending(webhook).await? {
        return Ok(false);
    }
    let EndingWebhook { id, org_id, ending } = webhook;
    let is_more = match ending {
        Ending::Cancelling => cancel_batch(&mut tx, id).await?,
        Ending::Deleted => delete_batch(&mut tx, org_id, id).await?,
    };
    match ending {
        _ if is_more => {}
        Ending::Cancelling => tx.webhooks().end_cancelling(org_id, id).await?,
        Ending::Deleted => tx.webhooks().delete(org_id, id).await?,
    }
    tx.commit().await?;
    Ok(is_more)
}

/// Whether there may be more.
async fn cancel_batch(tx: &mut Tx, webhook: &WebhookId) -> Result<bool, Error> {
    Ok(tx.deliveries().cancel_some(webhook, BATCH).await? >= BATCH.unsigned_abs())
}

/// Whether there may be more.
async fn delete_batch(tx: &mut Tx, org: &OrgId, webhook: &WebhookId) -> Result<bool, Error> {
    Ok(tx.deliveries().delete_some(org, webhook, BATCH).await? >= BATCH.unsigned_abs())
}
