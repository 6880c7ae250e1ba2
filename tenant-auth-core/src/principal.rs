//! The principal: what a customer's own routes learn about a person who is let in. It is the answer of `POST /public/verify`, the
//! same whether the service runs in this process or on another machine. It is knowledge, not a right to change anything: that takes
//! a [`Member`](crate::Member), which only the service itself gives.

use serde::{Deserialize, Serialize};

use crate::{
    id::{OrgId, SessionId},
    model::{AuthMethod, Membership, Organization, Role, Status},
    time::Timestamp,
    value::{DisplayName, Metadata, Plan, Slug, stated},
    view::UserView,
};
#[cfg(feature = "service")]
use crate::{store::LiveSession, token::AccessToken};

/// A person in one organization, as `POST /public/verify` tells of them.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "http", derive(utoipa::ToSchema), schema(as = IdentityView))]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Principal {
    /// The person, without their profile.
    pub user: UserView,
    /// The person's membership in the organization.
    pub membership: PrincipalMembership,
    /// The organization.
    pub org: PrincipalOrg,
    /// The session the token belongs to.
    pub session: PrincipalSession,
    /// When the token expires: nobody may go by this answer from then on.
    pub token_expires_at: Timestamp,
}

/// A person's link to the organization.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "http", derive(utoipa::ToSchema), schema(as = MembershipView))]
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
    #[serde(deserialize_with = "Metadata::stated")]
    pub metadata: Metadata,
}

/// The organization a token is good for.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "http", derive(utoipa::ToSchema), schema(as = OrgView))]
#[non_exhaustive]
pub struct PrincipalOrg {
    /// `org_…`
    pub id: OrgId,
    /// Shown to people.
    #[serde(deserialize_with = "stated")]
    pub name: DisplayName,
    /// As in `X-Org-Slug`.
    #[serde(deserialize_with = "stated")]
    pub slug: Slug,
    /// Not interpreted by the service.
    #[serde(deserialize_with = "stated")]
    pub plan: Plan,
    /// Whether the organization is active; a suspended one lets no member in.
    pub status: Status,
}

/// The session behind a token.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "http", derive(utoipa::ToSchema), schema(as = SessionView))]
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

#[cfg(feature = "service")]
impl Principal {
    /// Who a live token belongs to.
    pub(crate) fn of(live: &LiveSession, token: &AccessToken) -> Self {
        Self::until(live, token.expires_at)
    }

    /// Whose session it is, for an answer that counts until then.
    pub(crate) fn until(live: &LiveSession, token_expires_at: Timestamp) -> Self {
        let LiveSession { session, user, membership, org } = live;
        let Organization { id, name, slug, plan, status, .. } = Organization::clone(org);
        let session = session.clone();
        Self {
            user: UserView::from(user),
            membership: membership.clone().into(),
            org: PrincipalOrg { id, name, slug, plan, status },
            session: PrincipalSession {
                id: session.id,
                amr: session.amr,
                auth_time: session.auth_time,
                expires_at: session.expires_at,
            },
            token_expires_at,
        }
    }
}

impl From<Membership> for PrincipalMembership {
    fn from(membership: Membership) -> Self {
        let Membership { role, status, joined_at, metadata, .. } = membership;
        Self { role, status, joined_at, metadata }
    }
}
