//! Organizations, and the row lock that serialises the writes in one organization.

#[cfg(feature = "http")]
use crate::store::dialect::fetch_scalar;
use crate::{
    error::Error,
    id::{Id, OrgId},
    model::{Organization, Status},
    page::Bounds,
    store::{
        Change, Link, Tx,
        dialect::{execute, fetch_batch, fetch_optional, row, statements},
        row::{FromRow, Row},
        sql::{
            corrupt,
            live_session::{Witnessed, incarnation},
            removals::Removals,
        },
    },
    time::Timestamp,
    value::{AppUrl, DisplayName, Origin, Plan, Slug},
};

pub(crate) struct Organizations<L>(pub(in crate::store) L);

statements! {
    FIND_BY_SLUG = "
        SELECT id, name, slug, plan, status, app_url, allowed_origins, created_at, deletes_at, is_trusted, unproven_until
          FROM tenant_auth_organizations
         WHERE slug = $1";
    FIND_BY_SLUG_TO_KEEP = concat!("
        SELECT ", incarnation!(), "
               id, name, slug, plan, status, app_url, allowed_origins, created_at, deletes_at, is_trusted, unproven_until
          FROM tenant_auth_organizations
         WHERE slug = $1");
    FIND = "
        SELECT id, name, slug, plan, status, app_url, allowed_origins, created_at, deletes_at, is_trusted, unproven_until
          FROM tenant_auth_organizations
         WHERE id = $1 AND removed_at IS NULL";
    LIST = "
        SELECT id, name, slug, plan, status, app_url, allowed_origins, created_at, deletes_at, is_trusted, unproven_until
          FROM tenant_auth_organizations
         WHERE (created_at, id) > ($1, $2) AND removed_at IS NULL
         ORDER BY created_at, id
         LIMIT $3";
    LIST_DESCENDING = "
        SELECT id, name, slug, plan, status, app_url, allowed_origins, created_at, deletes_at, is_trusted, unproven_until
          FROM tenant_auth_organizations
         WHERE (created_at, id) < ($1, $2) AND removed_at IS NULL
         ORDER BY created_at DESC, id DESC
         LIMIT $3";
    LOCK = "
        UPDATE tenant_auth_organizations
           SET revision = revision + 1
         WHERE id = $1 AND removed_at IS NULL
        RETURNING id, name, slug, plan, status, app_url, allowed_origins, created_at, deletes_at, is_trusted, unproven_until";
    INSERT = "
        INSERT INTO tenant_auth_organizations
               (id, name, slug, plan, status, app_url, allowed_origins, revision, created_at, is_trusted, unproven_until)
        VALUES ($1, $2, $3, $4, $5, $6, $7, 0, $8, $9, $10)
        ON CONFLICT DO NOTHING";
    INSERT_SEQUENCE = "INSERT INTO tenant_auth_event_sequences (org_id, sequence, checkpoint_at) VALUES ($1, 0, $2)";
    // A former version, which knows no date, reopens an organization and leaves the date: it must not count at the next suspension.
    // The status on the right is the one before.
    UPDATE = "
        UPDATE tenant_auth_organizations
           SET name = $2, plan = $3, status = $4, app_url = $5, allowed_origins = $6, is_trusted = $7,
               deletes_at = CASE WHEN status = 'active' THEN NULL ELSE deletes_at END
         WHERE id = $1";
    PROVE = "UPDATE tenant_auth_organizations SET unproven_until = NULL WHERE id = $1 AND unproven_until IS NOT NULL";
    CLEAR_ORIGINS = "DELETE FROM tenant_auth_organization_origins WHERE org_id = $1";
    ADD_ORIGIN = "INSERT INTO tenant_auth_organization_origins (org_id, origin) VALUES ($1, $2) ON CONFLICT DO NOTHING";
    #[cfg(feature = "http")]
    ACTIVE_WITH_ORIGIN = "
        SELECT o.id AS id
          FROM tenant_auth_organization_origins a
          JOIN tenant_auth_organizations o ON o.id = a.org_id
         WHERE a.origin = $1 AND o.status = 'active'
         LIMIT 1";
}

row! {
    OrganizationRow {
        id: String,
        name: String,
        slug: String,
        plan: String,
        status: String,
        app_url: Option<String>,
        allowed_origins: String,
        created_at: i64,
        deletes_at: Option<i64>,
        is_trusted: bool,
        unproven_until: Option<i64>,
    }
}

/// An organization, and the incarnation of the database that answered.
struct WitnessedRow(OrganizationRow, Option<String>);

impl FromRow for WitnessedRow {
    fn from_row(row: &Row) -> Result<Self, Error> {
        Ok(Self(OrganizationRow::from_row(row)?, row.get("incarnation")?))
    }
}

impl TryFrom<OrganizationRow> for Organization {
    type Error = Error;
    fn try_from(row: OrganizationRow) -> Result<Self, Error> {
        let status = Status::parse(&row.status).ok_or_else(|| corrupt("organizations", "status", &row.id))?;
        Ok(Self {
            status,
            id: Id::from_stored(row.id),
            name: DisplayName::from_stored(row.name),
            slug: Slug::from_stored(row.slug),
            plan: Plan::from_stored(row.plan),
            app_url: row.app_url.map(AppUrl::from_stored),
            allowed_origins: row.allowed_origins.split_whitespace().map(|text| Origin::from_stored(text.to_owned())).collect(),
            created_at: Timestamp::from_millis(row.created_at),
            // One that a former version reopened is not to be deleted any more.
            deletes_at: row.deletes_at.filter(|_| status == Status::Suspended).map(Timestamp::from_millis),
            is_trusted: row.is_trusted,
            unproven_until: row.unproven_until.map(Timestamp::from_millis),
        })
    }
}

impl<L: Link> Organizations<L> {
    pub(crate) async fn find_by_slug(mut self, slug: &Slug) -> Result<Option<Organization>, Error> {
        fetch_optional!(self.0, OrganizationRow, FIND_BY_SLUG, slug.as_str())?.map(Organization::try_from).transpose()
    }

    /// The same, to be remembered.
    pub(crate) async fn find_by_slug_to_keep(mut self, slug: &Slug) -> Result<Option<Witnessed<Organization>>, Error> {
        let found = fetch_optional!(self.0, WitnessedRow, FIND_BY_SLUG_TO_KEEP, slug.as_str())?;
        found.map(|WitnessedRow(org, incarnation)| Ok(Witnessed { value: org.try_into()?, incarnation })).transpose()
    }

    pub(crate) async fn find(mut self, org: &OrgId) -> Result<Option<Organization>, Error> {
        fetch_optional!(self.0, OrganizationRow, FIND, org.as_str())?.map(Organization::try_from).transpose()
    }

    pub(crate) async fn list(mut self, bounds: &Bounds) -> Result<Vec<Organization>, Error> {
        fetch_batch!(self.0, OrganizationRow, LIST, LIST_DESCENDING, bounds)?.into_iter().map(Organization::try_from).collect()
    }

    /// Whether an active organization allows this origin (CORS).
    #[cfg(feature = "http")]
    pub(crate) async fn any_active_allows(mut self, origin: &str) -> Result<bool, Error> {
        Ok(fetch_scalar!(self.0, String, ACTIVE_WITH_ORIGIN, origin)?.is_some())
    }
}

impl Organizations<&mut Tx> {
    /// Locks the organization's row until this transaction ends, before every other write in the organization (lock order). Values
    /// read after it are current.
    pub(crate) async fn lock(mut self, org: &OrgId) -> Result<Option<Organization>, Error> {
        fetch_optional!(self.0, OrganizationRow, LOCK, org.as_str())?.map(Organization::try_from).transpose()
    }

    /// `false` when the slug is taken, also by an organization that was removed: the transaction must not be committed then.
    pub(crate) async fn insert(mut self, org: &Organization) -> Result<bool, Error> {
        let inserted = execute!(
            self.0,
            INSERT,
            org.id.as_str(),
            org.name.as_str(),
            org.slug.as_str(),
            org.plan.as_str(),
            org.status.as_str(),
            org.app_url.as_ref().map(AppUrl::as_str),
            origins_text(org),
            org.created_at.millis(),
            org.is_trusted,
            org.unproven_until.map(Timestamp::millis)
        )?;
        // The slug was free or is held since the statement above, so whoever gave it up has committed.
        if inserted == 0 || Removals(&mut *self.0).was_given(&org.slug).await? {
            return Ok(false);
        }
        let now = self.0.now();
        execute!(self.0, INSERT_SEQUENCE, org.id.as_str(), now.millis())?;
        self.set_origins(org).await?;
        Ok(true)
    }

    /// Writes every column that can change; `previous` is what they were.
    pub(crate) async fn update(mut self, org: &Organization, previous: &Organization) -> Result<(), Error> {
        let change = if org.status != previous.status && org.status == Status::Suspended {
            Change::OrganizationSuspended
        } else if origins(previous).any(|origin| !origins(org).any(|kept| kept == origin)) {
            Change::OriginRemoved
        } else {
            Change::OrganizationChanged
        };
        self.0.touch(change, Some(&org.id), org.id.as_str());
        execute!(
            self.0,
            UPDATE,
            org.id.as_str(),
            org.name.as_str(),
            org.plan.as_str(),
            org.status.as_str(),
            org.app_url.as_ref().map(AppUrl::as_str),
            origins_text(org),
            org.is_trusted
        )?;
        self.set_origins(org).await
    }

    /// Says that somebody came back to an organization that sign-up made: it is not deleted by itself any more.
    pub(crate) async fn prove(mut self, org: &OrgId) -> Result<(), Error> {
        if execute!(self.0, PROVE, org.as_str())? == 1 {
            self.0.touch(Change::OrganizationChanged, Some(org), org.as_str());
        }
        Ok(())
    }

    async fn set_origins(&mut self, org: &Organization) -> Result<(), Error> {
        execute!(self.0, CLEAR_ORIGINS, org.id.as_str())?;
        for origin in origins(org) {
            execute!(self.0, ADD_ORIGIN, org.id.as_str(), origin.as_str())?;
        }
        Ok(())
    }
}

/// The origins that the organization allows: those of its list, and its application's.
fn origins(org: &Organization) -> impl Iterator<Item = Origin> {
    org.allowed_origins.iter().cloned().chain(org.app_url.as_ref().and_then(AppUrl::origin))
}

/// Serialized origins hold no white space.
fn origins_text(org: &Organization) -> String {
    org.allowed_origins.iter().map(Origin::as_str).collect::<Vec<_>>().join(" ")
}
