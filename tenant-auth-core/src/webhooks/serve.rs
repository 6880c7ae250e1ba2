//! The transaction of a round: events become deliveries, and due deliveries are claimed with a lease, as many as have a free slot. A
//! claim moves the next attempt to the lease's end, and the webhook's row is locked before; so two workers never send the same
//! delivery at once. A new delivery that has a slot is written as claimed: the first attempt costs no second transaction.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use super::{
    attempt::Endpoint,
    ending,
    fan_out::{FanOut, fan_out},
    slots::FreeSlots,
};
use crate::{
    error::Error,
    id::{OrgId, WebhookId},
    model::WebhookStatus,
    service::TenantAuth,
    store::{ClaimedDelivery, DueEndpoint, Held, QueuedDelivery, Tx, UndeliveredEvent, is_orphan},
    time::Timestamp,
};

/// The lease is this much longer than an attempt's timeout: up to 5 s for resolving the name, 1¼ s for standing in line and a sender that
/// ends late, and the rest for recording the outcome and for differences between the servers' clocks (behaviour.md, B106).
const LEASE_MARGIN: Duration = Duration::from_secs(15);

/// What waits for a worker.
#[derive(Debug, Default)]
pub(super) struct Waiting {
    pub(super) events: Vec<UndeliveredEvent>,
    /// The endpoints with due deliveries, in the order in which they are served.
    pub(super) due: Vec<DueEndpoint>,
}

/// What a round did.
#[derive(Debug, Default)]
pub(super) struct Served {
    pub(super) claimed: Vec<Claimed>,
    /// Whether events wait for the next round, or must be looked at anew.
    pub(super) leaves_events: bool,
    /// How many events, the last ones, were too many for the transaction.
    pub(super) cut_off: usize,
    /// Whether deliveries wait for a free slot.
    pub(super) leaves_deliveries: bool,
    /// Webhooks with due deliveries that cannot be made now, whoever has a slot.
    pub(super) unserved: Vec<WebhookId>,
}

/// A claimed delivery and its endpoint.
#[derive(Debug)]
pub(super) struct Claimed {
    pub(super) endpoint: Arc<Endpoint>,
    pub(super) claim: ClaimedDelivery,
}

/// What became of a webhook that was to be held.
enum Target {
    Open(Arc<Endpoint>),
    /// This version cannot read it, or its secrets do not open.
    Broken,
    Disabled(OrgId),
}

/// A due endpoint and how many of its deliveries may be claimed.
struct Share<'a> {
    endpoint: &'a DueEndpoint,
    slots: usize,
}

/// Serves what waits.
pub(super) async fn serve(auth: &TenantAuth, waiting: &Waiting, free: &mut FreeSlots<'_>) -> Result<Served, Error> {
    match serve_in(auth, waiting, free).await {
        // A webhook was deleted after it was read. The next look does not see it.
        Err(error) if is_orphan(&error) => Ok(Served { leaves_events: true, ..Served::default() }),
        served => served,
    }
}

async fn serve_in(auth: &TenantAuth, waiting: &Waiting, free: &mut FreeSlots<'_>) -> Result<Served, Error> {
    let mut shares = shares(&waiting.due, free);
    let servable = waiting.due.iter().filter(|endpoint| !free.is_set_aside(endpoint)).count();
    if waiting.events.is_empty() && shares.is_empty() {
        return Ok(Served { leaves_deliveries: servable > 0, ..Served::default() });
    }
    let mut tx = auth.begin().await?;
    let news = match waiting.events.as_slice() {
        [] => FanOut { planned: Vec::new(), payloads: Default::default(), left: 0 },
        events => fan_out(&mut tx, events, &waiting.due, free).await?,
    };
    for share in &mut shares {
        let more = free.of(share.endpoint);
        free.promise(share.endpoint, more);
        share.slots += more;
    }
    let served = shares.iter().map(|share| &share.endpoint.id);
    let targets = hold(&mut tx, served.chain(news.planned.iter().filter(|new| new.has_slot).map(|new| &new.webhook))).await?;
    let mut claimed = write(auth, &mut tx, &news, &targets).await?;
    let mut unserved = Vec::new();
    let mut leaves_deliveries = shares.len() < servable || news.planned.iter().any(|new| !new.has_slot);
    for share in &shares {
        match claim_due(auth, &mut tx, share, targets.get(&share.endpoint.id)).await? {
            Some(claims) => {
                leaves_deliveries |= claims.len() == share.slots;
                claimed.extend(claims);
            }
            None => unserved.push(share.endpoint.id.clone()),
        }
    }
    tx.commit().await?;
    Ok(Served { claimed, leaves_events: news.left > 0, cut_off: news.left, leaves_deliveries, unserved })
}

/// Shares out the free slots among the due endpoints, to each at most what was counted; nothing to those that have none left.
fn shares<'a>(due: &'a [DueEndpoint], free: &mut FreeSlots<'_>) -> Vec<Share<'a>> {
    let mut shares = Vec::new();
    for endpoint in due {
        let slots = free.of(endpoint).min(endpoint.due.unwrap_or(usize::MAX));
        if slots > 0 {
            free.promise(endpoint, slots);
            shares.push(Share { endpoint, slots });
        }
    }
    shares
}

/// Locks webhooks in the order of their ids (the lock order of webhooks), and opens their secrets.
async fn hold(tx: &mut Tx, webhooks: impl Iterator<Item = &WebhookId>) -> Result<BTreeMap<WebhookId, Target>, Error> {
    let mut webhooks: Vec<&WebhookId> = webhooks.collect();
    webhooks.sort_unstable();
    webhooks.dedup();
    if webhooks.is_empty() {
        return Ok(BTreeMap::new());
    }
    let held = tx.delivery_queue().hold(webhooks).await?;
    Ok(held.into_iter().map(|held| (held.id.clone(), Target::of(tx, held))).collect())
}

/// Writes the new deliveries: claimed where there is a slot, due otherwise. Nothing is written for a webhook that was disabled or
/// deleted while its event waited.
async fn write(
    auth: &TenantAuth,
    tx: &mut Tx,
    news: &FanOut<'_>,
    targets: &BTreeMap<WebhookId, Target>,
) -> Result<Vec<Claimed>, Error> {
    let (now, lease_until) = (tx.now(), lease(auth, tx));
    let (mut queued, mut claimed) = (Vec::with_capacity(news.planned.len()), Vec::new());
    for new in &news.planned {
        let (attempts, next_attempt_at, endpoint) = match targets.get(&new.webhook).filter(|_| new.has_slot) {
            Some(Target::Open(endpoint)) => (1, lease_until, Some(endpoint)),
            Some(Target::Broken) => (0, lease_until, None),
            None if !new.has_slot => (0, now, None),
            Some(Target::Disabled(_)) | None => continue,
        };
        let id = tx.new_id();
        if let Some(endpoint) = endpoint {
            let (payload, event_id) = (news.payloads.get(&new.event.id).cloned(), new.event.id.clone());
            let claim = ClaimedDelivery { id: id.clone(), event_id, attempt: attempts, payload, lease_until };
            claimed.push(Claimed { endpoint: Arc::clone(endpoint), claim });
        }
        queued.push(QueuedDelivery { id, event: new.event, webhook: &new.webhook, attempts, next_attempt_at });
    }
    if !queued.is_empty() {
        tx.delivery_queue().insert(&queued).await?;
    }
    Ok(claimed)
}

/// Claims due deliveries of an endpoint; `None` when it has some that nobody can make now.
async fn claim_due(
    auth: &TenantAuth,
    tx: &mut Tx,
    share: &Share<'_>,
    target: Option<&Target>,
) -> Result<Option<Vec<Claimed>>, Error> {
    let (webhook, lease_until) = (&share.endpoint.id, lease(auth, tx));
    match target {
        Some(Target::Open(endpoint)) => {
            let limit = u32::try_from(share.slots).unwrap_or(u32::MAX);
            let claims = tx.delivery_queue().claim(webhook, lease_until, limit).await?;
            Ok(Some(claims.into_iter().map(|claim| Claimed { endpoint: Arc::clone(endpoint), claim }).collect()))
        }
        // The defect is this one endpoint's; the other endpoints' deliveries must not wait for it.
        Some(Target::Broken) => Ok(None),
        // The webhook was disabled while an event was being turned into this delivery, or with a backlog that another loop cancels.
        Some(Target::Disabled(org)) => {
            ending::cancel_few(tx, org, webhook).await?;
            Ok(Some(Vec::new()))
        }
        None => Ok(Some(Vec::new())),
    }
}

/// When the claims of this transaction lapse.
fn lease(auth: &TenantAuth, tx: &Tx) -> Timestamp {
    tx.now().plus(auth.config().webhooks.timeout + LEASE_MARGIN)
}

impl Target {
    fn of(tx: &Tx, Held { id, org_id, webhook, secrets }: Held) -> Self {
        if webhook.as_ref().is_ok_and(|webhook| webhook.status == WebhookStatus::Disabled) {
            return Self::Disabled(org_id);
        }
        match webhook.and_then(|webhook| Endpoint::open(tx, webhook, &secrets)) {
            Ok(endpoint) => Self::Open(Arc::new(endpoint)),
            Err(error) => {
                let causes = error.causes();
                tracing::error!(webhook = %id, organization_id = %org_id, error = %causes, "a webhook cannot be read; its deliveries wait");
                Self::Broken
            }
        }
    }
}
