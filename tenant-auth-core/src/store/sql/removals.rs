//! The end of organizations: when one is to be deleted, the guarded statement with which its removal begins, and the slugs that are
//! never given out again. What is left of an organization after that is deleted by `removed.rs`.

use sha2::{Digest, Sha256};

use crate::{
    error::Error,
    hex,
    id::{Id, OrgId},
    model::OrgRef,
    store::{
        Change, Link, Tx,
        dialect::{execute, fetch_all, fetch_scalar, fetch_scalars, row, statements},
    },
    time::Timestamp,
    value::Slug,
};

pub(crate) struct Removals<L>(pub(in crate::store) L);

statements! {
    SCHEDULE = "
        UPDATE tenant_auth_organizations
           SET status = 'suspended', deletes_at = $2, is_reminded = $3
         WHERE id = $1 AND removed_at IS NULL";
    CANCEL = "
        UPDATE tenant_auth_organizations
           SET deletes_at = NULL, is_reminded = FALSE
         WHERE id = $1 AND removed_at IS NULL";
    UNREMINDED = "
        SELECT id
          FROM tenant_auth_organizations
         WHERE deletes_at <= $1 AND removed_at IS NULL AND is_reminded = FALSE AND status = 'suspended'
         ORDER BY deletes_at
         LIMIT $2";
    // Of two workers, one finds it done.
    REMIND = "
        UPDATE tenant_auth_organizations
           SET is_reminded = TRUE
         WHERE id = $1 AND deletes_at <= $2 AND removed_at IS NULL AND is_reminded = FALSE
           AND status = 'suspended'";
    UNPROVEN = "
        SELECT id
          FROM tenant_auth_organizations
         WHERE unproven_until <= $1 AND removed_at IS NULL
         ORDER BY unproven_until
         LIMIT $2";
    // Judged once, and by all that it rests on: an organization that is kept is not looked at again.
    FORSAKE = "
        UPDATE tenant_auth_organizations
           SET unproven_until = NULL
         WHERE id = $1 AND unproven_until <= $2 AND removed_at IS NULL AND deletes_at IS NULL AND status = 'active'
           AND (SELECT COUNT(*) FROM tenant_auth_memberships WHERE org_id = $1) = 1
           AND NOT EXISTS (SELECT 1 FROM tenant_auth_invites WHERE org_id = $1)";
    DUE = "
        SELECT id, slug
          FROM tenant_auth_organizations
         WHERE deletes_at <= $1 AND removed_at IS NULL AND status = 'suspended'
         ORDER BY deletes_at
         LIMIT $2";
    // The guard looks at the status, too: a former version, which knows no date, can still reopen the organization. An id is no slug
    // that a request could name.
    BEGIN = "
        UPDATE tenant_auth_organizations
           SET removed_at = $2, slug = id, name = '', plan = '', app_url = NULL, allowed_origins = ''
         WHERE id = $1 AND deletes_at <= $2 AND removed_at IS NULL AND status = 'suspended'";
    KEEP_SLUG = "
        INSERT INTO tenant_auth_former_slugs (digest, id, removed_at)
        VALUES ($1, $2, $3)
        ON CONFLICT (digest) DO NOTHING";
    WEBHOOKS = "SELECT id FROM tenant_auth_webhooks WHERE org_id = $1 ORDER BY id";
    DISABLE = "UPDATE tenant_auth_webhooks SET status = 'disabled' WHERE org_id = $1 AND id = $2";
    IS_FORMER = "SELECT COUNT(*) AS number FROM tenant_auth_former_slugs WHERE digest = $1";
    RELEASE = "DELETE FROM tenant_auth_former_slugs WHERE digest = $1";
}

row! { DueRow { id: String, slug: String, } }

impl<L: Link> Removals<L> {
    /// Some organizations that are deleted at `until` or before, and whose admins were not reminded.
    pub(crate) async fn unreminded(mut self, until: Timestamp, most: i64) -> Result<Vec<OrgId>, Error> {
        Ok(fetch_scalars!(self.0, String, UNREMINDED, until.millis(), most)?.into_iter().map(Id::from_stored).collect())
    }

    /// Some organizations that sign-up made, to which nobody came back in time.
    pub(crate) async fn unproven(mut self, now: Timestamp, most: i64) -> Result<Vec<OrgId>, Error> {
        Ok(fetch_scalars!(self.0, String, UNPROVEN, now.millis(), most)?.into_iter().map(Id::from_stored).collect())
    }

    /// Some organizations whose time has come.
    pub(crate) async fn due(mut self, now: Timestamp, most: i64) -> Result<Vec<OrgRef>, Error> {
        let rows = fetch_all!(self.0, DueRow, DUE, now.millis(), most)?;
        Ok(rows.into_iter().map(|row| OrgRef { id: Id::from_stored(row.id), slug: Slug::from_stored(row.slug) }).collect())
    }

    /// Whether an organization that was removed had this slug.
    pub(in crate::store) async fn was_given(mut self, slug: &Slug) -> Result<bool, Error> {
        Ok(fetch_scalar!(self.0, i64, IS_FORMER, digest_of(slug))?.unwrap_or(0) > 0)
    }
}

impl Removals<&mut Tx> {
    /// Suspends an organization, which this transaction has locked, until it is deleted. `is_reminded`: its admins are not to be
    /// reminded.
    pub(crate) async fn schedule(mut self, org: &OrgId, at: Timestamp, is_reminded: bool) -> Result<(), Error> {
        self.0.touch(Change::OrganizationSuspended, Some(org), org.as_str());
        execute!(self.0, SCHEDULE, org.as_str(), at.millis(), is_reminded)?;
        Ok(())
    }

    /// Takes the date away from an organization that this transaction has locked.
    pub(crate) async fn cancel(mut self, org: &OrgId) -> Result<(), Error> {
        self.0.touch(Change::OrganizationChanged, Some(org), org.as_str());
        execute!(self.0, CANCEL, org.as_str())?;
        Ok(())
    }

    /// Whether an organization that this transaction has locked is to be deleted because nobody came back to it: its only member did
    /// not, and invited nobody. Of two workers, one finds it done.
    pub(crate) async fn forsake(mut self, org: &OrgId) -> Result<bool, Error> {
        let now = self.0.now();
        Ok(execute!(self.0, FORSAKE, org.as_str(), now.millis())? == 1)
    }

    /// Says that the admins of an organization are reminded; `false` when they were, or are not to be any more.
    pub(crate) async fn remind(mut self, org: &OrgId, until: Timestamp) -> Result<bool, Error> {
        Ok(execute!(self.0, REMIND, org.as_str(), until.millis())? == 1)
    }

    /// Begins the removal: from the commit on the organization is unknown, by its slug and by its id. `false` when its time has not
    /// come, or its deletion was cancelled, or another worker began.
    pub(crate) async fn begin(mut self, org: &OrgRef) -> Result<bool, Error> {
        let now = self.0.now();
        if execute!(self.0, BEGIN, org.id.as_str(), now.millis())? == 0 {
            return Ok(false);
        }
        self.0.touch(Change::OrganizationRemoved, Some(&org.id), org.id.as_str());
        execute!(self.0, KEEP_SLUG, digest_of(&org.slug), org.id.as_str(), now.millis())?;
        for webhook in fetch_scalars!(self.0, String, WEBHOOKS, org.id.as_str())? {
            execute!(self.0, DISABLE, org.id.as_str(), webhook)?;
        }
        Ok(true)
    }

    /// Lets a slug be given out again; `false` when no organization that was removed had it.
    pub(crate) async fn release(mut self, slug: &Slug) -> Result<bool, Error> {
        Ok(execute!(self.0, RELEASE, digest_of(slug))? == 1)
    }
}

fn digest_of(slug: &Slug) -> String {
    hex::of(&Sha256::digest(slug.as_str()))
}
