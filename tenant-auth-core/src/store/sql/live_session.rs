//! A live session with everything its rights rest on, decoded from the columns `s_`, `u_`, `m_` and `o_` of a joined row. These
//! columns are selected for a session alone, and for a key that asks about a session.

use std::sync::Arc;

use crate::{
    error::Error,
    id::{Id, UserId},
    model::{AccountRole, AuthMethod, Membership, Organization, Profile, Role, Session, Status, User},
    store::{
        row::{FromRow, Row},
        sql::corrupt,
    },
    time::Timestamp,
    value::{AppUrl, Bio, DisplayName, Email, Metadata, Origin, Phone, Plan, Slug},
};

/// The column list: session, user, membership and organization.
macro_rules! columns {
    () => {
        "
               s.id AS s_id, s.user_epoch AS s_user_epoch, s.generation AS s_generation, s.amr AS s_amr,
               s.auth_time AS s_auth_time, s.refreshed_at AS s_refreshed_at, s.last_used_at AS s_last_used_at,
               s.expires_at AS s_expires_at, s.ip AS s_ip, s.user_agent AS s_user_agent,
               u.id AS u_id, u.name AS u_name, u.email AS u_email, u.role AS u_role,
               u.is_email_verified AS u_is_email_verified, u.bio AS u_bio, u.phone AS u_phone,
               m.id AS m_id, m.role AS m_role, m.status AS m_status, m.joined_at AS m_joined_at, m.metadata AS m_metadata,
               o.id AS o_id, o.name AS o_name, o.slug AS o_slug, o.plan AS o_plan, o.status AS o_status,
               o.app_url AS o_app_url, o.allowed_origins AS o_allowed_origins, o.created_at AS o_created_at,
               o.deletes_at AS o_deletes_at, o.is_trusted AS o_is_trusted, o.unproven_until AS o_unproven_until"
    };
}
pub(super) use columns;

/// A live session with everything its rights rest on, read in one statement. There is none when the user's epoch has moved on.
#[derive(Debug, Clone)]
pub(crate) struct LiveSession {
    pub(crate) session: Session,
    pub(crate) user: User,
    pub(crate) membership: Membership,
    pub(crate) org: Arc<Organization>,
}

/// Something read to be remembered, with the incarnation of the database that answered; `None` when it has none yet.
#[derive(Debug, Clone)]
pub(crate) struct Witnessed<T> {
    pub(crate) value: T,
    pub(crate) incarnation: Option<String>,
}

/// The column of a statement whose answer may be remembered. On a standby the statement fails, for the table is unlogged.
macro_rules! incarnation {
    () => {
        "(SELECT token FROM tenant_auth_incarnation) AS incarnation, "
    };
}
pub(super) use incarnation;

impl FromRow for LiveSession {
    fn from_row(row: &Row) -> Result<Self, Error> {
        decode(row, Arc::new(organization(row)?))
    }
}

/// Decodes the `o_` columns.
pub(super) fn organization(row: &Row) -> Result<Organization, Error> {
    let id: String = row.get("o_id")?;
    let Some(status) = Status::parse(&row.get::<String>("o_status")?) else {
        return Err(corrupt("organizations", "status", id));
    };
    let origins: String = row.get("o_allowed_origins")?;
    Ok(Organization {
        id: Id::from_stored(id),
        name: DisplayName::from_stored(row.get("o_name")?),
        slug: Slug::from_stored(row.get("o_slug")?),
        plan: Plan::from_stored(row.get("o_plan")?),
        status,
        app_url: row.get::<Option<String>>("o_app_url")?.map(AppUrl::from_stored),
        allowed_origins: origins.split_whitespace().map(|text| Origin::from_stored(text.to_owned())).collect(),
        created_at: Timestamp::from_millis(row.get("o_created_at")?),
        deletes_at: row.get::<Option<i64>>("o_deletes_at")?.filter(|_| status == Status::Suspended).map(Timestamp::from_millis),
        is_trusted: row.get("o_is_trusted")?,
        unproven_until: row.get::<Option<i64>>("o_unproven_until")?.map(Timestamp::from_millis),
    })
}

/// Decodes the `s_`, `u_` and `m_` columns.
pub(super) fn decode(row: &Row, org: Arc<Organization>) -> Result<LiveSession, Error> {
    let text = |column: &'static str| row.get::<String>(column);
    let optional = |column: &'static str| row.get::<Option<String>>(column);
    let time = |column: &'static str| row.get::<i64>(column).map(Timestamp::from_millis);
    let user_id: UserId = Id::from_stored(text("u_id")?);
    let id = text("m_id")?;
    let Some(account_role) = AccountRole::parse(&text("u_role")?) else {
        return Err(corrupt("users", "role", user_id.as_str()));
    };
    let Some(role) = Role::parse(&text("m_role")?) else { return Err(corrupt("memberships", "role", id)) };
    let Some(status) = Status::parse(&text("m_status")?) else { return Err(corrupt("memberships", "status", id)) };
    let Ok(metadata) = Metadata::from_stored(text("m_metadata")?) else {
        return Err(corrupt("memberships", "metadata", id));
    };
    let session = Session {
        id: Id::from_stored(text("s_id")?),
        org_id: org.id.clone(),
        user_id: user_id.clone(),
        user_epoch: row.get("s_user_epoch")?,
        generation: row.get("s_generation")?,
        amr: text("s_amr")?.split(' ').filter_map(AuthMethod::parse).collect(),
        auth_time: time("s_auth_time")?,
        refreshed_at: time("s_refreshed_at")?,
        last_used_at: time("s_last_used_at")?,
        expires_at: time("s_expires_at")?,
        ip: optional("s_ip")?,
        user_agent: optional("s_user_agent")?,
    };
    let user = User {
        id: user_id.clone(),
        name: DisplayName::from_stored(text("u_name")?),
        email: Email::from_stored(text("u_email")?),
        role: account_role,
        is_email_verified: row.get("u_is_email_verified")?,
        profile: Profile { bio: optional("u_bio")?.map(Bio::from_stored), phone: optional("u_phone")?.map(Phone::from_stored) },
    };
    let membership = Membership {
        id: Id::from_stored(id),
        org_id: org.id.clone(),
        user_id,
        role,
        status,
        joined_at: time("m_joined_at")?,
        metadata,
    };
    Ok(LiveSession { session, user, membership, org })
}
