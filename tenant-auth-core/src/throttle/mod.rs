//! The rate limiter of failed attempts. They are counted in the database before anything is hashed, so that the limits hold for all
//! processes and survive a restart (behaviour.md, B81). An attempt makes a reservation under each limit that applies; an attempt
//! that finds a limit full of undecided reservations waits for their verdicts, so that parallel correct logins all succeed and
//! parallel guesses never exceed the limit.
//!
//! No stranger can lock a person out: the wide limits exempt the addresses from which the account has logged in lately.

mod gates;
mod rates;

use std::{net::IpAddr, time::Duration};

pub(crate) use gates::{Gates, Limit};
pub(crate) use rates::{ADMIN_CHANGES, EMAIL_CHANGES, NOTICES, PROFILE_CHANGES, REDELIVERIES, RESET_REQUESTS, wide_network_of};
use tokio::{sync::OwnedSemaphorePermit, time::Instant};

use crate::{
    caller::Client,
    config::Config,
    deadline,
    error::{Error, Overload},
    id::{OrgId, UserId},
    secret::Secret,
    service::TenantAuth,
    store::{LinkPurpose, Tx},
    time::Timestamp,
    value::Email,
};
use gates::PATIENCE;

/// The lease of a reservation, longer than any verdict takes: a reservation whose process died expires after it.
const LEASE: Duration = Duration::from_secs(60);
/// The first and the longest pause between two polls for the verdicts of other processes.
const FIRST_LOOK: Duration = Duration::from_millis(25);
const LAST_LOOK: Duration = Duration::from_millis(400);
/// An address from which the account logged in within this time is known (behaviour.md, B84).
const KNOWN_FOR: Duration = Duration::from_secs(30 * 24 * 3_600);
const HOUR: Duration = Duration::from_secs(3_600);
const DAY: Duration = Duration::from_secs(24 * 3_600);
/// The first block of an account at an address; it doubles with each further failure up to the longest (behaviour.md, B82).
const FIRST_BLOCK: Duration = Duration::from_secs(60);
const LONGEST_BLOCK: Duration = Duration::from_secs(900);

/// The account that is tried and the client network it is tried from, as the throttle tables name them.
#[derive(Debug)]
struct Origin {
    account: String,
    network: String,
}

/// An attempt that holds its reservations and is about to be judged.
#[derive(Debug)]
#[must_use = "an attempt that is never settled holds its reservations for a minute"]
pub(crate) struct Attempt {
    auth: TenantAuth,
    limits: Vec<Limit>,
    /// `None` for an attempt with a code.
    origin: Option<Origin>,
    /// `false` when the account is no member of the organization and the organization has tried too many such accounts; the
    /// password counts as wrong then and is not compared.
    pub(crate) may_be_judged: bool,
    /// The permits of this process's gates; released when the attempt is settled.
    _permits: Vec<OwnedSemaphorePermit>,
}

impl TenantAuth {
    /// Makes the reservations of a password attempt on the account with this address. Addresses without an account are counted
    /// alike, so that the limits do not reveal accounts.
    ///
    /// # Errors
    /// [`Error::RateLimited`] when a limit is reached, also for the right password; [`Error::Unavailable`] when undecided attempts
    /// fill a limit for too long.
    pub(crate) async fn password_attempt(&self, email: &Email, client: &Client) -> Result<Attempt, Error> {
        let (account, network) = (account_key(email), network_of(client));
        let mut limits = Vec::with_capacity(3);
        let mut reader = self.store().read().await?;
        let mut is_known = false;
        if let Some(network) = &network {
            limits.push(pair_limit(self.config(), &account, network));
            is_known = reader.throttles().knows(&account, network, self.now().minus(KNOWN_FOR)).await?;
        }
        if !is_known {
            limits.extend(wide_limits(self.config(), &account, client));
        }
        let stranger_of = match &client.stated_by {
            Some(org) if !reader.members().has_address(org, email).await? => Some(org),
            _ => None,
        };
        drop(reader);
        self.reserve(limits, network.map(|network| Origin { account, network }), stranger_of).await
    }

    /// Makes the reservations of an attempt at an account's second factor (behaviour.md, B86).
    ///
    /// # Errors
    /// [`Error::RateLimited`] when a limit is reached.
    pub(crate) async fn code_attempt(&self, user: &UserId) -> Result<Attempt, Error> {
        let limit = |name: &str, most, window| Limit {
            key: format!("{name}:{user}"),
            subject: Some(user.to_string()),
            most,
            window,
            doubling: false,
        };
        self.reserve(vec![limit("code", 10, Duration::from_secs(900)), limit("code-day", 50, DAY)], None, None).await
    }

    async fn reserve(&self, mut limits: Vec<Limit>, origin: Option<Origin>, stranger_of: Option<&OrgId>) -> Result<Attempt, Error> {
        // Every transaction locks its counters in the order of their keys, so that two attempts cannot deadlock.
        limits.sort_by(|a, b| a.key.cmp(&b.key));
        let end = Instant::now() + PATIENCE;
        let permits = self.gates().pass(&limits, end).await?;
        let mut pause = FIRST_LOOK;
        loop {
            let mut tx = self.begin().await?;
            let now = tx.now();
            let mut full = None;
            for limit in &limits {
                if !tx.throttles().reserve(limit, now.plus(LEASE)).await? {
                    full = Some(limit);
                    break;
                }
            }
            let Some(full) = full else {
                let may_be_judged = match stranger_of {
                    Some(org) => may_try_stranger(&mut tx, self.config(), org).await?,
                    None => true,
                };
                tx.commit().await?;
                return Ok(Attempt { auth: self.clone(), limits, origin, may_be_judged, _permits: permits });
            };
            let blocked = tx.throttles().state(&full.key).await?.map(|state| state.blocked_until()).filter(|until| *until > now);
            drop(tx);
            if let Some(until) = blocked {
                return Err(Error::rate_limited(until.since(now)));
            }
            // Attempts of other processes hold every reservation; their verdicts can only be polled for.
            let looking = deadline::wait(end.saturating_duration_since(Instant::now()), tokio::time::sleep(pause));
            looking.await.map_err(|_| Error::unavailable(Overload("attempts in other processes fill a limit")))?;
            pause = (pause * 2).min(LAST_LOOK);
        }
    }
}

/// Counts an attempt, through an organization's backend, on an account that is no member of the organization; `false` when the
/// limit of such attempts is reached. The limit is independent of the client addresses that the backend states, because a hostile
/// backend could state a new address for each try and spray one password over all accounts (behaviour.md, B87).
async fn may_try_stranger(tx: &mut Tx, config: &Config, org: &OrgId) -> Result<bool, Error> {
    let until = tx.now().plus(config.login.window);
    tx.throttles().spend(&format!("strangers:{org}"), until, config.login.max_failures_per_ip).await
}

/// Resets the counters of an account's wrong passwords, after a password reset. The counters of wrong codes stay: whoever reads the
/// mailbox could otherwise guess codes without limit.
pub(crate) async fn forgive_passwords(tx: &mut Tx, email: &Email) -> Result<(), Error> {
    tx.throttles().forgive(&account_key(email)).await
}

/// Resets the counters of an account's wrong codes.
pub(crate) async fn forgive_codes(tx: &mut Tx, user: &UserId) -> Result<(), Error> {
    tx.throttles().forgive(user.as_str()).await
}

/// The limit of mails per hour with a link of one purpose to one recipient, whoever asks for them (behaviour.md, B89).
const MAILS_PER_HOUR: u32 = 3;

/// Counts a mail with a link, in the transaction that enqueues the mail. The recipient stands in the table as a digest.
///
/// # Errors
/// [`Error::RateLimited`] when the recipient's limit is reached.
pub(crate) async fn count_mail(tx: &mut Tx, purpose: LinkPurpose, recipient: &Email) -> Result<(), Error> {
    let now = tx.now();
    let key = format!("mail:{}:{}", purpose.as_str(), account_key(recipient));
    if tx.throttles().spend(&key, now.plus(HOUR), MAILS_PER_HOUR).await? {
        return Ok(());
    }
    let until = tx.throttles().state(&key).await?.map_or(now, |state| state.window_ends_at());
    Err(Error::rate_limited(until.since(now)))
}

impl Attempt {
    /// Records a failed attempt. Returns whether the failure reached a limit.
    pub(crate) async fn failed(self) -> Result<bool, Error> {
        let mut reached = false;
        let mut tx = self.auth.begin().await?;
        let now = tx.now();
        for limit in &self.limits {
            let window_ends = now.plus(limit.window);
            let Some(state) = tx.throttles().fail(limit, window_ends).await? else { continue };
            let beyond = u32::try_from(state.failures).unwrap_or(u32::MAX).checked_sub(limit.most);
            let blocked_until = match beyond {
                None => Timestamp::from_millis(0),
                Some(beyond) if limit.doubling => now.plus(FIRST_BLOCK.saturating_mul(1 << beyond.min(10)).min(LONGEST_BLOCK)),
                Some(_) => state.window_ends_at(),
            };
            reached |= beyond == Some(0);
            tx.throttles().block(&limit.key, blocked_until, window_ends.max(blocked_until)).await?;
        }
        tx.commit().await?;
        Ok(reached)
    }

    /// Releases the reservations of an attempt that was right or never judged, in a transaction of its own.
    pub(crate) async fn withdrawn(self) -> Result<(), Error> {
        let mut tx = self.auth.begin().await?;
        self.released(&mut tx).await?;
        tx.commit().await
    }

    /// Releases the reservations of an attempt that was right, in the transaction that depends on the verdict.
    pub(crate) async fn released(&self, tx: &mut Tx) -> Result<(), Error> {
        for limit in &self.limits {
            tx.throttles().release(&limit.key).await?;
        }
        Ok(())
    }

    /// Releases the reservations of an attempt that completed a login: resets the account's failures at the client's network, and
    /// remembers the network as known.
    pub(crate) async fn completed(&self, tx: &mut Tx) -> Result<(), Error> {
        for limit in &self.limits {
            if limit.doubling {
                tx.throttles().clear(&limit.key).await?;
            } else {
                tx.throttles().release(&limit.key).await?;
            }
        }
        if let Some(Origin { account, network }) = &self.origin {
            tx.throttles().know(account, network).await?;
        }
        Ok(())
    }
}

/// Does what [`Attempt::completed`] does, for a login that its second factor completed after the password attempt was settled.
pub(crate) async fn login_completed(tx: &mut Tx, email: &Email, client: &Client) -> Result<(), Error> {
    let account = account_key(email);
    let Some(network) = network_of(client) else { return Ok(()) };
    tx.throttles().forget(&pair_key(&account, &network)).await?;
    tx.throttles().know(&account, &network).await
}

fn pair_key(account: &str, network: &str) -> String {
    format!("pair:{account}:{network}")
}

fn pair_limit(config: &Config, account: &str, network: &str) -> Limit {
    Limit {
        key: pair_key(account, network),
        subject: Some(account.to_owned()),
        most: config.login.max_failures,
        window: config.login.window,
        doubling: true,
    }
}

fn wide_limits(config: &Config, account: &str, client: &Client) -> Vec<Limit> {
    let by_account = Limit {
        key: client.stated_by.as_ref().map_or_else(|| format!("account:{account}"), |org| format!("account:{org}:{account}")),
        subject: Some(account.to_owned()),
        most: config.login.max_failures_per_account,
        window: HOUR,
        doubling: false,
    };
    let by_ip = network_of(client).map(|network| Limit {
        key: format!("ip:{network}"),
        subject: None,
        most: config.login.max_failures_per_ip,
        window: config.login.window,
        doubling: false,
    });
    by_ip.into_iter().chain([by_account]).collect()
}

/// The counter key of an account: a digest of the address as typed, lower-cased, so that a leaked table is no list of addresses.
fn account_key(email: &Email) -> String {
    Secret::<()>::new(email.key()).digest().as_str().chars().take(32).collect()
}

/// The client network that failures are counted by: an IPv4 address, or an IPv6 /64, because one IPv6 customer can choose from all
/// addresses of a /64. An address that a backend stated counts for the backend's organization alone. `None` when the address is not
/// known: nothing is counted by it, because otherwise all clients without an address would share one counter.
pub(crate) fn network_of(client: &Client) -> Option<String> {
    let ip = match client.ip?.to_canonical() {
        IpAddr::V4(v4) => v4.to_string(),
        IpAddr::V6(v6) => {
            let [a, b, c, d, ..] = v6.segments();
            format!("{a:x}:{b:x}:{c:x}:{d:x}::")
        }
    };
    Some(client.stated_by.as_ref().map_or_else(|| ip.clone(), |org| format!("{org}:{ip}")))
}
