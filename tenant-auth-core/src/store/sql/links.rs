//! Single-use links in mails, and the requests for reset mails that a worker fulfils. The statement that uses a link deletes it, so
//! that no link works twice.

use crate::{
    error::Error,
    id::{DeliveryId, Id, OrgId, UserId},
    secret::Digest,
    store::{
        Link as Connection, Tx,
        dialect::{execute, fetch_optional, fetch_scalar, row, statements},
    },
    time::Timestamp,
    value::Email,
};

pub(crate) struct Links<L>(pub(in crate::store) L);

/// The effect of a mailed link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LinkPurpose {
    ResetPassword,
    VerifyEmail,
    ChangeEmail,
}

impl LinkPurpose {
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::ResetPassword => "reset",
            Self::VerifyEmail => "verify",
            Self::ChangeEmail => "change_email",
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
    pub(crate) id: DeliveryId,
    pub(crate) org_id: OrgId,
    pub(crate) email: Email,
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
    REQUEST = "INSERT INTO tenant_auth_reset_requests (id, org_id, email, created_at) VALUES ($1, $2, $3, $4)";
    ANY_REQUEST = "SELECT COUNT(*) AS number FROM (SELECT id FROM tenant_auth_reset_requests LIMIT 1) r";
    TAKE_REQUEST = "
        DELETE FROM tenant_auth_reset_requests
         WHERE id IN (SELECT id FROM tenant_auth_reset_requests ORDER BY created_at, id LIMIT 1)
        RETURNING id, org_id, email";
}

row! { UsedLinkRow { user_id: String, email: String, } }
row! { RequestRow { id: String, org_id: String, email: String, } }

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

    /// Whether a request for a reset mail waits.
    pub(crate) async fn any_reset_request(mut self) -> Result<bool, Error> {
        Ok(fetch_scalar!(self.0, i64, ANY_REQUEST)?.is_some_and(|number| number > 0))
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

    pub(crate) async fn request_reset(mut self, request: &ResetRequest) -> Result<(), Error> {
        let now = self.0.now();
        self.0.fill_outbox();
        execute!(self.0, REQUEST, request.id.as_str(), request.org_id.as_str(), request.email.as_str(), now.millis())?;
        Ok(())
    }

    /// Takes the oldest request; fulfilled in the same transaction or not taken at all. `None` when another worker has it.
    pub(crate) async fn take_reset_request(mut self) -> Result<Option<ResetRequest>, Error> {
        let row = fetch_optional!(self.0, RequestRow, TAKE_REQUEST)?;
        Ok(row.map(|row| ResetRequest {
            id: Id::from_stored(row.id),
            org_id: Id::from_stored(row.org_id),
            email: Email::from_stored(row.email),
        }))
    }
}
