//! The rate limiter of failed attempts. They are counted in the database before anything is hashed, so that the limits hold for all
//! processes and survive a restart (behaviour.md, B81). An attempt makes a reservation under each limit that applies; an attempt
//! that finds a limit full of undecided reservations waits for their verdicts, so that parallel correct logins all succeed and
//! parallel guesses never exceed the limit.
//!
//! No stranger can lock a person out: the wide limits exempt the addresses from which the account has logged in lately.

mod attempt;
mod blocked;
mod gates;
#[cfg(feature = "http")]
mod guesses;
#[cfg(feature = "http")]
mod guessing;
mod limits;
mod noted;
mod rates;
mod refused;

use std::{pin::pin, time::Duration};

pub(crate) use attempt::{Attempt, login_completed};
pub(crate) use gates::{Gates, Limit};
#[cfg(feature = "http")]
pub(crate) use guesses::Guesses;
pub(crate) use noted::{BlockedLogins, Whose};
pub(crate) use rates::{
    ADMIN_CHANGES, AUDIT_EXPORTS, DELETIONS, DEPLOYMENT_INVITES, EMAIL_CHANGES, INVITES_TO_ADDRESS, INVITES_TO_ADDRESS_A_DAY,
    METADATA_BYTES, NEWCOMERS_EMAIL_CHANGES, NEWCOMERS_INVITES, NEWCOMERS_METADATA_BYTES, NOTICES, NOTICES_TO_AUTHOR, OWN_NOTICES,
    PROFILE_CHANGES, REDELIVERIES, RESET_REQUESTS, Rate, SIGN_UP_REFUSALS, SIGN_UP_REFUSALS_OF_NETWORK, SIGN_UP_REQUESTS,
    SIGN_UPS_IN_ALL, SIGN_UPS_OF_ACCOUNT, SIGN_UPS_OF_NETWORK, TEST_DELIVERIES, sign_up_mails_of_deployment,
    sign_ups_of_deployment, wide_network_of,
};
pub(crate) use refused::log_refused;
use tokio::time::Instant;

use crate::{
    caller::Client,
    config::Config,
    deadline,
    error::{Error, Overload},
    id::{OrgId, UserId},
    service::TenantAuth,
    store::{BlockRow, LinkPurpose, ThrottleState, Tx},
    time::Timestamp,
    value::Email,
};
use attempt::Origin;
use gates::PATIENCE;
pub(crate) use limits::{account_key, pair_key};
use limits::{longest_block, network_gate, network_of, pair_limit, wide_limits};
use rates::MAILS;

/// The lease of a reservation: a reservation whose process died expires after it, before an attempt that waits gives up.
const LEASE: Duration = Duration::from_millis(4_500);
/// How long judging an attempt may take. A verdict after the lease could come beside that of an attempt that took the place.
const VERDICT: Duration = Duration::from_secs(4);
/// The first and the longest pause between two polls for the verdicts of other processes.
const FIRST_LOOK: Duration = Duration::from_millis(25);
const LAST_LOOK: Duration = Duration::from_millis(400);
/// An address from which the account logged in within this time is known (behaviour.md, B84).
const KNOWN_FOR: Duration = Duration::from_secs(30 * 24 * 3_600);
const DAY: Duration = Duration::from_secs(24 * 3_600);

impl TenantAuth {
    /// Makes the reservations of a password attempt on the account with this address. Addresses without an account are counted
    /// alike, so that the limits do not reveal accounts.
    ///
    /// # Errors
    /// [`Error::RateLimited`] when a limit is reached, also for the right password; [`Error::Unavailable`] when undecided attempts
    /// fill a limit for too long.
    pub(crate) async fn password_attempt(&self, email: &Email, client: &Client) -> Result<Attempt, Error> {
        let (account, network) = (account_key(email), network_of(client));
        let narrow = network.as_ref().map(|network| pair_limit(self.config(), &account, network));
        let mut limits: Vec<Limit> = narrow.into_iter().chain(wide_limits(self.config(), &account, client)).collect();
        let mut reader = self.store().read().await?;
        let (now, address) = (self.now(), network.as_deref().unwrap_or_default());
        let standing = reader.throttles().standing(&limits, now, (&account, address), now.minus(KNOWN_FOR)).await?;
        if standing.is_known {
            limits.truncate(1);
        }
        let stranger_of = match &client.stated_by {
            Some(org) if !reader.members().has_address(org, email).await? => Some(org),
            _ => None,
        };
        drop(reader);
        self.refuse_blocked(standing.blocks, &limits).await?;
        let origin = network.map(|network| Origin { account, network, gate: network_gate(client) });
        self.reserve(limits, origin, stranger_of).await
    }

    /// Makes the reservations of an attempt at an account's second factor (behaviour.md, B86). One from a stated address counts for
    /// whoever states it alone (B87).
    ///
    /// # Errors
    /// [`Error::RateLimited`] when a limit is reached.
    pub(crate) async fn code_attempt(&self, user: &UserId, client: &Client) -> Result<Attempt, Error> {
        let whose = match &client.stated_by {
            Some(org) => format!("{org}:{user}"),
            None => user.to_string(),
        };
        let limit = |name: &str, most, window| Limit {
            key: format!("{name}:{whose}"),
            subject: Some(user.to_string()),
            most,
            window,
            doubling: false,
        };
        let limits = vec![limit("code", 10, Duration::from_secs(900)), limit("code-day", 50, DAY)];
        let blocks = self.store().read().await?.throttles().blocks(&limits, self.now()).await?;
        self.refuse_blocked(blocks, &limits).await?;
        self.reserve(limits, None, None).await
    }

    /// Refuses an attempt at a limit that one of these blocks holds. It only reads: a refused stranger takes no turn at the database's
    /// writer. A block that was written before the clock was set back is cut to the longest there is.
    async fn refuse_blocked(&self, blocks: Vec<BlockRow>, limits: &[Limit]) -> Result<(), Error> {
        let now = self.now();
        let mut wait = None;
        for limit in limits {
            let Some(until) = blocks.iter().find(|block| block.key == limit.key).map(|block| block.blocked_until()) else {
                continue;
            };
            let longest = now.plus(longest_block(limit));
            if until > longest {
                let mut tx = self.begin().await?;
                tx.throttles().cut_block(&limit.key, longest, limit.counts_at_most_until(now)).await?;
                tx.commit().await?;
            }
            wait = wait.max(Some(until.min(longest).since(now)));
        }
        wait.map_or(Ok(()), |wait| Err(Error::rate_limited(wait)))
    }

    async fn reserve(&self, mut limits: Vec<Limit>, origin: Option<Origin>, stranger_of: Option<&OrgId>) -> Result<Attempt, Error> {
        // Every transaction locks its counters in the order of their keys, so that two attempts cannot deadlock.
        limits.sort_by(|a, b| a.key.cmp(&b.key));
        let end = Instant::now() + PATIENCE;
        let mut permits = self.gates().pass(&limits, end).await?;
        // Last: whoever waits at an account's gate keeps nobody else of the network waiting.
        let wider = origin.as_ref().map_or(&[][..], |origin| origin.gate.as_slice());
        permits.extend(self.gates().pass(wider, end).await?);
        let mut pause = FIRST_LOOK;
        loop {
            let round = self.try_to_reserve(&limits, stranger_of).await?;
            let Some((full, state)) = round.full else {
                let Round { now: reserved_at, judged_by, may_be_judged, .. } = round;
                return Ok(Attempt {
                    auth: self.clone(),
                    limits,
                    reserved_at,
                    origin,
                    may_be_judged,
                    _permits: permits,
                    judged_by,
                });
            };
            if let Some(until) = state.map(|state| state.blocked_until()).filter(|until| *until > round.now) {
                return Err(Error::rate_limited(until.since(round.now).min(longest_block(full))));
            }
            // Attempts of other processes hold every reservation; their verdicts can only be polled for.
            let look = pin!(tokio::time::sleep(pause));
            let looking = deadline::wait(end.saturating_duration_since(Instant::now()), look).await;
            looking.map_err(|_| Overload::Attempts)?;
            pause = (pause * 2).min(LAST_LOOK);
        }
    }

    /// Makes a reservation under each of these limits, or none.
    async fn try_to_reserve<'l>(&self, limits: &'l [Limit], stranger_of: Option<&OrgId>) -> Result<Round<'l>, Error> {
        if let ([limit], None) = (limits, stranger_of) {
            return self.try_to_reserve_one(limit).await;
        }
        // What a backend may try of strangers lasts longer than a lease, so that it is kept as any count is.
        let mut tx = match stranger_of {
            Some(_) => self.begin().await?,
            None => self.begin_fleeting().await?,
        };
        let mut round = Round::at(tx.now(), Instant::now());
        for limit in limits {
            if !tx.throttles().reserve(limit, round.now.plus(LEASE)).await? {
                round.full = Some((limit, tx.throttles().state(&limit.key).await?));
                return Ok(round);
            }
        }
        if let Some(org) = stranger_of {
            round.may_be_judged = may_try_stranger(&mut tx, self.config(), org).await?;
        }
        tx.commit().await?;
        Ok(round)
    }

    /// The same for one limit: that of an account at an address from which it has logged in.
    async fn try_to_reserve_one<'l>(&self, limit: &'l Limit) -> Result<Round<'l>, Error> {
        let written = self.one_statements().reserve(limit, LEASE).await?;
        let mut round = Round::at(written.at, written.began);
        if !written.is_done {
            round.full = Some((limit, self.store().read().await?.throttles().state(&limit.key).await?));
        }
        Ok(round)
    }
}

/// What came of trying to make reservations.
struct Round<'l> {
    now: Timestamp,
    /// When the verdict must be there.
    judged_by: Instant,
    /// The limit that gave none, and its state.
    full: Option<(&'l Limit, Option<ThrottleState>)>,
    may_be_judged: bool,
}

impl Round<'_> {
    fn at(now: Timestamp, began: Instant) -> Self {
        Self { now, judged_by: began + VERDICT, full: None, may_be_judged: true }
    }
}

/// Counts an attempt, through an organization's backend, on an account that is no member of the organization; `false` when the
/// limit of such attempts is reached. The limit is independent of the client addresses that the backend states, because a hostile
/// backend could state a new address for each try and spray one password over all accounts (behaviour.md, B87).
async fn may_try_stranger(tx: &mut Tx, config: &Config, org: &OrgId) -> Result<bool, Error> {
    let until = tx.now().plus(config.login.window);
    tx.throttles().spend(&format!("strangers:{org}"), until, config.login.max_failures_per_ip).await
}

/// Resets the counters of an account's wrong passwords, after a password reset or for whoever unlocks it. The counters of wrong codes stay
/// here: whoever reads the mailbox could otherwise guess codes without limit.
pub(crate) async fn forgive_passwords(tx: &mut Tx, email: &Email) -> Result<(), Error> {
    tx.throttles().forgive(&account_key(email)).await
}

/// Lets the addresses that an account is known at follow it to its new email address, where they take the place of what an earlier holder
/// left. To be called before the account is locked, as for all counters.
pub(crate) async fn move_known_addresses(tx: &mut Tx, from: &Email, to: &Email) -> Result<(), Error> {
    let (from, to) = (account_key(from), account_key(to));
    if from == to {
        return Ok(());
    }
    tx.throttles().forget_known(&to).await?;
    tx.throttles().move_known(&from, &to).await
}

/// Forgets the addresses that an account is known at, which is about to be deleted: they are nothing to whoever has its email address next.
pub(crate) async fn forget_known_addresses(tx: &mut Tx, email: &Email) -> Result<(), Error> {
    tx.throttles().forget_known(&account_key(email)).await.map(drop)
}

/// Resets the counters of an account's wrong codes.
pub(crate) async fn forgive_codes(tx: &mut Tx, user: &UserId) -> Result<(), Error> {
    tx.throttles().forgive(user.as_str()).await
}

/// Counts a mail with a link, in the transaction that enqueues the mail. The recipient stands in the table as a digest.
///
/// # Errors
/// [`Error::RateLimited`] when the recipient's limit is reached.
pub(crate) async fn count_mail(tx: &mut Tx, purpose: LinkPurpose, recipient: &Email) -> Result<(), Error> {
    MAILS.spend(tx, &mails_of(purpose, recipient)).await
}

/// Refuses a mail that [`count_mail`] would refuse; see [`Rate::refuse_spent`].
///
/// # Errors
/// [`Error::RateLimited`] when the recipient's limit is reached.
pub(crate) async fn refuse_spent_mail(auth: &TenantAuth, purpose: LinkPurpose, recipient: &Email) -> Result<(), Error> {
    MAILS.refuse_spent(auth, &mails_of(purpose, recipient)).await
}

fn mails_of(purpose: LinkPurpose, recipient: &Email) -> String {
    format!("{}:{}", purpose.as_str(), account_key(recipient))
}

#[cfg(all(test, feature = "testing", feature = "sqlite"))]
mod tests;
