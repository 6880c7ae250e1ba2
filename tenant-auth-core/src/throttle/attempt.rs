//! An attempt that was let through: it holds a reservation under each of its limits until it is settled, as failed, withdrawn or
//! right.

use std::time::Duration;

use tokio::{
    sync::OwnedSemaphorePermit,
    time::{Instant, timeout_at},
};

use super::{
    gates::Limit,
    limits::{LONGEST_BLOCK, account_key, longest_block, network_of, pair_key},
};
use crate::{
    caller::Client,
    error::{Error, Overload},
    service::TenantAuth,
    store::Tx,
    time::Timestamp,
    value::Email,
};

/// The first block of an account at an address; it doubles with each further failure up to the longest (behaviour.md, B82).
const FIRST_BLOCK: Duration = Duration::from_secs(60);

/// The account that is tried and the client network it is tried from, as the throttle tables name them.
#[derive(Debug)]
pub(super) struct Origin {
    pub(super) account: String,
    pub(super) network: String,
    /// The gate of the wider network, which every attempt passes after those of its limits.
    pub(super) gate: Option<Limit>,
}

/// An attempt that holds its reservations and is about to be judged.
#[derive(Debug)]
#[must_use = "an attempt that is never settled holds its reservations until their lease ends"]
pub(crate) struct Attempt {
    pub(super) auth: TenantAuth,
    pub(super) limits: Vec<Limit>,
    /// When the reservations were made, by which they are told from those that came after their lease.
    pub(super) reserved_at: Timestamp,
    /// `None` for an attempt with a code.
    pub(super) origin: Option<Origin>,
    /// `false` when the account is no member of the organization and the organization has tried too many such accounts; the
    /// password counts as wrong then and is not compared.
    pub(crate) may_be_judged: bool,
    /// The permits of this process's gates; released when the attempt is settled.
    pub(super) _permits: Vec<OwnedSemaphorePermit>,
    /// When the verdict must be there, so that none comes after the lease of the reservations.
    pub(super) judged_by: Instant,
}

impl Attempt {
    /// Does the work that judges the attempt.
    ///
    /// # Errors
    /// [`Error::Unavailable`] when the verdict does not come in time: another attempt could hold the reservation by then.
    pub(crate) async fn judged<T>(&self, judging: impl Future<Output = Result<T, Error>>) -> Result<T, Error> {
        timeout_at(self.judged_by, judging).await.map_err(|_| late())?
    }

    /// Whether there is time for a verdict. Asked where the work that judges may have waited for locks, in the transaction that the
    /// verdict commits: a commit cannot be given up half-way.
    ///
    /// # Errors
    /// As [`Attempt::judged`].
    pub(crate) fn in_time(&self) -> Result<(), Error> {
        if Instant::now() < self.judged_by { Ok(()) } else { Err(late()) }
    }

    /// Records a failed attempt, in a transaction of its own.
    pub(crate) async fn failed(self) -> Result<(), Error> {
        let mut tx = self.auth.begin().await?;
        self.failed_in(&mut tx).await?;
        tx.commit().await
    }

    /// Records a failed attempt in the transaction that also writes what follows from it. Returns whether the failure reached a
    /// limit.
    pub(crate) async fn failed_in(&self, tx: &mut Tx) -> Result<bool, Error> {
        let mut reached = false;
        let now = tx.now();
        for limit in &self.limits {
            let window_ends = now.plus(limit.window);
            let Some(state) = tx.throttles().fail(limit, self.reserved_at, window_ends).await? else { continue };
            let beyond = u32::try_from(state.failures).unwrap_or(u32::MAX).checked_sub(limit.most);
            let blocked_until = match beyond {
                None => Timestamp::from_millis(0),
                Some(beyond) if limit.doubling => now.plus(FIRST_BLOCK.saturating_mul(1 << beyond.min(10)).min(LONGEST_BLOCK)),
                Some(_) => state.window_ends_at().min(now.plus(longest_block(limit))),
            };
            reached |= beyond == Some(0);
            let counts_until = limit.counts_until(now, blocked_until);
            tx.throttles().block(&limit.key, blocked_until, counts_until, window_ends.max(counts_until)).await?;
        }
        Ok(reached)
    }

    /// Releases the reservations of an attempt that was right or never judged, in a transaction of its own. That it failed changes nothing
    /// of the verdict, which may have been acted on by now: the reservations end with their lease then.
    pub(crate) async fn withdrawn(self) {
        if let Err(error) = self.release_alone().await {
            tracing::warn!(error = %error.causes(), "an attempt holds its reservations until their lease ends");
        }
    }

    async fn release_alone(&self) -> Result<(), Error> {
        let mut tx = self.auth.begin().await?;
        self.released(&mut tx).await?;
        tx.commit().await
    }

    /// Releases the reservations of an attempt that was right, in the transaction that depends on the verdict.
    pub(crate) async fn released(&self, tx: &mut Tx) -> Result<(), Error> {
        for limit in &self.limits {
            tx.throttles().release(&limit.key, self.reserved_at).await?;
        }
        Ok(())
    }

    /// Releases the reservations of an attempt that completed a login: resets the account's failures at the client's network, and
    /// remembers the network as known.
    pub(crate) async fn completed(&self, tx: &mut Tx) -> Result<(), Error> {
        if let ([limit], Some(Origin { account, network, .. })) = (&*self.limits, &self.origin)
            && limit.doubling
        {
            return tx.throttles().clear_and_know(&limit.key, self.reserved_at, (account, network)).await;
        }
        for limit in &self.limits {
            if limit.doubling {
                tx.throttles().clear(&limit.key, self.reserved_at).await?;
            } else {
                tx.throttles().release(&limit.key, self.reserved_at).await?;
            }
        }
        if let Some(Origin { account, network, .. }) = &self.origin {
            tx.throttles().know(account, network).await?;
        }
        Ok(())
    }
}

fn late() -> Error {
    Overload::Attempts.into()
}

/// Does what [`Attempt::completed`] does, for a login that its second factor completed after the password attempt was settled.
pub(crate) async fn login_completed(tx: &mut Tx, email: &Email, client: &Client) -> Result<(), Error> {
    let account = account_key(email);
    let Some(network) = network_of(client) else { return Ok(()) };
    tx.throttles().forget(&pair_key(&account, &network)).await?;
    tx.throttles().know(&account, &network).await
}
