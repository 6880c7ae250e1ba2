//! Single-use links in mails, and the requests for reset mails that a worker fulfils. The statement that uses a link deletes it, so
//! that no link works twice. One request waits for each organization and recipient, however often it is made.

use crate::{
    error::Error,
    id::{DeliveryId, DeliveryKind, Id, OrgId, UserId},
    secret::Digest,
    store::{
        Link as Connection, Tx, Work,
        dialect::{execute, fetch_optional, fetch_scalars, row, statements},
        sql::waiting::WaitingRow,
    },
    time::Timestamp,
    value::{Email, Language},
};

pub(crate) struct Links<L>(pub(in crate::store) L);

/// The effect of a mailed link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LinkPurpose {
    ResetPassword,
    VerifyEmail,
    ChangeEmail,
    /// Kept in a table of its own, because the address may have no account.
    SignUp,
}

impl LinkPurpose {
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::ResetPassword => "reset",
            Self::VerifyEmail => "verify",
            Self::ChangeEmail => "change_email",
            Self::SignUp => "sign_up",
        }
    }
}

/// A link as it is stored; `email` is the address it was mailed to.
#[derive(Debug, Clone)]
pub(crate) struct MailedLink {
    pub(crate) org_id: OrgId,
    pub(crate) user_id: UserId,
    pub(crate) purpose: LinkPurpose,
    pub(crate) email: Email,
    pub(crate) created_at: Timestamp,
    pub(crate) expires_at: Timestamp,
}

/// A request for a reset mail to this address. A worker answers it, so that the response time does not tell whether an account
/// exists.
#[derive(Debug)]
pub(crate) struct ResetRequest {
    pub(crate) org_id: OrgId,
    pub(crate) email: Email,
    /// When it was made, or made again while it waited.
    pub(crate) asked_at: Timestamp,
    /// The language that its client asked for.
    pub(crate) language: Option<Language>,
}

statements! {
    INSERT = "
        INSERT INTO tenant_auth_links (id, org_id, user_id, purpose, email, token_digest, created_at, expires_at)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8)";
    FIND = "
        SELECT user_id, email
          FROM tenant_auth_links
         WHERE org_id = $1 AND purpose = $2 AND token_digest = $3 AND expires_at > $4";
    TAKE = "
        DELETE FROM tenant_auth_links
         WHERE org_id = $1 AND purpose = $2 AND token_digest = $3 AND expires_at > $4
        RETURNING user_id, email";
    DELETE_OF_USER = "DELETE FROM tenant_auth_links WHERE user_id = $1 AND purpose = $2";
    DELETE_ALL_OF_USER = "DELETE FROM tenant_auth_links WHERE user_id = $1";
    // Who asks again while a request waits renews it, and it keeps its place.
    REQUEST = "
        INSERT INTO tenant_auth_reset_requests (id, org_id, email, email_key, created_at, language)
        VALUES ($1, $2, $3, $4, $5, $6)
        ON CONFLICT (org_id, email_key) DO UPDATE SET created_at = excluded.created_at, language = excluded.language";
    // The count stops at 10000, so that a flood of requests does not make the metrics slow.
    WAITING = "
        SELECT COUNT(*) AS waiting, COALESCE(MIN(r.created_at), 0) AS oldest
          FROM (SELECT created_at FROM tenant_auth_reset_requests ORDER BY created_at LIMIT 10000) r";
    REQUESTS = "SELECT id FROM tenant_auth_reset_requests ORDER BY id LIMIT $1";
    TAKE_REQUEST = "DELETE FROM tenant_auth_reset_requests WHERE id = $1 RETURNING org_id, email, created_at, language";
}

row! { UsedLinkRow { user_id: String, email: String, } }
row! { RequestRow { org_id: String, email: String, created_at: i64, language: Option<String>, } }

impl<L: Connection> Links<L> {
    /// The owner of a live link and the address it was mailed to.
    pub(crate) async fn find(
        mut self,
        org: &OrgId,
        purpose: LinkPurpose,
        token: &Digest,
        now: Timestamp,
    ) -> Result<Option<(UserId, Email)>, Error> {
        let row = fetch_optional!(self.0, UsedLinkRow, FIND, org.as_str(), purpose.as_str(), token.as_str(), now.millis())?;
        Ok(row.map(|row| (Id::from_stored(row.user_id), Email::from_stored(row.email))))
    }

    /// How many requests for reset mails wait, counted up to ten thousand, and when the oldest of them was made, or made again.
    pub(crate) async fn waiting_requests(mut self) -> Result<(u64, Option<Timestamp>), Error> {
        Ok(WaitingRow::told(fetch_optional!(self.0, WaitingRow, WAITING)?))
    }

    /// Up to `limit` requests for reset mails that wait, in the order in which they were first made.
    pub(crate) async fn reset_requests(mut self, limit: u32) -> Result<Vec<DeliveryId>, Error> {
        let rows = fetch_scalars!(self.0, String, REQUESTS, i64::from(limit))?;
        Ok(rows.into_iter().map(Id::from_stored).collect())
    }
}

impl Links<&mut Tx> {
    pub(crate) async fn insert(mut self, id: &DeliveryId, link: &MailedLink, token: &Digest) -> Result<(), Error> {
        execute!(
            self.0,
            INSERT,
            id.as_str(),
            link.org_id.as_str(),
            link.user_id.as_str(),
            link.purpose.as_str(),
            link.email.as_str(),
            token.as_str(),
            link.created_at.millis(),
            link.expires_at.millis()
        )?;
        Ok(())
    }

    /// Uses up a link and returns its owner and the address it was mailed to. `None` when the link is unknown, used or expired.
    pub(crate) async fn take(
        mut self,
        org: &OrgId,
        purpose: LinkPurpose,
        token: &Digest,
    ) -> Result<Option<(UserId, Email)>, Error> {
        let now = self.0.now();
        let row = fetch_optional!(self.0, UsedLinkRow, TAKE, org.as_str(), purpose.as_str(), token.as_str(), now.millis())?;
        Ok(row.map(|row| (Id::from_stored(row.user_id), Email::from_stored(row.email))))
    }

    pub(crate) async fn end_of_user(mut self, user: &UserId, purpose: LinkPurpose) -> Result<(), Error> {
        execute!(self.0, DELETE_OF_USER, user.as_str(), purpose.as_str())?;
        Ok(())
    }

    /// Ends every link of the user, whatever it does.
    pub(crate) async fn end_all_of_user(mut self, user: &UserId) -> Result<(), Error> {
        execute!(self.0, DELETE_ALL_OF_USER, user.as_str())?;
        Ok(())
    }

    /// Stores a request for a reset mail, or renews the one that waits for this organization and recipient.
    pub(crate) async fn request_reset(mut self, org: &OrgId, email: &Email, language: Option<&Language>) -> Result<(), Error> {
        let (now, id) = (self.0.now(), self.0.new_id::<DeliveryKind>());
        self.0.leave(Work::ResetRequests);
        let language = language.map(Language::as_str);
        execute!(self.0, REQUEST, id.as_str(), org.as_str(), email.as_str(), email.key(), now.millis(), language)?;
        Ok(())
    }

    /// Takes a request; fulfilled in the same transaction or not taken at all. `None` when another worker took it.
    pub(crate) async fn take_reset_request(mut self, request: &DeliveryId) -> Result<Option<ResetRequest>, Error> {
        let row = fetch_optional!(self.0, RequestRow, TAKE_REQUEST, request.as_str())?;
        Ok(row.map(|row| ResetRequest {
            org_id: Id::from_stored(row.org_id),
            email: Email::from_stored(row.email),
            asked_at: Timestamp::from_millis(row.created_at),
            language: row.language.map(Language::from_stored),
        }))
    }
}
