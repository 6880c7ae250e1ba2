//! The outbox of mails. A worker finds what is due (`mail_queue.rs`) and claims mails one at a time with a lease. A claim is recognised by
//! its attempt number, so that a worker whose lease ran out cannot overwrite the outcome of the next attempt.

use crate::{
    error::Error,
    id::{Id, MailId, OrgId},
    store::{
        Link, Tx, Work,
        dialect::{execute, fetch_optional, fetch_scalar, row, statements},
        sql::waiting::WaitingRow,
    },
    time::{CLOCKS_DIFFER, Timestamp},
};

pub(crate) struct Mails<L>(pub(in crate::store) L);

/// The kind of a mail, as the outbox stores it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MailKind {
    /// An invitation by an org_admin.
    Invite,
    /// An invitation by the deployment's operators.
    OperatorInvite,
    /// A link that sets a new password.
    Reset,
    /// A link that proves an address.
    Verify,
    /// A link that changes an account's address.
    ChangeEmail,
    /// A notice without a link.
    Notice,
}

impl MailKind {
    /// The text in the database.
    pub(in crate::store) const fn as_str(self) -> &'static str {
        match self {
            Self::Invite => "invite",
            Self::OperatorInvite => "operator_invite",
            Self::Reset => "reset",
            Self::Verify => "verify",
            Self::ChangeEmail => "change_email",
            Self::Notice => "notice",
        }
    }
}

/// A mail to store with the transaction; its content is already sealed.
#[derive(Debug)]
pub(crate) struct OutgoingMail {
    pub(crate) id: MailId,
    pub(crate) org_id: OrgId,
    pub(crate) kind: MailKind,
    /// The domain of the recipient's address, in lower case.
    pub(crate) recipient_domain: String,
    pub(crate) sealed: String,
    pub(crate) created_at: Timestamp,
    /// After this time the mail is not sent, because its link has expired.
    pub(crate) useless_after: Timestamp,
}

/// A mail claimed by this worker, to be attempted now.
#[derive(Debug)]
pub(crate) struct ClaimedMail {
    pub(crate) id: MailId,
    pub(crate) org_id: OrgId,
    /// The sealed mail.
    pub(crate) content: String,
    /// This attempt's number, from 1.
    pub(crate) attempt: i64,
    /// Nobody else claims it until then.
    pub(crate) lease_until: Timestamp,
    pub(crate) useless_after: Timestamp,
    pub(crate) created_at: Timestamp,
}

statements! {
    INSERT = "
        INSERT INTO tenant_auth_mails
               (id, org_id, kind, content, status, attempts, next_attempt_at, scheduled_at, useless_after, created_at, recipient_domain)
        VALUES ($1, $2, $3, $4, 'queued', 0, $5, $5, $6, $5, $7)";
    CLAIM = "
        UPDATE tenant_auth_mails
           SET attempts = attempts + 1, next_attempt_at = $3, scheduled_at = $2
         WHERE id = $1 AND next_attempt_at <= $2
        RETURNING id, org_id, content, attempts, useless_after, created_at";
    NEXT_DUE = "SELECT COALESCE(MIN(next_attempt_at), 0) AS number FROM tenant_auth_mails WHERE next_attempt_at > $1";
    AHEAD = "SELECT scheduled_at AS number FROM tenant_auth_mails WHERE next_attempt_at > $1 AND scheduled_at > $1 LIMIT 1";
    BRING_BACK = "
        UPDATE tenant_auth_mails
           SET next_attempt_at = next_attempt_at - (scheduled_at - $1), scheduled_at = $1
         WHERE id IN (SELECT id FROM tenant_auth_mails WHERE next_attempt_at > $2 AND scheduled_at > $2 LIMIT $3)
           AND next_attempt_at > $2 AND scheduled_at > $2";
    // What is due longest comes first. The count stops at its limit, so that a large backlog does not make the metrics slow. Links to sign
    // up with wait in a table of their own and for the same mail server: where they alone wait, its outage is to be seen, too. Those that
    // were not tried yet may wait for the hour's bound (behaviour.md, B302), and tell nothing of it.
    WAITING = "
        SELECT CASE WHEN COUNT(*) > 10000 THEN 10000 ELSE COUNT(*) END AS waiting, COALESCE(MIN(w.created_at), 0) AS oldest
          FROM (SELECT m.created_at
                  FROM (SELECT created_at
                          FROM tenant_auth_mails
                         WHERE next_attempt_at IS NOT NULL
                         ORDER BY next_attempt_at
                         LIMIT 10000) m
                 UNION ALL
                SELECT s.created_at
                  FROM (SELECT created_at
                          FROM tenant_auth_sign_up_requests
                         WHERE attempts > 0
                         ORDER BY next_attempt_at
                         LIMIT 10000) s) w";
    // What is of the future was written before the clock was set back.
    NTH_LATEST = "
        SELECT created_at AS number
          FROM tenant_auth_mails
         WHERE org_id = $1 AND kind = $2 AND created_at > $3 AND created_at <= $5
         ORDER BY created_at DESC
         LIMIT 1 OFFSET $4";
    RENEW = "
        UPDATE tenant_auth_mails
           SET next_attempt_at = $3, scheduled_at = $4
         WHERE id = $1 AND attempts = $2 AND status = 'queued'";
    SENT = "
        UPDATE tenant_auth_mails
           SET status = 'sent', content = NULL, recipient_domain = NULL, next_attempt_at = NULL, last_error = NULL
         WHERE id = $1 AND attempts = $2 AND status = 'queued'";
    RETRY = "
        UPDATE tenant_auth_mails
           SET next_attempt_at = $3, scheduled_at = $5, last_error = $4
         WHERE id = $1 AND attempts = $2 AND status = 'queued'";
    FAIL = "
        UPDATE tenant_auth_mails
           SET status = 'failed', content = NULL, recipient_domain = NULL, next_attempt_at = NULL, last_error = $3
         WHERE id = $1 AND attempts = $2 AND status = 'queued'";
    CANCEL = "
        UPDATE tenant_auth_mails
           SET status = 'failed', content = NULL, recipient_domain = NULL, next_attempt_at = NULL, last_error = 'no longer wanted'
         WHERE id = $1 AND status = 'queued'";
}

row! {
    ClaimedRow {
        id: String,
        org_id: String,
        content: Option<String>,
        attempts: i64,
        useless_after: i64,
        created_at: i64,
    }
}

impl<L: Link> Mails<L> {
    /// How many mails wait, links to sign up with that were tried among them, counted up to ten thousand, and since when the oldest of them
    /// has waited.
    pub(crate) async fn waiting(mut self) -> Result<(u64, Option<Timestamp>), Error> {
        Ok(WaitingRow::told(fetch_optional!(self.0, WaitingRow, WAITING)?))
    }

    /// Whether a mail waits that was scheduled after `latest`.
    pub(crate) async fn any_ahead(mut self, latest: Timestamp) -> Result<bool, Error> {
        Ok(fetch_scalar!(self.0, i64, AHEAD, latest.millis())?.is_some())
    }

    /// When the next mail becomes due that is not due yet; the lease of one that is being sent counts.
    pub(crate) async fn next_due(mut self, now: Timestamp) -> Result<Option<Timestamp>, Error> {
        let due = fetch_scalar!(self.0, i64, NEXT_DUE, now.millis())?.unwrap_or(0);
        Ok((due != 0).then(|| Timestamp::from_millis(due)))
    }
}

impl Mails<&mut Tx> {
    /// When the `nth` latest mail of a kind after `since` was written; `None` when there are fewer.
    pub(crate) async fn nth_latest(
        mut self,
        org: &OrgId,
        kind: MailKind,
        since: Timestamp,
        nth: u32,
    ) -> Result<Option<Timestamp>, Error> {
        let (offset, latest) = (i64::from(nth) - 1, self.0.now().plus(CLOCKS_DIFFER).millis());
        let row = fetch_scalar!(self.0, i64, NTH_LATEST, org.as_str(), kind.as_str(), since.millis(), offset, latest)?;
        Ok(row.map(Timestamp::from_millis))
    }

    pub(crate) async fn insert(mut self, mail: &OutgoingMail) -> Result<(), Error> {
        self.0.leave(Work::Mails);
        execute!(
            self.0,
            INSERT,
            mail.id.as_str(),
            mail.org_id.as_str(),
            mail.kind.as_str(),
            mail.sealed.as_str(),
            mail.created_at.millis(),
            mail.useless_after.millis(),
            mail.recipient_domain.as_str()
        )?;
        Ok(())
    }

    /// Claims a due mail with a lease until `lease_until`; `None` when another worker claimed it first.
    pub(crate) async fn claim(mut self, mail: &MailId, lease_until: Timestamp) -> Result<Option<ClaimedMail>, Error> {
        let now = self.0.now();
        let row = fetch_optional!(self.0, ClaimedRow, CLAIM, mail.as_str(), now.millis(), lease_until.millis())?;
        Ok(row.map(|row| ClaimedMail {
            id: Id::from_stored(row.id),
            org_id: Id::from_stored(row.org_id),
            content: row.content.unwrap_or_default(),
            attempt: row.attempts,
            lease_until,
            useless_after: Timestamp::from_millis(row.useless_after),
            created_at: Timestamp::from_millis(row.created_at),
        }))
    }

    /// Renews the lease of a claimed mail that is on its way; `false` when another worker has it, or nobody wants it any more.
    pub(crate) async fn renew(mut self, mail: &ClaimedMail, lease_until: Timestamp) -> Result<bool, Error> {
        let now = self.0.now();
        let renewed = execute!(self.0, RENEW, mail.id.as_str(), mail.attempt, lease_until.millis(), now.millis())?;
        Ok(renewed > 0)
    }

    pub(crate) async fn sent(mut self, mail: &ClaimedMail) -> Result<(), Error> {
        execute!(self.0, SENT, mail.id.as_str(), mail.attempt)?;
        Ok(())
    }

    pub(crate) async fn retry(mut self, mail: &ClaimedMail, at: Timestamp, error: &str) -> Result<(), Error> {
        let now = self.0.now();
        execute!(self.0, RETRY, mail.id.as_str(), mail.attempt, at.millis(), error, now.millis())?;
        Ok(())
    }

    /// Counts the waits of a batch of mails that were scheduled after `latest` from now on, and returns their number.
    pub(crate) async fn bring_back(mut self, latest: Timestamp, batch: i64) -> Result<u64, Error> {
        let now = self.0.now();
        execute!(self.0, BRING_BACK, now.millis(), latest.millis(), batch)
    }

    pub(crate) async fn fail(mut self, mail: &ClaimedMail, error: &str) -> Result<(), Error> {
        execute!(self.0, FAIL, mail.id.as_str(), mail.attempt, error)?;
        Ok(())
    }

    /// Cancels a waiting mail whose content is no longer true.
    pub(crate) async fn cancel(mut self, mail: &MailId) -> Result<(), Error> {
        execute!(self.0, CANCEL, mail.as_str())?;
        Ok(())
    }
}
