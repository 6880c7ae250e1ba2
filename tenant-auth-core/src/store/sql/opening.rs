//! Opening a session: one statement stores it and takes the head of the organization's chain, which the commit writes to.

use crate::{
    error::Error,
    id::OrgId,
    model::{Session, Status},
    store::{
        Tx,
        chain_head::ChainHead,
        dialect::{fetch_all_of, row},
        sql::{corrupt, event_chain::EventChain, organizations::Organizations, sessions::Sessions},
    },
    time::Timestamp,
};

macro_rules! insert {
    () => {
        "
        INSERT INTO tenant_auth_sessions
               (id, org_id, user_id, user_epoch, generation, amr, auth_time, refreshed_at, last_used_at, idle_until, idle_hour,
                expires_at, ip, user_agent)
        VALUES ($1, $2, $3, $4, 1, $5, $6, $6, $6, CAST($7 AS BIGINT), CAST($7 AS BIGINT) / 3600000, $8, $9, $10)"
    };
}

/// The organization of a new session and the head of its chain, unless older sessions of the member may have to end: those are locked
/// before the head is. They are counted without being read, expired ones among them; whoever opens another holds the membership.
/// `seen` is how far the chain was when the statement began.
macro_rules! place {
    () => {
        "
        SELECT o.status AS status, e.sequence AS sequence, e.chained AS chained, e.hash AS hash, e.last_at AS last_at,
               (SELECT h.sequence FROM tenant_auth_event_sequences h WHERE h.org_id = $2) AS seen
          FROM tenant_auth_event_sequences e
          JOIN tenant_auth_organizations o ON o.id = e.org_id
         WHERE e.org_id = $2 AND o.removed_at IS NULL
           AND (SELECT COUNT(*)
                  FROM tenant_auth_sessions s
                 WHERE s.org_id = $2 AND s.user_id = $3 AND s.id <> $1) <= $11"
    };
}

#[cfg(feature = "sqlite")]
pub(in crate::store) mod sqlite {
    use crate::store::dialect::statements;

    statements! {
        pub(super) OPEN = concat!(insert!(), ";", place!());
    }
}

#[cfg(feature = "postgres")]
pub(in crate::store) mod postgres {
    use crate::store::dialect::statements;

    statements! {
        // One message. The lock on the head is the last that may be waited for: the INSERT refers to the membership, which is held, and so
        // waits for nobody, whenever it is run.
        pub(super) OPEN = concat!("
        WITH opened AS (", insert!(), ")", place!(), "
           FOR NO KEY UPDATE OF e");
    }
}

row! {
    PlaceRow {
        status: String,
        sequence: i64,
        chained: i64,
        hash: Option<String>,
        last_at: i64,
        seen: i64,
    }
}

impl Sessions<&mut Tx> {
    /// Stores a new session. Returns its organization's status and holds the head of the organization's chain for the commit, which has
    /// to be the next that this transaction does. `None`, and nothing is held, where the member has more than so many other sessions, the
    /// organization is gone, or no number is given.
    pub(crate) async fn open(
        mut self,
        session: &Session,
        idle_until: Timestamp,
        others: Option<u32>,
    ) -> Result<Option<Status>, Error> {
        let amr = session.amr.iter().map(|method| method.as_str()).collect::<Vec<_>>().join(" ");
        let places = fetch_all_of!(
            self.0,
            PlaceRow,
            OPEN,
            session.id.as_str(),
            session.org_id.as_str(),
            session.user_id.as_str(),
            session.user_epoch,
            amr.as_str(),
            session.auth_time.millis(),
            idle_until.millis(),
            session.expires_at.millis(),
            session.ip.as_deref(),
            session.user_agent.as_deref(),
            others.map_or(-1, i64::from)
        )?;
        let Some(PlaceRow { status, sequence, chained, hash, last_at, seen }) = places.into_iter().next() else { return Ok(None) };
        self.0.hold_head(&session.org_id, ChainHead { sequence, chained, hash, last_at });
        // The status is of the moment before the wait for the head. Whoever suspends an organization tells so in its chain.
        if seen != sequence {
            return Organizations(self.0)
                .find(&session.org_id)
                .await?
                .map(|org| Some(org.status))
                .ok_or(Error::UnknownOrganization);
        }
        Status::parse(&status).map(Some).ok_or_else(|| corrupt("organizations", "status", session.org_id.as_str()))
    }

    /// What [`Sessions::open`] left undone, once the older sessions have ended: holds the head of the organization's chain for the commit,
    /// which has to be the next that this transaction does, and returns the organization's status as it is then.
    pub(crate) async fn place(self, org: &OrgId) -> Result<Status, Error> {
        let head = EventChain(&mut *self.0).head(org).await?.ok_or(Error::UnknownOrganization)?;
        self.0.hold_head(org, head);
        Organizations(self.0).find(org).await?.map(|org| org.status).ok_or(Error::UnknownOrganization)
    }
}
