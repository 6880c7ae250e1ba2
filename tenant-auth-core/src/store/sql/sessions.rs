//! Sessions and refresh token rotation. A session's `generation` is the number of its current refresh token; superseded generations
//! are kept for the reuse grace, to tell a race from a stolen token.

use crate::{
    error::Error,
    id::{Id, OrgId, SessionId, UserId},
    model::{Session, SessionSummary},
    page::Bounds,
    store::{
        Change, Link, Tx,
        dialect::{execute, fetch_all, fetch_batch, fetch_optional, fetch_scalar, row, statements},
        sql::live_session::{self, LiveSession},
    },
    time::Timestamp,
};

pub(crate) struct Sessions<L>(pub(in crate::store) L);

statements! {
    LIVE_SESSION = concat!("
        SELECT ", live_session::columns!(), "
          FROM tenant_auth_sessions s
          JOIN tenant_auth_users u ON u.id = s.user_id AND u.epoch = s.user_epoch
          JOIN tenant_auth_memberships m ON m.org_id = s.org_id AND m.user_id = s.user_id
          JOIN tenant_auth_organizations o ON o.id = s.org_id AND o.removed_at IS NULL
         WHERE s.id = $1");
    SUPERSEDED_AT = "
        SELECT superseded_at
          FROM tenant_auth_superseded_generations
         WHERE session_id = $1 AND generation = $2";
    HOLD = "UPDATE tenant_auth_sessions SET last_used_at = $2 WHERE id = $1";
    MOVE_EPOCH = "UPDATE tenant_auth_sessions SET user_epoch = $2 WHERE id = $1 RETURNING org_id";
    END = "
        DELETE FROM tenant_auth_sessions
         WHERE org_id = $1 AND id = $2
        RETURNING id, org_id, user_id, auth_time, last_used_at, idle_until, ip, user_agent";
    LIST = "
        SELECT id, org_id, user_id, auth_time, last_used_at, idle_until, ip, user_agent
          FROM tenant_auth_sessions
         WHERE org_id = $4 AND user_id = $5 AND (auth_time, id) > ($1, $2) AND idle_until > $6
         ORDER BY auth_time, id
         LIMIT $3";
    LIST_DESCENDING = "
        SELECT id, org_id, user_id, auth_time, last_used_at, idle_until, ip, user_agent
          FROM tenant_auth_sessions
         WHERE org_id = $4 AND user_id = $5 AND (auth_time, id) < ($1, $2) AND idle_until > $6
         ORDER BY auth_time DESC, id DESC
         LIMIT $3";
    END_OF_OWNER = "
        DELETE FROM tenant_auth_sessions
         WHERE org_id = $1 AND user_id = $2 AND id = $3
        RETURNING id, org_id, user_id, auth_time, last_used_at, idle_until, ip, user_agent";
    END_OTHERS_OF_OWNER = "
        DELETE FROM tenant_auth_sessions
         WHERE org_id = $1 AND user_id = $2 AND id <> $3
        RETURNING id, org_id, user_id, auth_time, last_used_at, idle_until, ip, user_agent";
    END_OF_MEMBER = "
        DELETE FROM tenant_auth_sessions
         WHERE org_id = $1 AND user_id = $2
        RETURNING id, org_id, user_id, auth_time, last_used_at, idle_until, ip, user_agent";
    END_OF_USER = "
        DELETE FROM tenant_auth_sessions
         WHERE user_id = $1 AND id <> $2
        RETURNING id, org_id, user_id, auth_time, last_used_at, idle_until, ip, user_agent";
    END_SOME_OF_ORGANIZATION = "
        DELETE FROM tenant_auth_sessions
         WHERE org_id = $1
           AND id IN (SELECT id FROM tenant_auth_sessions WHERE org_id = $1 ORDER BY user_id, auth_time, id LIMIT $2)
        RETURNING id, org_id, user_id, auth_time, last_used_at, idle_until, ip, user_agent";
    END_BEYOND = "
        DELETE FROM tenant_auth_sessions
         WHERE org_id = $1 AND user_id = $2
           AND id IN (SELECT id
                        FROM tenant_auth_sessions
                       WHERE org_id = $1 AND user_id = $2 AND id <> $4 AND idle_until > $5
                       ORDER BY auth_time DESC, id DESC
                       LIMIT 1000 OFFSET $3)
        RETURNING id, org_id, user_id, auth_time, last_used_at, idle_until, ip, user_agent";
}

/// An ended session with its organization and user.
#[derive(Debug, Clone)]
pub(crate) struct Ended {
    pub(crate) session: SessionSummary,
    pub(crate) org_id: OrgId,
    pub(crate) user_id: UserId,
}

row! {
    EndedRow {
        id: String,
        org_id: String,
        user_id: String,
        auth_time: i64,
        last_used_at: i64,
        idle_until: i64,
        ip: Option<String>,
        user_agent: Option<String>,
    }
}
row! { SupersededRow { superseded_at: i64, } }

impl From<EndedRow> for Ended {
    fn from(row: EndedRow) -> Self {
        Self {
            session: SessionSummary {
                id: Id::from_stored(row.id),
                created_at: Timestamp::from_millis(row.auth_time),
                last_used_at: Timestamp::from_millis(row.last_used_at),
                ip: row.ip,
                user_agent: row.user_agent,
            },
            org_id: Id::from_stored(row.org_id),
            user_id: Id::from_stored(row.user_id),
        }
    }
}

impl<L: Link> Sessions<L> {
    /// A live session with the user, membership and organization that its rights rest on, as they are now.
    pub(crate) async fn find_live(mut self, session: &SessionId) -> Result<Option<LiveSession>, Error> {
        fetch_optional!(self.0, LiveSession, LIVE_SESSION, session.as_str())
    }

    /// A member's live sessions.
    pub(crate) async fn list(
        mut self,
        org: &OrgId,
        user: &UserId,
        bounds: &Bounds,
        now: Timestamp,
    ) -> Result<Vec<SessionSummary>, Error> {
        let rows = fetch_batch!(self.0, EndedRow, LIST, LIST_DESCENDING, bounds, org.as_str(), user.as_str(), now.millis())?;
        Ok(rows.into_iter().map(|row| Ended::from(row).session).collect())
    }

    /// When a generation was superseded; `None` when its row has been swept.
    pub(crate) async fn superseded_at(mut self, session: &SessionId, generation: i64) -> Result<Option<Timestamp>, Error> {
        let row = fetch_optional!(self.0, SupersededRow, SUPERSEDED_AT, session.as_str(), generation)?;
        Ok(row.map(|row| Timestamp::from_millis(row.superseded_at)))
    }
}

impl Sessions<&mut Tx> {
    /// Locks the session's row until this transaction ends; `false` when the session has already ended.
    pub(crate) async fn hold(mut self, session: &SessionId) -> Result<bool, Error> {
        let now = self.0.now();
        Ok(execute!(self.0, HOLD, session.as_str(), now.millis())? == 1)
    }

    /// Moves the session to the user's new epoch, so that the change that raised the epoch does not end this session.
    pub(crate) async fn move_to_epoch(mut self, session: &SessionId, epoch: i64) -> Result<(), Error> {
        if let Some(org) = fetch_scalar!(self.0, String, MOVE_EPOCH, session.as_str(), epoch)? {
            self.0.touch(Change::SessionMoved, Some(&Id::from_stored(org)), session.as_str());
        }
        Ok(())
    }

    pub(crate) async fn end(mut self, org: &OrgId, session: &SessionId) -> Result<Option<Ended>, Error> {
        let ended = fetch_optional!(self.0, EndedRow, END, org.as_str(), session.as_str())?.map(Ended::from);
        self.note(ended.as_slice());
        Ok(ended)
    }

    /// Ends a session, if it is this member's and has not expired.
    pub(crate) async fn end_of_owner(mut self, org: &OrgId, user: &UserId, session: &SessionId) -> Result<Option<Ended>, Error> {
        let row = fetch_optional!(self.0, EndedRow, END_OF_OWNER, org.as_str(), user.as_str(), session.as_str())?;
        Ok(self.ended(row).pop())
    }

    /// Ends every session of a member but one.
    pub(crate) async fn end_others_of_owner(mut self, org: &OrgId, user: &UserId, keep: &SessionId) -> Result<Vec<Ended>, Error> {
        let rows = fetch_all!(self.0, EndedRow, END_OTHERS_OF_OWNER, org.as_str(), user.as_str(), keep.as_str())?;
        Ok(self.ended(rows))
    }

    pub(crate) async fn end_of_member(mut self, org: &OrgId, user: &UserId) -> Result<Vec<Ended>, Error> {
        let rows = fetch_all!(self.0, EndedRow, END_OF_MEMBER, org.as_str(), user.as_str())?;
        Ok(self.ended(rows))
    }

    /// Ends every session of the user, in all organizations, but `except`.
    pub(crate) async fn end_of_user(mut self, user: &UserId, except: Option<&SessionId>) -> Result<Vec<Ended>, Error> {
        let rows = fetch_all!(self.0, EndedRow, END_OF_USER, user.as_str(), except.map_or("", Id::as_str))?;
        Ok(self.ended(rows))
    }

    /// Deletes so many sessions of an organization at most, those of a person together: how many, and those of them that had not ended.
    pub(crate) async fn end_some_of_organization(mut self, org: &OrgId, most: i64) -> Result<(usize, Vec<Ended>), Error> {
        let rows = fetch_all!(self.0, EndedRow, END_SOME_OF_ORGANIZATION, org.as_str(), most)?;
        Ok((rows.len(), self.ended(rows)))
    }

    /// Ends the oldest live sessions of the new session's owner, so that `keep` remain. The new session itself is never ended.
    pub(crate) async fn end_beyond(mut self, new: &Session, keep: u32) -> Result<Vec<Ended>, Error> {
        let (org, user, others) = (new.org_id.as_str(), new.user_id.as_str(), i64::from(keep) - 1);
        let now = self.0.now().millis();
        let rows = fetch_all!(self.0, EndedRow, END_BEYOND, org, user, others, new.id.as_str(), now)?;
        Ok(self.ended(rows))
    }

    /// Those that were live: one that had expired, and was not swept yet, ended by itself.
    fn ended(&mut self, rows: impl IntoIterator<Item = EndedRow>) -> Vec<Ended> {
        let now = self.0.now().millis();
        let ended: Vec<Ended> = rows.into_iter().filter(|row| row.idle_until > now).map(Ended::from).collect();
        self.note(&ended);
        ended
    }

    fn note(&mut self, ended: &[Ended]) {
        for Ended { session, org_id, .. } in ended {
            self.0.touch(Change::SessionEnded, Some(org_id), session.id.as_str());
        }
    }
}
