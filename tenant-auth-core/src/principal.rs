//! The principal: what a customer's own routes learn about a person who is let in. It is the answer of `POST /public/verify`, the
//! same whether the service runs in this process or on another machine. It is knowledge, not a right to change anything: that takes
//! a [`Member`](crate::Member), which only the service itself gives.

use serde::Serialize;

use crate::{
    backend::Identity,
    id::{OrgId, SessionId},
    model::{AuthMethod, Membership, Organization, Role, Session, Status, User},
    time::Timestamp,
    value::{DisplayName, Metadata, Plan, Slug},
};

/// A person in one organization. It serializes as the data of `POST /public/verify` do.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct Principal {
    /// The person; their profile is not part of the answer and empty here.
    pub user: User,
    /// The person's membership in the organization.
    pub membership: PrincipalMembership,
    /// The organization.
    pub org: PrincipalOrg,
    /// The session the token belongs to.
    pub session: PrincipalSession,
}

/// A person's link to the organization.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct PrincipalMembership {
    /// Their role.
    pub role: Role,
    /// The membership's status; the gate lets in only active members.
    pub status: Status,
    /// Since when.
    pub joined_at: Timestamp,
    /// The customer's own data.
    pub metadata: Metadata,
}

/// The organization a token is good for.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct PrincipalOrg {
    /// `org_…`
    pub id: OrgId,
    /// Shown to people.
    pub name: DisplayName,
    /// As in `X-Org-Slug`.
    pub slug: Slug,
    /// Not interpreted by the service.
    pub plan: Plan,
    /// Whether the organization is active; a suspended one lets no member in.
    pub status: Status,
}

/// The session behind a token.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct PrincipalSession {
    /// `ses_…`
    pub id: SessionId,
    /// How the person proved who they are.
    pub amr: Vec<AuthMethod>,
    /// When they did.
    pub auth_time: Timestamp,
    /// When it ends at the latest.
    pub expires_at: Timestamp,
}

impl Principal {
    /// Whether the membership and the organization are in use (behaviour.md, B69).
    pub fn is_active(&self) -> bool {
        self.membership.status == Status::Active && self.org.status == Status::Active
    }

    /// Whether they are an org_admin.
    pub fn is_admin(&self) -> bool {
        self.membership.role == Role::OrgAdmin
    }
}

impl From<Identity> for Principal {
    fn from(identity: Identity) -> Self {
        let Identity { user, membership, org, session } = identity;
        let Membership { role, status, joined_at, metadata, .. } = membership;
        let Organization { id, name, slug, plan, status: org_status, .. } = org;
        let Session { id: session_id, amr, auth_time, expires_at, .. } = session;
        Self {
            user: User { profile: crate::model::Profile::default(), ..user },
            membership: PrincipalMembership { role, status, joined_at, metadata },
            org: PrincipalOrg { id, name, slug, plan, status: org_status },
            session: PrincipalSession { id: session_id, amr, auth_time, expires_at },
        }
    }
}
