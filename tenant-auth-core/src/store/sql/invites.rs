//! Pending invites. Accepting, revoking and renewing are guarded statements, so that of two parallel attempts one wins.

use crate::{
    error::Error,
    id::{DeploymentKeyId, Id, InviteId, MailId, OrgId, UserId},
    model::{Invite, MailStatus, OrgRef, Role},
    page::Bounds,
    secret::{Digest, LinkToken},
    store::{
        Link, Tx,
        dialect::{execute, fetch_all, fetch_batch, fetch_optional, fetch_scalar, fetch_scalars, row, statements},
        sql::corrupt,
    },
    time::Timestamp,
    value::{Email, Metadata, Slug},
};

pub(crate) struct Invites<L>(pub(in crate::store) L);

/// A new or renewed invite, with what is stored beside the invite itself.
#[derive(Debug)]
pub(crate) struct NewInvite<'a> {
    pub(crate) invite: &'a Invite,
    pub(crate) digest: &'a Digest,
    pub(crate) mail_id: &'a MailId,
}

// Whoever sent it is named while being a member: a file that is imported may say that anybody with an account here had, and the
// organization would follow that account's address from then on.
macro_rules! invites {
    ($which:literal) => {
        concat!(
            "
        SELECT i.id AS id, i.org_id AS org_id, i.email AS email, i.role AS role, i.invited_by AS invited_by,
               u.email AS invited_by_email, i.created_at AS created_at, i.expires_at AS expires_at, i.mail_id AS mail_id,
               COALESCE(l.status, 'sent') AS mail
          FROM tenant_auth_invites i
          LEFT JOIN tenant_auth_memberships m ON m.org_id = i.org_id AND m.user_id = i.invited_by
          LEFT JOIN tenant_auth_users u ON u.id = m.user_id
          LEFT JOIN tenant_auth_mails l ON l.id = i.mail_id",
            $which
        )
    };
}

statements! {
    LIST = invites!("
         WHERE i.org_id = $4 AND (i.created_at, i.id) > ($1, $2) AND i.expires_at > $5
         ORDER BY i.created_at, i.id
         LIMIT $3");
    LIST_DESCENDING = invites!("
         WHERE i.org_id = $4 AND (i.created_at, i.id) < ($1, $2) AND i.expires_at > $5
         ORDER BY i.created_at DESC, i.id DESC
         LIMIT $3");
    COUNT = "
        SELECT COUNT(*) AS number
          FROM (SELECT id FROM tenant_auth_invites WHERE org_id = $1 AND expires_at > $2 LIMIT 1000) AS pending";
    FIND = invites!("
         WHERE i.org_id = $1 AND i.id = $2 AND i.expires_at > $3");
    FIND_BY_TOKEN = invites!("
         WHERE i.org_id = $1 AND i.token_digest = $2 AND i.expires_at > $3");
    INSERT = "
        INSERT INTO tenant_auth_invites
               (id, org_id, email, email_key, role, token_digest, invited_by, mail_id, created_at, expires_at)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
        ON CONFLICT (org_id, email_key) DO UPDATE
           SET id = excluded.id, email = excluded.email, role = excluded.role, token_digest = excluded.token_digest,
               invited_by = excluded.invited_by, mail_id = excluded.mail_id, created_at = excluded.created_at,
               expires_at = excluded.expires_at, metadata = NULL, invited_by_key = NULL
         WHERE tenant_auth_invites.expires_at <= excluded.created_at AND tenant_auth_invites.expires_at > 0
        RETURNING id";
    IS_INVITED = "
        SELECT COUNT(*) AS number FROM tenant_auth_invites WHERE org_id = $1 AND email_key = $2 AND expires_at > $3";
    RENEW = "
        UPDATE tenant_auth_invites
           SET token_digest = $3, mail_id = $4, expires_at = $5
         WHERE org_id = $1 AND id = $2 AND expires_at > $6
        RETURNING id";
    METADATA = "SELECT metadata FROM tenant_auth_invites WHERE org_id = $1 AND id = $2 AND metadata IS NOT NULL";
    SET_KEY = "UPDATE tenant_auth_invites SET invited_by_key = $3 WHERE org_id = $1 AND id = $2";
    ORGANIZATIONS_OF_SENDER = "
        SELECT DISTINCT o.id AS id, o.slug AS slug
          FROM tenant_auth_invites i
          JOIN tenant_auth_organizations o ON o.id = i.org_id
         WHERE i.invited_by = $1
         ORDER BY o.id";
    // 0 is long past, and says that the end is still to be told: no sweep deletes such an invite.
    END_OF_KEY = "UPDATE tenant_auth_invites SET expires_at = 0 WHERE invited_by_key = $1 AND org_id = $2 AND expires_at > $3";
    ORGANIZATIONS_OF_KEY = "
        SELECT DISTINCT org_id FROM tenant_auth_invites WHERE invited_by_key = $1 AND expires_at > $2 ORDER BY org_id";
    ORGANIZATIONS_OF_ENDED = "
        SELECT DISTINCT org_id
          FROM tenant_auth_invites
         WHERE invited_by_key IS NOT NULL AND expires_at = 0
         ORDER BY org_id";
    ENDED = invites!("
         WHERE i.org_id = $1 AND i.invited_by_key IS NOT NULL AND i.expires_at = 0
         ORDER BY i.created_at, i.id");
    SET_METADATA = "UPDATE tenant_auth_invites SET metadata = $3 WHERE org_id = $1 AND id = $2";
    ACCEPT = "
        DELETE FROM tenant_auth_invites
         WHERE org_id = $1 AND id = $2 AND expires_at > $3
        RETURNING id";
    TAKE = "
        DELETE FROM tenant_auth_invites
         WHERE org_id = $1 AND id = $2
        RETURNING id";
    SENT_BY = invites!("
         WHERE i.org_id = $1 AND i.invited_by = $2
         ORDER BY i.created_at, i.id");
    SENT_TO = invites!("
         WHERE i.org_id = $1 AND i.email_key = $2");
}

row! {
    InviteRow {
        id: String,
        org_id: String,
        email: String,
        role: String,
        invited_by: Option<String>,
        invited_by_email: Option<String>,
        created_at: i64,
        expires_at: i64,
        mail_id: String,
        mail: String,
    }
}

row! { TakenRow { id: String, } }
row! { OrganizationRow { id: String, slug: String, } }

/// A stored invite and the id of its last mail.
#[derive(Debug, Clone)]
pub(crate) struct InviteRecord {
    pub(crate) invite: Invite,
    pub(crate) mail_id: MailId,
    /// Whether the link by which it was found was mailed to the account's own form of the address.
    pub(crate) is_to_holder: bool,
}

impl TryFrom<InviteRow> for InviteRecord {
    type Error = Error;
    fn try_from(row: InviteRow) -> Result<Self, Error> {
        Ok(Self {
            invite: Invite {
                role: Role::parse(&row.role).ok_or_else(|| corrupt("invites", "role", &row.id))?,
                mail: MailStatus::parse(&row.mail).ok_or_else(|| corrupt("mails", "status", &row.mail_id))?,
                id: Id::from_stored(row.id),
                org_id: Id::from_stored(row.org_id),
                email: Email::from_stored(row.email),
                invited_by: row.invited_by.map(Id::from_stored),
                invited_by_email: row.invited_by_email.map(Email::from_stored),
                created_at: Timestamp::from_millis(row.created_at),
                expires_at: Timestamp::from_millis(row.expires_at),
            },
            mail_id: Id::from_stored(row.mail_id),
            is_to_holder: false,
        })
    }
}

impl<L: Link> Invites<L> {
    /// The pending invites.
    pub(crate) async fn list(mut self, org: &OrgId, bounds: &Bounds, now: Timestamp) -> Result<Vec<Invite>, Error> {
        let rows = fetch_batch!(self.0, InviteRow, LIST, LIST_DESCENDING, bounds, org.as_str(), now.millis())?;
        rows.into_iter().map(|row| InviteRecord::try_from(row).map(|record| record.invite)).collect()
    }

    /// How many invites are pending; counted up to a thousand.
    pub(crate) async fn count(mut self, org: &OrgId, now: Timestamp) -> Result<i64, Error> {
        Ok(fetch_scalar!(self.0, i64, COUNT, org.as_str(), now.millis())?.unwrap_or(0))
    }

    pub(crate) async fn find(mut self, org: &OrgId, invite: &InviteId, now: Timestamp) -> Result<Option<InviteRecord>, Error> {
        fetch_optional!(self.0, InviteRow, FIND, org.as_str(), invite.as_str(), now.millis())?
            .map(InviteRecord::try_from)
            .transpose()
    }

    pub(crate) async fn find_by_token(
        mut self,
        org: &OrgId,
        token: &LinkToken,
        now: Timestamp,
    ) -> Result<Option<InviteRecord>, Error> {
        for (digest, is_to_holder) in [(token.digest(), false), (token.digest_to_holder(), true)] {
            let found = fetch_optional!(self.0, InviteRow, FIND_BY_TOKEN, org.as_str(), digest.as_str(), now.millis())?;
            if let Some(row) = found {
                return Ok(Some(InviteRecord { is_to_holder, ..InviteRecord::try_from(row)? }));
            }
        }
        Ok(None)
    }

    /// The metadata that the invited person will have as a member; `None` but for people of an import.
    pub(crate) async fn metadata(mut self, org: &OrgId, invite: &InviteId) -> Result<Option<Metadata>, Error> {
        let metadata = fetch_scalar!(self.0, String, METADATA, org.as_str(), invite.as_str())?;
        metadata.map(|text| Metadata::from_stored(text).map_err(|_| corrupt("invites", "metadata", invite.as_str()))).transpose()
    }

    pub(crate) async fn sent_by(mut self, org: &OrgId, user: &UserId) -> Result<Vec<InviteRecord>, Error> {
        let rows = fetch_all!(self.0, InviteRow, SENT_BY, org.as_str(), user.as_str())?;
        rows.into_iter().map(InviteRecord::try_from).collect()
    }

    /// The invite to an address, also one that has ended.
    pub(crate) async fn sent_to(mut self, org: &OrgId, email: &Email) -> Result<Option<InviteRecord>, Error> {
        fetch_optional!(self.0, InviteRow, SENT_TO, org.as_str(), email.key())?.map(InviteRecord::try_from).transpose()
    }

    /// The organizations in which a user sent invites that are still there, in the order of their ids. An import lets somebody have sent
    /// some who is no member yet.
    pub(crate) async fn organizations_of_sender(mut self, user: &UserId) -> Result<Vec<OrgRef>, Error> {
        let rows = fetch_all!(self.0, OrganizationRow, ORGANIZATIONS_OF_SENDER, user.as_str())?;
        Ok(rows.into_iter().map(|row| OrgRef { id: Id::from_stored(row.id), slug: Slug::from_stored(row.slug) }).collect())
    }

    /// The organizations with invites that ended with their deployment key and were not told of, in the order of their ids.
    pub(crate) async fn organizations_of_ended(mut self) -> Result<Vec<OrgId>, Error> {
        let ids = fetch_scalars!(self.0, String, ORGANIZATIONS_OF_ENDED)?;
        Ok(ids.into_iter().map(Id::from_stored).collect())
    }

    /// The invites of the organization that ended with their deployment key and were not told of.
    pub(crate) async fn ended(mut self, org: &OrgId) -> Result<Vec<InviteRecord>, Error> {
        let rows = fetch_all!(self.0, InviteRow, ENDED, org.as_str())?;
        rows.into_iter().map(InviteRecord::try_from).collect()
    }
}

impl Invites<&mut Tx> {
    /// Says which deployment key sent an invite.
    pub(crate) async fn set_key(mut self, org: &OrgId, invite: &InviteId, key: &DeploymentKeyId) -> Result<(), Error> {
        execute!(self.0, SET_KEY, org.as_str(), invite.as_str(), key.as_str()).map(drop)
    }

    /// Ends the pending invites of a deployment key, in whatever organization: their links work no more. They stay until each was
    /// told of. Organization by organization, in the order of their ids, in which whoever erases an address takes the invites to it.
    pub(crate) async fn end_of_key(mut self, key: &DeploymentKeyId) -> Result<(), Error> {
        let now = self.0.now();
        for org in fetch_scalars!(self.0, String, ORGANIZATIONS_OF_KEY, key.as_str(), now.millis())? {
            execute!(self.0, END_OF_KEY, key.as_str(), org.as_str(), now.millis())?;
        }
        Ok(())
    }

    /// Whether the address has a pending invite.
    pub(crate) async fn has_invite(mut self, org: &OrgId, email: &Email) -> Result<bool, Error> {
        let now = self.0.now();
        Ok(fetch_scalar!(self.0, i64, IS_INVITED, org.as_str(), email.key(), now.millis())?.unwrap_or(0) > 0)
    }

    /// `false` when the address has a pending invite; an expired one is replaced, but none whose end is still to be told.
    pub(crate) async fn insert_or_replace_expired(mut self, new: &NewInvite<'_>) -> Result<bool, Error> {
        let NewInvite { invite, digest, mail_id } = new;
        let placed = fetch_optional!(
            self.0,
            TakenRow,
            INSERT,
            invite.id.as_str(),
            invite.org_id.as_str(),
            invite.email.as_str(),
            invite.email.key(),
            invite.role.as_str(),
            digest.as_str(),
            invite.invited_by.as_ref().map(Id::as_str),
            mail_id.as_str(),
            invite.created_at.millis(),
            invite.expires_at.millis()
        )?;
        Ok(placed.is_some_and(|row| row.id == invite.id.as_str()))
    }

    /// Lets metadata wait in an invite.
    pub(crate) async fn set_metadata(mut self, org: &OrgId, invite: &InviteId, metadata: &Metadata) -> Result<(), Error> {
        execute!(self.0, SET_METADATA, org.as_str(), invite.as_str(), metadata.as_json()).map(drop)
    }

    /// Gives a pending invite a new link and a later expiry; the old link stops working. `false` when it ended since it was read.
    pub(crate) async fn renew(mut self, new: &NewInvite<'_>) -> Result<bool, Error> {
        let now = self.0.now().millis();
        let NewInvite { invite, digest, mail_id } = new;
        let (org, id, until) = (invite.org_id.as_str(), invite.id.as_str(), invite.expires_at.millis());
        let renewed = fetch_optional!(self.0, TakenRow, RENEW, org, id, digest.as_str(), mail_id.as_str(), until, now)?;
        Ok(renewed.is_some())
    }

    /// Uses up a pending invite for whoever accepts it; `false` when another request did so first, or it ended since it was read.
    pub(crate) async fn accept(mut self, org: &OrgId, invite: &InviteId) -> Result<bool, Error> {
        let now = self.0.now().millis();
        Ok(fetch_optional!(self.0, TakenRow, ACCEPT, org.as_str(), invite.as_str(), now)?.is_some())
    }

    /// Deletes the invite, also one that has ended; `false` when another request did so first.
    pub(crate) async fn take(mut self, org: &OrgId, invite: &InviteId) -> Result<bool, Error> {
        Ok(fetch_optional!(self.0, TakenRow, TAKE, org.as_str(), invite.as_str())?.is_some())
    }
}
