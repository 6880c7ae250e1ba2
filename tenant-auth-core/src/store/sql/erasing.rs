//! Erasing a person from events: the parts of entries about them are wiped with their salts, and the contexts of what they did. The
//! digests stay, so that the chain still proves everything else (audit log).

use crate::{
    error::Error,
    id::{DeliveryId, EventId, Id, OrgId, UserId},
    model::{EventKind, OrgRef},
    store::{
        ErasedPerson, FormerSelf, Link, Tx,
        dialect::{execute, fetch_all, fetch_scalar, fetch_scalars, row, statements},
    },
    time::Timestamp,
    value::{Email, Slug},
};

pub(crate) struct Erasing<L>(pub(crate) L);

statements! {
    TOLD_OF_USER = "
        SELECT o.id, o.slug
          FROM tenant_auth_organizations o
         WHERE o.removed_at IS NULL
           AND (EXISTS (SELECT 1 FROM tenant_auth_events WHERE org_id = o.id AND user_id = $1)
                OR EXISTS (SELECT 1 FROM tenant_auth_events WHERE org_id = o.id AND actor_id = $1))
         ORDER BY o.id";
    // Also one that is being removed: its log may be the only one that tells.
    CHANGED_IN = "
        SELECT o.id, o.slug
          FROM tenant_auth_organizations o
         WHERE EXISTS (SELECT 1 FROM tenant_auth_events WHERE org_id = o.id AND user_id = $1 AND kind = 'user.updated')
         ORDER BY o.id";
    CHANGES_OF = "
        SELECT id, sequence, created_at, data
          FROM tenant_auth_events
         WHERE org_id = $1 AND user_id = $2 AND kind = 'user.updated' AND sequence > $3 AND data IS NOT NULL
         ORDER BY sequence
         LIMIT $4";
    IMPORTED_BEFORE = "SELECT COALESCE(MAX(sequence), 0) AS number FROM tenant_auth_events WHERE org_id = $1 AND kind = 'org.imported'";
    // An account with such an id came by another import, and is somebody of its own.
    FORMER_SELVES = "
        SELECT o.id AS id, o.slug AS slug, l.former_id AS former_id
          FROM tenant_auth_linked_people l
          JOIN tenant_auth_organizations o ON o.id = l.org_id
         WHERE l.user_id = $1 AND o.removed_at IS NULL
           AND NOT EXISTS (SELECT 1 FROM tenant_auth_users WHERE id = l.former_id)
           AND (EXISTS (SELECT 1 FROM tenant_auth_events WHERE org_id = o.id AND user_id = l.former_id)
                OR EXISTS (SELECT 1 FROM tenant_auth_events WHERE org_id = o.id AND actor_id = l.former_id))
         ORDER BY o.id, l.former_id";
    ORGANIZATIONS_AFTER = "
        SELECT id, slug
          FROM tenant_auth_organizations
         WHERE id > $1 AND removed_at IS NULL
         ORDER BY id
         LIMIT $2";
    LENGTHS_AFTER = "
        SELECT o.id AS id, o.slug AS slug, COALESCE(s.sequence, 0) AS last
          FROM tenant_auth_organizations o
          LEFT JOIN tenant_auth_event_sequences s ON s.org_id = o.id
         WHERE o.id > $1 AND o.removed_at IS NULL
         ORDER BY o.id
         LIMIT $2";
    OF_KIND_AFTER = "
        SELECT id, sequence, created_at, data
          FROM tenant_auth_events
         WHERE org_id = $1 AND kind = $2 AND sequence > $3 AND data IS NOT NULL
         ORDER BY kind, sequence
         LIMIT $4";
    NEXT_ABOUT = "
        SELECT COALESCE(MIN(sequence), 0) AS number
          FROM tenant_auth_events
         WHERE org_id = $1 AND user_id = $2 AND sequence > $3 AND sequence <= $4";
    NEXT_BY = "
        SELECT COALESCE(MIN(sequence), 0) AS number
          FROM tenant_auth_events
         WHERE org_id = $1 AND actor_id = $2 AND sequence > $3 AND sequence <= $4";
    // What is wiped already is not written again: who logs in very often has very many entries.
    WIPE_ABOUT = "
        UPDATE tenant_auth_events
           SET data = NULL, data_salt = NULL, context = NULL, context_salt = NULL
         WHERE org_id = $1 AND user_id = $2 AND sequence > $3 AND sequence <= $4 AND kind <> 'user.deleted'
           AND (data IS NOT NULL OR context IS NOT NULL)";
    WIPE_CONTEXTS = "
        UPDATE tenant_auth_events
           SET context = NULL, context_salt = NULL
         WHERE org_id = $1 AND actor_id = $2 AND sequence > $3 AND sequence <= $4 AND context IS NOT NULL";
    INVITED_IN = "
        SELECT o.id AS id, o.slug AS slug
          FROM tenant_auth_invites i
          JOIN tenant_auth_organizations o ON o.id = i.org_id
         WHERE i.email_key = $1 AND o.removed_at IS NULL
         ORDER BY o.id";
    RESET_REQUESTS = "
        SELECT r.id AS id
          FROM tenant_auth_organizations o
          JOIN tenant_auth_reset_requests r ON r.org_id = o.id AND r.email_key = $1
         ORDER BY r.id";
    FORGET_SIGN_UP_REQUEST = "DELETE FROM tenant_auth_sign_up_requests WHERE email_key = $1";
    FORGET_SIGN_UP_LINKS = "DELETE FROM tenant_auth_sign_up_links WHERE email_key = $1";
    WIPE = "
        UPDATE tenant_auth_events
           SET data = NULL, data_salt = NULL, context = NULL, context_salt = NULL
         WHERE id = $1";
}

row! { OrganizationRow { id: String, slug: String, } }
row! { LengthRow { id: String, slug: String, last: i64, } }
row! { FormerRow { id: String, slug: String, former_id: String, } }
row! { ToldRow { id: String, sequence: i64, created_at: i64, data: String, } }

/// How many rows are read at once.
const PAGE: i64 = 500;

/// How many numbers of a log one statement passes: were all of them somebody's, it would take a second or two.
const AT_ONCE: i64 = 5_000;

/// An event that may hold an address.
#[derive(Debug)]
pub(crate) struct ToldEvent {
    pub(crate) id: EventId,
    pub(crate) sequence: i64,
    pub(crate) at: Timestamp,
    /// JSON.
    pub(crate) data: String,
}

fn org_ref(row: OrganizationRow) -> OrgRef {
    OrgRef { id: Id::from_stored(row.id), slug: Slug::from_stored(row.slug) }
}

impl From<ToldRow> for ToldEvent {
    fn from(row: ToldRow) -> Self {
        Self { id: Id::from_stored(row.id), sequence: row.sequence, at: Timestamp::from_millis(row.created_at), data: row.data }
    }
}

impl<L: Link> Erasing<L> {
    /// The organizations that were told of a user, or of something that the user did.
    pub(crate) async fn told_of(mut self, user: &UserId) -> Result<Vec<OrgRef>, Error> {
        Ok(fetch_all!(self.0, OrganizationRow, TOLD_OF_USER, user.as_str())?.into_iter().map(org_ref).collect())
    }

    /// Some organizations, those after an id.
    pub(crate) async fn organizations_after(mut self, after: &str) -> Result<Vec<OrgRef>, Error> {
        Ok(fetch_all!(self.0, OrganizationRow, ORGANIZATIONS_AFTER, after, PAGE)?.into_iter().map(org_ref).collect())
    }

    /// Some organizations, those after an id, each with the number of its last event.
    pub(crate) async fn lengths_after(mut self, after: &str) -> Result<Vec<(OrgRef, i64)>, Error> {
        let rows = fetch_all!(self.0, LengthRow, LENGTHS_AFTER, after, PAGE)?;
        Ok(rows.into_iter().map(|LengthRow { id, slug, last }| (org_ref(OrganizationRow { id, slug }), last)).collect())
    }

    /// Some events of a kind, those after a number.
    pub(crate) async fn of_kind_after(mut self, org: &OrgId, kind: EventKind, after: i64) -> Result<Vec<ToldEvent>, Error> {
        let rows = fetch_all!(self.0, ToldRow, OF_KIND_AFTER, org.as_str(), kind.as_str(), after, PAGE)?;
        Ok(rows.into_iter().map(ToldEvent::from).collect())
    }

    /// The organizations that were told of changes of an account.
    pub(crate) async fn changed_in(mut self, user: &UserId) -> Result<Vec<OrgRef>, Error> {
        Ok(fetch_all!(self.0, OrganizationRow, CHANGED_IN, user.as_str())?.into_iter().map(org_ref).collect())
    }

    /// Some of what an organization was told of changes of an account, after a number.
    pub(crate) async fn changes_of(mut self, org: &OrgId, user: &UserId, after: i64) -> Result<Vec<ToldEvent>, Error> {
        let rows = fetch_all!(self.0, ToldRow, CHANGES_OF, org.as_str(), user.as_str(), after, PAGE)?;
        Ok(rows.into_iter().map(ToldEvent::from).collect())
    }

    /// The number of the event that tells of the organization's import: what stands before it is as the file had it. 0 where nothing was
    /// imported.
    pub(crate) async fn imported_before(mut self, org: &OrgId) -> Result<i64, Error> {
        Ok(fetch_scalar!(self.0, i64, IMPORTED_BEFORE, org.as_str())?.unwrap_or(0))
    }

    /// The organizations with an invite to an address, also one that has ended, in the order of their ids.
    pub(crate) async fn invited_in(mut self, email: &Email) -> Result<Vec<OrgRef>, Error> {
        Ok(fetch_all!(self.0, OrganizationRow, INVITED_IN, email.key())?.into_iter().map(org_ref).collect())
    }

    /// The requests for reset mails to an address that wait, in the order in which they are fulfilled.
    pub(crate) async fn reset_requests(mut self, email: &Email) -> Result<Vec<DeliveryId>, Error> {
        Ok(fetch_scalars!(self.0, String, RESET_REQUESTS, email.key())?.into_iter().map(Id::from_stored).collect())
    }

    /// As whom imported logs know a user.
    pub(crate) async fn former_selves(mut self, user: &UserId) -> Result<Vec<FormerSelf>, Error> {
        let mut found = Vec::new();
        for FormerRow { id, slug, former_id } in fetch_all!(self.0, FormerRow, FORMER_SELVES, user.as_str())? {
            let before = fetch_scalar!(self.0, i64, IMPORTED_BEFORE, id.as_str())?.unwrap_or(0);
            let org = org_ref(OrganizationRow { id, slug });
            found.push(FormerSelf { org, id: Id::from_stored(former_id), before });
        }
        Ok(found)
    }
}

impl Erasing<&mut Tx> {
    /// Deletes the wish of an address for a link to sign up with; returns the number of rows.
    pub(crate) async fn forget_sign_up_request(mut self, email: &Email) -> Result<u64, Error> {
        execute!(self.0, FORGET_SIGN_UP_REQUEST, email.key())
    }

    /// Deletes the links to sign up with that were mailed to an address; returns their number.
    pub(crate) async fn forget_sign_up_links(mut self, email: &Email) -> Result<u64, Error> {
        execute!(self.0, FORGET_SIGN_UP_LINKS, email.key())
    }

    /// Wipes what was told of a person. The chains of the organizations are locked already: each of them is told of the deletion.
    pub(in crate::store) async fn run(mut self, person: &ErasedPerson) -> Result<(), Error> {
        for org in &person.orgs {
            self.wipe(org, &person.user, i64::MAX).await?;
        }
        for FormerSelf { org, id, before } in &person.former {
            self.wipe(&org.id, id, before.saturating_sub(1)).await?;
        }
        for event in &person.addressed {
            execute!(self.0, WIPE, event.as_str())?;
        }
        Ok(())
    }

    /// Wipes what the entries up to a number tell of somebody, some after others: no statement may meet the limit that is set to each. From
    /// entry to entry of theirs, for the numbers of a log that was imported are the file's choice.
    async fn wipe(&mut self, org: &OrgId, user: &UserId, last: i64) -> Result<(), Error> {
        let (org, user) = (org.as_str(), user.as_str());
        let mut after = 0;
        while let Some(first) = fetch_scalar!(self.0, i64, NEXT_ABOUT, org, user, after, last)?.filter(|first| *first > 0) {
            let until = first.saturating_add(AT_ONCE).min(last);
            execute!(self.0, WIPE_ABOUT, org, user, after, until)?;
            after = until;
        }
        after = 0;
        while let Some(first) = fetch_scalar!(self.0, i64, NEXT_BY, org, user, after, last)?.filter(|first| *first > 0) {
            let until = first.saturating_add(AT_ONCE).min(last);
            execute!(self.0, WIPE_CONTEXTS, org, user, after, until)?;
            after = until;
        }
        Ok(())
    }
}
