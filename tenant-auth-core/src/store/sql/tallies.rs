//! Daily tallies: how much of a kind happened on a day, for the figures of the deployment. The commit that writes an event adds to its
//! tally, so that each event is counted exactly once and nobody counts events afterwards, of which there may be many millions. The sum
//! is kept in parts, one for each character that an organization's id can end with: a commit holds its tally's row until it is
//! through, and the commits of one organization wait for each other anyway.

use crate::{
    error::Error,
    id::OrgId,
    model::EventKind,
    store::{
        Link, Tx,
        dialect::{execute, fetch_all, row, statements},
    },
    time::Timestamp,
};

pub(crate) struct Tallies<L>(pub(in crate::store) L);

/// How many days are shown, today among them.
pub(crate) const DAYS_SHOWN: i64 = 30;

/// Adds to a tally, for those as well who write more with it.
macro_rules! add {
    ($day:literal, $kind:literal, $part:literal, $amount:literal) => {
        concat!(
            "
        INSERT INTO tenant_auth_tallies AS t (day, kind, part, amount)
        VALUES (",
            $day,
            ", ",
            $kind,
            ", ",
            $part,
            ", ",
            $amount,
            ")
        ON CONFLICT (day, kind, part) DO UPDATE SET amount = t.amount + excluded.amount"
        )
    };
}
#[cfg(feature = "sqlite")]
pub(super) use add;

statements! {
    ADD = add!("$1", "$2", "$3", "$4");
    SINCE = "
        SELECT day, kind, CAST(SUM(amount) AS BIGINT) AS amount
          FROM tenant_auth_tallies
         WHERE day >= $1
         GROUP BY day, kind";
    SWEEP = "DELETE FROM tenant_auth_tallies WHERE day < $1";
    // Organizations are so few, and have an index by age, that those of a day are counted when they are asked for.
    ORGANIZATIONS_SINCE = "
        SELECT o.day AS day, 'org.created' AS kind, COUNT(*) AS amount
          FROM (SELECT created_at / 86400000 AS day
                  FROM tenant_auth_organizations
                 WHERE created_at >= $1 AND removed_at IS NULL) o
         GROUP BY o.day";
    TOTALS = "
        SELECT COUNT(CASE WHEN status = 'active' THEN 1 END) AS active,
               COUNT(CASE WHEN status <> 'active' AND deletes_at IS NULL THEN 1 END) AS suspended,
               COUNT(CASE WHEN status <> 'active' AND deletes_at IS NOT NULL THEN 1 END) AS deleting,
               (SELECT COUNT(*) FROM tenant_auth_users) AS accounts,
               (SELECT COUNT(*) FROM tenant_auth_memberships) AS members
          FROM tenant_auth_organizations
         WHERE removed_at IS NULL";
}

row! {
    /// What happened on a day.
    DayTally {
        day: i64,
        kind: String,
        amount: i64,
    }
}

row! {
    /// What there is now.
    Totals {
        active: i64,
        suspended: i64,
        deleting: i64,
        accounts: i64,
        members: i64,
    }
}

/// Which row an event adds to, in the order of locks.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::store) struct Tally {
    pub(super) day: i64,
    pub(super) kind: &'static str,
    pub(super) part: char,
}

impl Tally {
    /// That of an event; `None` for a kind that is not shown.
    pub(in crate::store) fn of(kind: EventKind, org: &OrgId, at: Timestamp) -> Option<Self> {
        let is_shown = matches!(kind, EventKind::SessionCreated | EventKind::MemberJoined);
        // The end of an id is chance.
        is_shown.then(|| Self { day: at.day(), kind: kind.as_str(), part: org.as_str().chars().last().unwrap_or('0') })
    }
}

impl<L: Link> Tallies<L> {
    /// What happened on each day from this one on, and how many organizations were made; a day without anything is missing.
    pub(crate) async fn since(mut self, day: i64) -> Result<Vec<DayTally>, Error> {
        let mut tallies = fetch_all!(self.0, DayTally, SINCE, day)?;
        tallies.extend(fetch_all!(self.0, DayTally, ORGANIZATIONS_SINCE, Timestamp::of_day(day).millis())?);
        Ok(tallies)
    }

    /// What there is now. Counted over an index of each table, which is 0.1 s for a million accounts: an operator looks seldom, and sums
    /// that each commit brought up to date would be one more row that all of them wait for.
    pub(crate) async fn totals(mut self) -> Result<Totals, Error> {
        fetch_all!(self.0, Totals, TOTALS)?.pop().ok_or_else(|| Error::internal("a count without a row"))
    }
}

impl Tallies<&mut Tx> {
    /// Adds to a tally. Lock order: by day, kind and part.
    pub(in crate::store) async fn add(mut self, tally: &Tally, amount: i64) -> Result<(), Error> {
        execute!(self.0, ADD, tally.day, tally.kind, tally.part.to_string(), amount)?;
        Ok(())
    }

    /// Removes what is shown no more, a day late: the clocks of servers differ.
    pub(in crate::store) async fn sweep(mut self, now: Timestamp) -> Result<u64, Error> {
        execute!(self.0, SWEEP, now.day() - DAYS_SHOWN)
    }
}
