//! The rate limiter's counters of failed attempts. An attempt makes a reservation before it is judged and releases it with the
//! verdict, so that parallel guesses cannot exceed a limit. A reservation has a lease: if its process dies, it expires.

use crate::{
    error::Error,
    store::{
        Link, Tx,
        dialect::{execute, execute_of, fetch_all, fetch_optional, fetch_scalars, row, statements},
    },
    throttle::Limit,
    time::{CLOCKS_DIFFER, Timestamp},
};

pub(crate) struct Throttles<L>(pub(in crate::store) L);

// A reservation that ended with its lease is none of those that are held together since.
macro_rules! clear {
    ($reserved_at:literal) => {
        concat!(
            "
        UPDATE tenant_auth_throttles
           SET pending = CASE WHEN pending > 0 AND pending_since <= ",
            $reserved_at,
            " THEN pending - 1 ELSE pending END, failures = 0, blocked_until = 0
         WHERE key = $1"
        )
    };
}

statements! {
    STATE = "
        SELECT failures, window_ends_at, blocked_until
          FROM tenant_auth_throttles
         WHERE key = $1";
    BLOCKS = "
        SELECT key, blocked_until
          FROM tenant_auth_throttles
         WHERE key IN ($1, $2, $3) AND blocked_until > $4";
    // Known at the last 50 of them, however many there are: each of them has guesses of its own.
    STANDING = "
        SELECT key, blocked_until
          FROM tenant_auth_throttles
         WHERE key IN ($1, $2, $3) AND blocked_until > $4
        UNION ALL
        SELECT '', last_login_at
          FROM tenant_auth_known_addresses k
         WHERE account_key = $5 AND ip_key = $6 AND last_login_at > $7
           AND (SELECT COUNT(*)
                  FROM (SELECT 1
                          FROM tenant_auth_known_addresses n
                         WHERE n.account_key = $5 AND n.last_login_at > k.last_login_at
                         LIMIT 50) AS later) < 50";
    CUT_BLOCK = "
        UPDATE tenant_auth_throttles
           SET blocked_until = $2, window_ends_at = CASE WHEN window_ends_at > $3 THEN $3 ELSE window_ends_at END
         WHERE key = $1 AND blocked_until > $2";
    // A reservation may be gone, for it is not kept as a verdict is: the failure counts without it. A window that ends too late is over,
    // as for a reservation.
    FAIL = "
        INSERT INTO tenant_auth_throttles AS t (key, subject, failures, pending, pending_until, window_ends_at, blocked_until, forget_at)
        VALUES ($1, $5, 1, 0, 0, $3, 0, $3)
        ON CONFLICT (key) DO UPDATE
           SET failures = CASE WHEN t.window_ends_at <= $2 OR t.window_ends_at > $4 THEN 1 ELSE t.failures + 1 END,
               pending = CASE WHEN t.pending > 0 AND t.pending_since <= $6 THEN t.pending - 1 ELSE t.pending END,
               window_ends_at = CASE WHEN t.failures = 0 OR t.window_ends_at <= $2 OR t.window_ends_at > $4 OR t.failures + 1 >= $7 THEN $3
                                     ELSE t.window_ends_at END
        RETURNING failures, window_ends_at, blocked_until";
    BLOCK = "
        UPDATE tenant_auth_throttles
           SET blocked_until = $2,
               window_ends_at = CASE WHEN window_ends_at < $3 THEN $3 ELSE window_ends_at END,
               forget_at = CASE WHEN forget_at < $4 THEN $4 ELSE forget_at END
         WHERE key = $1";
    SPEND = "
        INSERT INTO tenant_auth_throttles AS t (key, failures, pending, pending_until, window_ends_at, blocked_until, forget_at)
        VALUES ($1, $6, 0, 0, $3, 0, $3)
        ON CONFLICT (key) DO UPDATE
           SET failures = CASE WHEN t.window_ends_at <= $2 OR t.window_ends_at > $5 THEN $6 ELSE t.failures + $6 END,
               window_ends_at = CASE WHEN t.window_ends_at <= $2 OR t.window_ends_at > $5 THEN $3 ELSE t.window_ends_at END,
               forget_at = CASE WHEN t.window_ends_at <= $2 OR t.window_ends_at > $5 THEN $3 ELSE t.forget_at END
         WHERE t.window_ends_at <= $2 OR t.window_ends_at > $5 OR t.failures < $4
        RETURNING failures, window_ends_at, blocked_until";
    RELEASE = "
        UPDATE tenant_auth_throttles
           SET pending = pending - 1
         WHERE key = $1 AND pending > 0 AND pending_since <= $2";
    CLEAR = clear!("$2");
    FORGET = "DELETE FROM tenant_auth_throttles WHERE key = $1";
    OF_SUBJECT = "SELECT key FROM tenant_auth_throttles WHERE subject = $1";
    ENDED = "SELECT key FROM tenant_auth_throttles WHERE forget_at <= $1 LIMIT $2";
    FORGET_ENDED = "DELETE FROM tenant_auth_throttles WHERE key = $1 AND forget_at <= $2";
    KNOW = "
        INSERT INTO tenant_auth_known_addresses (account_key, ip_key, last_login_at)
        VALUES ($1, $2, $3)
        ON CONFLICT (account_key, ip_key) DO UPDATE SET last_login_at = excluded.last_login_at";
    MOVE_KNOWN = "UPDATE tenant_auth_known_addresses SET account_key = $2 WHERE account_key = $1";
    FORGET_KNOWN = "DELETE FROM tenant_auth_known_addresses WHERE account_key = $1";
}

/// A login of an account from an address at which it is known, which is most of them: one message for both writes.
#[cfg(feature = "sqlite")]
pub(in crate::store) mod sqlite {
    use crate::store::dialect::statements;

    statements! {
        pub(super) CLEAR_AND_KNOW = concat!(clear!("$5"), ";
        INSERT INTO tenant_auth_known_addresses (account_key, ip_key, last_login_at)
        VALUES ($2, $3, $4)
        ON CONFLICT (account_key, ip_key) DO UPDATE SET last_login_at = excluded.last_login_at");
    }
}

#[cfg(feature = "postgres")]
pub(in crate::store) mod postgres {
    use crate::store::dialect::statements;

    statements! {
        // The second write counts the first one's rows, and so comes after it.
        pub(super) CLEAR_AND_KNOW = concat!("
        WITH cleared AS (", clear!("$5"), " RETURNING key)
        INSERT INTO tenant_auth_known_addresses (account_key, ip_key, last_login_at)
        SELECT $2, $3, $4 FROM (SELECT COUNT(*) FROM cleared) AS c
        ON CONFLICT (account_key, ip_key) DO UPDATE SET last_login_at = excluded.last_login_at");
    }
}

row! {
    /// The state of a counter.
    #[derive(Debug, Clone, Copy)]
    ThrottleState {
        failures: i64,
        window_ends_at: i64,
        blocked_until: i64,
    }
}

row! {
    /// A key that is blocked.
    BlockRow { key: String, blocked_until: i64, }
}

/// What stands against an attempt with a password, and for it.
pub(crate) struct Standing {
    /// Whether the account completed a password login from this address lately.
    pub(crate) is_known: bool,
    /// The blocks that hold now.
    pub(crate) blocks: Vec<BlockRow>,
}

/// The beginnings of the keys that count attempts; other counters are rates.
const ATTEMPTS: [&str; 6] = ["account:", "code-day:", "code:", "ip:", "pair:", "strangers:"];

/// The order in which a transaction locks counters: those of attempts by key, then the rates by key. One statement for several rows
/// would lock them in an order of the database's own choice, and two such transactions could deadlock. The order is that of the
/// bytes, as everywhere in the service; a database may sort otherwise.
fn in_order(mut keys: Vec<String>) -> Vec<String> {
    keys.sort_by_cached_key(|key| (!ATTEMPTS.iter().any(|name| key.starts_with(name)), key.clone()));
    keys
}

impl BlockRow {
    pub(crate) fn blocked_until(&self) -> Timestamp {
        Timestamp::from_millis(self.blocked_until)
    }
}

impl ThrottleState {
    pub(crate) fn window_ends_at(&self) -> Timestamp {
        Timestamp::from_millis(self.window_ends_at)
    }

    pub(crate) fn blocked_until(&self) -> Timestamp {
        Timestamp::from_millis(self.blocked_until)
    }

    /// Whether a rate's window is used up; one that begins now would end at `window_ends`.
    pub(crate) fn is_spent(&self, most: u32, now: Timestamp, window_ends: Timestamp) -> bool {
        let is_over = self.window_ends_at() <= now || self.window_ends_at() > window_ends.plus(CLOCKS_DIFFER);
        !is_over && self.failures >= i64::from(most)
    }
}

impl<L: Link> Throttles<L> {
    pub(crate) async fn state(mut self, key: &str) -> Result<Option<ThrottleState>, Error> {
        fetch_optional!(self.0, ThrottleState, STATE, key)
    }

    /// The blocks that hold now under these limits, of which there are at most three.
    pub(crate) async fn blocks(mut self, limits: &[Limit], now: Timestamp) -> Result<Vec<BlockRow>, Error> {
        let key = |index: usize| limits.get(index).map_or("", |limit| limit.key.as_str());
        fetch_all!(self.0, BlockRow, BLOCKS, key(0), key(1), key(2), now.millis())
    }

    /// The same, and whether the account completed a password login from the address with this key since `since`.
    pub(crate) async fn standing(
        mut self,
        limits: &[Limit],
        now: Timestamp,
        (account_key, ip_key): (&str, &str),
        since: Timestamp,
    ) -> Result<Standing, Error> {
        let key = |index: usize| limits.get(index).map_or("", |limit| limit.key.as_str());
        let (now, since) = (now.millis(), since.millis());
        let rows = fetch_all!(self.0, BlockRow, STANDING, key(0), key(1), key(2), now, account_key, ip_key, since)?;
        // No counter's key is empty: that is the row of the known address.
        let (known, blocks): (Vec<_>, Vec<_>) = rows.into_iter().partition(|row| row.key.is_empty());
        Ok(Standing { is_known: !known.is_empty(), blocks })
    }
}

impl Throttles<&mut Tx> {
    /// Counts a failure and releases its reservation. The window begins with the first failure and, where blocks double, again with
    /// each failure that blocks.
    pub(crate) async fn fail(
        mut self,
        limit: &Limit,
        reserved_at: Timestamp,
        window_ends: Timestamp,
    ) -> Result<Option<ThrottleState>, Error> {
        let (now, window_ends, reserved_at) = (self.0.now(), window_ends.millis(), reserved_at.millis());
        let latest = limit.latest_end(now).millis();
        let extends_from = if limit.doubling { i64::from(limit.most) } else { i64::MAX };
        let (key, subject) = (limit.key.as_str(), limit.subject.as_deref());
        fetch_optional!(self.0, ThrottleState, FAIL, key, now.millis(), window_ends, latest, subject, reserved_at, extends_from)
    }

    /// Blocks the key until `until`; its failures count until `counts_until` at least, and the counter is kept until `forget_at`.
    pub(crate) async fn block(
        mut self,
        key: &str,
        until: Timestamp,
        counts_until: Timestamp,
        forget_at: Timestamp,
    ) -> Result<(), Error> {
        execute!(self.0, BLOCK, key, until.millis(), counts_until.millis(), forget_at.millis())?;
        Ok(())
    }

    /// Cuts a block that would last beyond `longest`, and failures that would count beyond `counts_until`.
    pub(crate) async fn cut_block(mut self, key: &str, longest: Timestamp, counts_until: Timestamp) -> Result<(), Error> {
        execute!(self.0, CUT_BLOCK, key, longest.millis(), counts_until.millis())?;
        Ok(())
    }

    /// Counts one use in a fixed window of `most`, which starts with the first use; a window that ends later than one of now could is
    /// over, because it was begun before the clock was set back. `false` when the window is used up.
    pub(crate) async fn spend(self, key: &str, window_ends: Timestamp, most: u32) -> Result<bool, Error> {
        self.spend_some(key, 1, window_ends, most).await
    }

    /// The same of more at once; the last amount may go beyond `most`.
    pub(crate) async fn spend_some(mut self, key: &str, amount: u32, window_ends: Timestamp, most: u32) -> Result<bool, Error> {
        let (now, latest) = (self.0.now(), window_ends.plus(CLOCKS_DIFFER));
        let (window_ends, most, amount) = (window_ends.millis(), i64::from(most), i64::from(amount));
        let spent = fetch_optional!(self.0, ThrottleState, SPEND, key, now.millis(), window_ends, most, latest.millis(), amount)?;
        Ok(spent.is_some())
    }

    /// Releases a reservation, made at that time, without counting a failure.
    pub(crate) async fn release(mut self, key: &str, reserved_at: Timestamp) -> Result<(), Error> {
        execute!(self.0, RELEASE, key, reserved_at.millis())?;
        Ok(())
    }

    /// Releases a reservation and resets the counter.
    pub(crate) async fn clear(mut self, key: &str, reserved_at: Timestamp) -> Result<(), Error> {
        execute!(self.0, CLEAR, key, reserved_at.millis())?;
        Ok(())
    }

    /// The same, and remembers that the account has just logged in from the address.
    pub(crate) async fn clear_and_know(
        mut self,
        key: &str,
        reserved_at: Timestamp,
        (account_key, ip_key): (&str, &str),
    ) -> Result<(), Error> {
        let now = self.0.now();
        execute_of!(self.0, CLEAR_AND_KNOW, key, account_key, ip_key, now.millis(), reserved_at.millis())?;
        Ok(())
    }

    /// Deletes one counter.
    pub(crate) async fn forget(mut self, key: &str) -> Result<(), Error> {
        execute!(self.0, FORGET, key)?;
        Ok(())
    }

    /// Deletes every counter of a subject.
    pub(crate) async fn forgive(mut self, subject: &str) -> Result<(), Error> {
        let keys = fetch_scalars!(self.0, String, OF_SUBJECT, subject)?;
        self.forget_all(keys).await.map(drop)
    }

    /// Deletes these counters, and returns how many there were.
    pub(crate) async fn forget_all(mut self, keys: Vec<String>) -> Result<u64, Error> {
        let mut deleted = 0;
        for key in in_order(keys) {
            deleted += execute!(self.0, FORGET, key.as_str())?;
        }
        Ok(deleted)
    }

    /// Deletes a batch of the counters that were to be kept until `ended` at most, and returns their number.
    pub(in crate::store) async fn sweep(mut self, ended: Timestamp, batch: i64) -> Result<u64, Error> {
        let mut deleted = 0;
        for key in in_order(fetch_scalars!(self.0, String, ENDED, ended.millis(), batch)?) {
            deleted += execute!(self.0, FORGET_ENDED, key.as_str(), ended.millis())?;
        }
        Ok(deleted)
    }

    pub(crate) async fn know(mut self, account_key: &str, ip_key: &str) -> Result<(), Error> {
        let now = self.0.now();
        execute!(self.0, KNOW, account_key, ip_key, now.millis())?;
        Ok(())
    }

    /// To an account that is known at no address.
    pub(crate) async fn move_known(mut self, from_account: &str, to_account: &str) -> Result<(), Error> {
        execute!(self.0, MOVE_KNOWN, from_account, to_account)?;
        Ok(())
    }

    /// Forgets where an account is known, and returns at how many addresses that was.
    pub(crate) async fn forget_known(mut self, account_key: &str) -> Result<u64, Error> {
        execute!(self.0, FORGET_KNOWN, account_key)
    }
}
