//! The domain model: users, organizations, memberships, sessions, invites and API keys. Resources have no JSON form here: which
//! fields the API and the events show is decided in [`view`](crate::view). Password hashes, token digests and counters are in the
//! store's records.

mod audit;
mod changes;
mod deployment_key;
mod event_kind;
mod event_selection;
mod webhook;
mod words;

pub use audit::{AuditActor, AuditContext, AuditEntry, AuditFilter};
pub use changes::{ChangedOrganization, Changes, DeploymentChanges};
pub use deployment_key::DeploymentKey;
pub use event_kind::EventKind;
pub use event_selection::EventSelection;
pub use webhook::{Delivery, DeliveryAttempt, DeliveryDetails, Webhook};
pub use words::{
    AccountRole, AuthMethod, DeliveryError, DeliveryStatus, DeploymentScope, MailStatus, Role, Scope, SortOrder, Status,
    WebhookStatus,
};

use crate::{
    id::{ApiKeyId, InviteId, MembershipId, OrgId, SessionId, UserId},
    time::Timestamp,
    value::{AppUrl, Bio, DisplayName, Email, Metadata, Origin, Phone, Plan, SearchText, Slug},
};

/// An organization (tenant).
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Organization {
    /// `org_…`
    pub id: OrgId,
    /// Shown to people.
    pub name: DisplayName,
    /// Used in `X-Org-Slug`.
    pub slug: Slug,
    /// Not interpreted by the service.
    pub plan: Plan,
    /// Whether the organization is active; a suspended one lets no member in.
    pub status: Status,
    /// The customer's application; invitation mails link to it.
    pub app_url: Option<AppUrl>,
    /// When it was created.
    pub created_at: Timestamp,
    /// Browser origins allowed beside the application's; shown to org_admins.
    pub allowed_origins: Vec<Origin>,
    /// When it is deleted with everything that belongs to it; shown to operators.
    pub deletes_at: Option<Timestamp>,
    /// Whether it may send as many invites as any other, with a link to its application; one that sign-up made may not until an operator
    /// says so. Shown to operators.
    pub is_trusted: bool,
    /// Until when an organization that sign-up made is deleted unless somebody comes back to it; `None` for every other.
    pub(crate) unproven_until: Option<Timestamp>,
}

impl Organization {
    /// Whether the organization allows this origin: its application's, or one of its allowed origins.
    pub(crate) fn allows_origin(&self, origin: &str) -> bool {
        let of_app = self.app_url.as_ref().and_then(AppUrl::origin);
        of_app.iter().chain(&self.allowed_origins).any(|allowed| allowed.as_str() == origin)
    }
}

/// A reference to an organization: its id, and the slug it is called by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct OrgRef {
    pub(crate) id: OrgId,
    pub(crate) slug: Slug,
}

impl From<&Organization> for OrgRef {
    fn from(org: &Organization) -> Self {
        Self { id: org.id.clone(), slug: org.slug.clone() }
    }
}

/// A person.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct User {
    /// `usr_…`
    pub id: UserId,
    /// Shown to people.
    pub name: DisplayName,
    /// As typed; compared lower-cased.
    pub email: Email,
    /// Standing in the deployment.
    pub role: AccountRole,
    /// Whether the person proved that the address is theirs.
    pub is_email_verified: bool,
    /// What they say of themselves; shown by the profile operations only.
    pub profile: Profile,
}

/// The optional part of a profile.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Profile {
    /// In the person's own words.
    pub bio: Option<Bio>,
    /// Telephone number.
    pub phone: Option<Phone>,
}

/// A user's link to an organization.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Membership {
    /// `mem_…`
    pub id: MembershipId,
    /// The organization.
    pub org_id: OrgId,
    /// The person.
    pub user_id: UserId,
    /// Their role here.
    pub role: Role,
    /// Whether they are let in.
    pub status: Status,
    /// Since when.
    pub joined_at: Timestamp,
    /// The customer's own data.
    pub metadata: Metadata,
}

impl Membership {
    /// Whether the member is an active org_admin; an organization keeps at least one (`Error::LastAdmin`).
    pub fn is_active_admin(&self) -> bool {
        self.role == Role::OrgAdmin && self.status == Status::Active
    }
}

/// An entry of the member list: a membership and its person's name and address.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct MemberEntry {
    /// The membership.
    pub membership: Membership,
    /// The person's name.
    pub name: DisplayName,
    /// The person's address.
    pub email: Email,
}

/// Which members a list shows: those that meet every condition that is set.
#[derive(Debug, Clone, Default)]
pub struct MemberFilter {
    /// A part of the name or of the address.
    pub search: Option<SearchText>,
    /// The role in the organization.
    pub role: Option<Role>,
    /// Whether the membership is active or suspended.
    pub status: Option<Status>,
}

/// Which organizations a list shows: those that meet every condition that is set.
#[derive(Debug, Clone, Default)]
pub struct OrganizationFilter {
    /// A part of the name or of the slug.
    pub search: Option<SearchText>,
    /// Whether the organization is active or suspended.
    pub status: Option<Status>,
}

/// One login of one person in one organization. Its refresh tokens are not stored: a generation counter says which one is live.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Session {
    /// `ses_…`
    pub id: SessionId,
    /// Where it is valid; nowhere else.
    pub org_id: OrgId,
    /// Whose it is.
    pub user_id: UserId,
    /// The user's epoch it was opened in; another epoch ends it.
    pub(crate) user_epoch: i64,
    /// The generation of its live tokens.
    pub(crate) generation: i64,
    /// How the person proved who they are.
    pub amr: Vec<AuthMethod>,
    /// When they did.
    pub auth_time: Timestamp,
    /// When this generation's tokens were issued.
    pub refreshed_at: Timestamp,
    /// When it was last refreshed or wrote something.
    pub last_used_at: Timestamp,
    /// When it ends at the latest.
    pub expires_at: Timestamp,
    /// The client's address at login.
    pub ip: Option<String>,
    /// The client's `User-Agent` at login, cut to 256 characters.
    pub user_agent: Option<String>,
}

/// What an operator sees of an organization's people: how many, and never who, but for who signed it up.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct OrganizationFigures {
    /// How many members there are, the suspended ones included.
    pub members: i64,
    /// How many of them are active org_admins.
    pub active_admins: i64,
    /// How many invites wait for an answer; counted up to a thousand.
    pub pending_invites: i64,
    /// Who signed the organization up. `None` where an operator made it, or once the audit log keeps it no longer.
    pub created_by: Option<AuditActor>,
}

/// The deployment in figures, and never who.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct DeploymentFigures {
    /// How many organizations are active.
    pub active_organizations: i64,
    /// How many are suspended and are to stay.
    pub suspended_organizations: i64,
    /// How many are suspended and to be deleted.
    pub deleting_organizations: i64,
    /// How many people have an account.
    pub accounts: i64,
    /// How many memberships those have, the suspended ones included.
    pub members: i64,
    /// The last thirty days (UTC), today last.
    pub days: Vec<DayFigures>,
}

/// A day of the deployment.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct DayFigures {
    /// The day's beginning (UTC).
    pub day: Timestamp,
    /// How many sessions were opened.
    pub sign_ins: i64,
    /// How many people joined an organization.
    pub joined: i64,
    /// How many organizations were made that are still there.
    pub organizations: i64,
}

/// What its owner sees of a session.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct SessionSummary {
    /// `ses_…`
    pub id: SessionId,
    /// When it was opened.
    pub created_at: Timestamp,
    /// When it was last refreshed or wrote something.
    pub last_used_at: Timestamp,
    /// The client's address at login.
    pub ip: Option<String>,
    /// The client's `User-Agent` at login.
    pub user_agent: Option<String>,
}

impl Session {
    /// What its owner may see.
    pub fn summary(&self) -> SessionSummary {
        SessionSummary {
            id: self.id.clone(),
            created_at: self.auth_time,
            last_used_at: self.last_used_at,
            ip: self.ip.clone(),
            user_agent: self.user_agent.clone(),
        }
    }
}

/// A pending invitation.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Invite {
    /// `inv_…`
    pub id: InviteId,
    /// The organization that invites.
    pub org_id: OrgId,
    /// The invited address.
    pub email: Email,
    /// The role it gives.
    pub role: Role,
    /// The inviting admin; `None` when an operator of the deployment invited.
    pub invited_by: Option<UserId>,
    /// That admin's address.
    pub invited_by_email: Option<Email>,
    /// When it was made.
    pub created_at: Timestamp,
    /// Until when it can be accepted.
    pub expires_at: Timestamp,
    /// How far its mail has come.
    pub mail: MailStatus,
}

/// An API key, without its secret.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ApiKey {
    /// `key_…`
    pub id: ApiKeyId,
    /// The organization whose key it is.
    pub org_id: OrgId,
    /// Given by its maker.
    pub name: DisplayName,
    /// How the key's text begins.
    pub prefix: String,
    /// How it ends.
    pub last_four: String,
    /// What it may do.
    pub scopes: Vec<Scope>,
    /// Its maker; none when the operator's command line made it.
    pub created_by: Option<UserId>,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it dies by itself.
    pub expires_at: Option<Timestamp>,
    /// When it was last used, within a minute.
    pub last_used_at: Option<Timestamp>,
    /// Set once it was rotated: it dies at `expires_at` and cannot be rotated again.
    pub replaced_by: Option<ApiKeyId>,
}
