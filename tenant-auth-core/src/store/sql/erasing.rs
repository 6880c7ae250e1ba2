//! Erasing a person from events: the parts of entries about them are wiped with their salts, and the contexts of what they did. The
//! digests stay, so that the chain still proves everything else (audit log).

use crate::{
    error::Error,
    id::{EventId, Id, OrgId, UserId},
    model::{EventKind, OrgRef},
    store::{
        ErasedPerson, Link, Tx,
        dialect::{execute, fetch_all, row, statements},
    },
    value::Slug,
};

pub(crate) struct Erasing<L>(pub(in crate::store) L);

statements! {
    TOLD_OF_USER = "
        SELECT o.id, o.slug
          FROM tenant_auth_organizations o
         WHERE EXISTS (SELECT 1 FROM tenant_auth_events WHERE org_id = o.id AND user_id = $1)
            OR EXISTS (SELECT 1 FROM tenant_auth_events WHERE org_id = o.id AND actor_id = $1)
         ORDER BY o.id";
    ORGANIZATIONS_AFTER = "
        SELECT id, slug
          FROM tenant_auth_organizations
         WHERE id > $1
         ORDER BY id
         LIMIT $2";
    OF_KIND_AFTER = "
        SELECT id, sequence, data
          FROM tenant_auth_events
         WHERE org_id = $1 AND kind = $2 AND sequence > $3 AND data IS NOT NULL
         ORDER BY kind, sequence
         LIMIT $4";
    WIPE_ABOUT = "
        UPDATE tenant_auth_events
           SET data = NULL, data_salt = NULL, context = NULL, context_salt = NULL
         WHERE org_id = $1 AND user_id = $2 AND kind <> 'user.deleted'";
    WIPE_CONTEXTS = "
        UPDATE tenant_auth_events
           SET context = NULL, context_salt = NULL
         WHERE org_id = $1 AND actor_id = $2";
    WIPE = "
        UPDATE tenant_auth_events
           SET data = NULL, data_salt = NULL, context = NULL, context_salt = NULL
         WHERE id = $1";
}

row! { OrganizationRow { id: String, slug: String, } }
row! { ToldRow { id: String, sequence: i64, data: String, } }

/// How many rows are read at once.
const PAGE: i64 = 500;

/// An event that may hold an address.
#[derive(Debug)]
pub(crate) struct ToldEvent {
    pub(crate) id: EventId,
    pub(crate) sequence: i64,
    /// JSON.
    pub(crate) data: String,
}

fn org_ref(row: OrganizationRow) -> OrgRef {
    OrgRef { id: Id::from_stored(row.id), slug: Slug::from_stored(row.slug) }
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

    /// Some events of a kind, those after a number.
    pub(crate) async fn of_kind_after(mut self, org: &OrgId, kind: EventKind, after: i64) -> Result<Vec<ToldEvent>, Error> {
        let rows = fetch_all!(self.0, ToldRow, OF_KIND_AFTER, org.as_str(), kind.as_str(), after, PAGE)?;
        Ok(rows.into_iter().map(|row| ToldEvent { id: Id::from_stored(row.id), sequence: row.sequence, data: row.data }).collect())
    }
}

impl Erasing<&mut Tx> {
    /// Wipes what was told of a person. The chains of the organizations are locked already: each of them is told of the deletion.
    pub(in crate::store) async fn run(mut self, person: &ErasedPerson) -> Result<(), Error> {
        for org in &person.orgs {
            execute!(self.0, WIPE_ABOUT, org.as_str(), person.user.as_str())?;
            execute!(self.0, WIPE_CONTEXTS, org.as_str(), person.user.as_str())?;
        }
        for event in &person.addressed {
            execute!(self.0, WIPE, event.as_str())?;
        }
        Ok(())
    }
}
