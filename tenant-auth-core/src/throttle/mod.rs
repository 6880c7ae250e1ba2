//! The rate limiter of failed attempts. They are counted in the database before anything is hashed, so that the limits hold for all
//! processes and survive a restart (behaviour.md, B81). An attempt makes a reservation under each limit that applies; an attempt
//! that finds a limit full of undecided reservations waits for their verdicts, so that parallel correct logins all succeed and
//! parallel guesses never exceed the limit.
//!
//! No stranger can lock a person out: the wide limits exempt the addresses from which the account has logged in lately.

mod gates;

use std::{net::IpAddr, time::Duration};

pub(crate) use gates::{Gates, Limit};
use tokio::sync::OwnedSemaphorePermit;

use crate::{
    caller::Client,
    config::Config,
    error::{Error, Overload},
    id::{OrgId, UserId},
    secret::Secret,
    service::TenantAuth,
    store::{LinkPurpose, Tx},
    time::Timestamp,
    value::Email,
};
use gates::PATIENCE;

/// A reservation is forgotten after this long: more than any verdict takes.
const LEASE: Duration = Duration::from_secs(60);
/// How often an attempt that waits looks for the verdicts of other processes.
const FIRST_LOOK: Duration = Duration::from_millis(25);
const LAST_LOOK: Duration = Duration::from_millis(400);
/// An address that logged in within this time is known.
const KNOWN_FOR: Duration = Duration::from_secs(30 * 24 * 3_600);
const HOUR: Duration = Duration::from_secs(3_600);
const DAY: Duration = Duration::from_secs(24 * 3_600);
/// The first block of an account at an address; it doubles up to the longest.
const FIRST_BLOCK: Duration = Duration::from_secs(60);
const LONGEST_BLOCK: Duration = Duration::from_secs(900);

/// Which account is tried, and from where, as the tables name them.
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
    /// For an attempt with a password.
    origin: Option<Origin>,
    /// `false` where the account stays a stranger to this organization: the password is wrong then, whatever it is.
    pub(crate) may_be_judged: bool,
    /// Given back to this process's other attempts when this one is settled.
    _permits: Vec<OwnedSemaphorePermit>,
}

impl TenantAuth {
    /// Makes the reservations of a password attempt on the account of this address, whether there is one or not.
    ///
    /// # Errors
    /// [`Error::RateLimited`] when a limit is reached; the right password makes no difference then.
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

    /// Makes the reservations of an attempt at an account's second factor.
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
        // Transactions that lock several counters lock them in one order.
        limits.sort_by(|a, b| a.key.cmp(&b.key));
        let permits = self.gates().pass(&limits).await?;
        let mut waited = Duration::ZERO;
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
            if waited >= PATIENCE {
                return Err(Error::unavailable(Overload("attempts in other processes fill a limit")));
            }
            // Other processes hold every reservation; their verdicts can only be polled for.
            tokio::time::sleep(pause).await;
            waited += pause;
            pause = (pause * 2).min(LAST_LOOK);
        }
    }
}

/// Whether an account that does not belong to the organization may be tried through its backend: only so often, whatever addresses
/// the backend states, or it could try one password on everybody.
async fn may_try_stranger(tx: &mut Tx, config: &Config, org: &OrgId) -> Result<bool, Error> {
    let until = tx.now().plus(config.login.window);
    tx.throttles().spend(&format!("strangers:{org}"), until, config.login.max_failures_per_ip).await
}

/// Forgets every wrong password for an account. Wrong codes stay: whoever reads the mailbox would have as many as they like.
pub(crate) async fn forgive_passwords(tx: &mut Tx, email: &Email) -> Result<(), Error> {
    tx.throttles().forgive(&account_key(email)).await
}

/// Forgets every wrong code for an account's second factor.
pub(crate) async fn forgive_codes(tx: &mut Tx, user: &UserId) -> Result<(), Error> {
    tx.throttles().forgive(user.as_str()).await
}

/// Mails with a link of one purpose that a recipient gets in an hour, whoever asks (behaviour.md, B89).
const MAILS_PER_HOUR: u32 = 3;

/// Counts a mail with a link, in the transaction that writes it. Recipients stand as digests here, too.
///
/// # Errors
/// [`Error::RateLimited`] when the recipient has had their share.
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
    /// It was wrong: it counts. `true` when it brought a limit about.
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

    /// It was right, or never judged: it does not count.
    pub(crate) async fn withdrawn(self) -> Result<(), Error> {
        let mut tx = self.auth.begin().await?;
        self.released(&mut tx).await?;
        tx.commit().await
    }

    /// It was right, as the transaction that rests on it says.
    pub(crate) async fn released(&self, tx: &mut Tx) -> Result<(), Error> {
        for limit in &self.limits {
            tx.throttles().release(&limit.key).await?;
        }
        Ok(())
    }

    /// It completed a login: the account's failures at this address are forgotten, and the address is known.
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

/// A login that was completed by its second factor: what [`Attempt::completed`] does, after the attempt itself is settled.
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

/// The address typed, lower-cased, as a digest: the table holds no list of whom somebody tried to log in as.
fn account_key(email: &Email) -> String {
    Secret::<()>::new(email.key()).digest().as_str().chars().take(32).collect()
}

/// What an address is counted as: itself, or the /64 that an IPv6 customer has to choose addresses from; behind the organization
/// whose backend stated it. `None` where the address is not known: nothing is counted by it, or one stranger's failures would be
/// everybody's.
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
