//! `/org/members/invite` and `/org/invites`.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{
    BodyTokens, Guest,
    auth::{Entered, entered},
};
use crate::{
    account::Opened,
    caller::{OrgAdmin, Tenant},
    http::{
        answer::{Message, Outcome, done},
        input::{Json, OptionalJson, Path},
    },
    id::{InviteId, UserId},
    model::{Invite, InviteSummary, MailStatus, Role, Status},
    org::Registration,
    page::Page,
    secret::LinkToken,
    time::Timestamp,
    value::{AppUrl, DisplayName, Email, Metadata, Slug},
};

#[derive(Deserialize, ToSchema)]
pub(crate) struct InviteRequest {
    email: Email,
    role: Option<Role>,
}

#[derive(Serialize, ToSchema)]
pub(crate) struct InviteData {
    invite: InviteSummary,
}

impl From<InviteSummary> for InviteData {
    fn from(invite: InviteSummary) -> Self {
        Self { invite }
    }
}

pub(crate) async fn create(admin: OrgAdmin, Json(request): Json<InviteRequest>) -> Outcome<InviteData> {
    let invite = admin.invite(&request.email, request.role.unwrap_or(Role::Member)).await?;
    Ok(InviteData { invite: invite.summary() }.into())
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct InvitesData {
    invites: Vec<PendingInvite>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    next_cursor: Option<String>,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct PendingInvite {
    id: InviteId,
    email: Email,
    role: Role,
    invited_by: Option<Email>,
    expires_at: Timestamp,
    mail: MailStatus,
}

impl From<Invite> for PendingInvite {
    fn from(invite: Invite) -> Self {
        let Invite { id, email, role, invited_by_email, expires_at, mail, .. } = invite;
        Self { id, email, role, invited_by: invited_by_email, expires_at, mail }
    }
}

pub(crate) async fn list(admin: OrgAdmin, page: Page) -> Outcome<InvitesData> {
    let list = admin.invites(&page).await?;
    let invites = list.items.into_iter().map(PendingInvite::from).collect();
    Ok(InvitesData { invites, next_cursor: list.next_cursor }.into())
}

#[derive(Deserialize, ToSchema)]
pub(crate) struct PreviewRequest {
    token: String,
}

#[derive(Serialize, ToSchema)]
pub(crate) struct PreviewData {
    invite: PreviewedInvite,
    org: PreviewedOrg,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct PreviewedInvite {
    email: Email,
    role: Role,
    expires_at: Timestamp,
    account_exists: bool,
}

#[derive(Serialize, ToSchema)]
struct PreviewedOrg {
    name: DisplayName,
    slug: Slug,
}

pub(crate) async fn preview(tenant: Tenant, Json(request): Json<PreviewRequest>) -> Outcome<PreviewData> {
    let preview = tenant.preview_invite(&LinkToken::new(request.token)).await?;
    let InviteSummary { email, role, expires_at, .. } = preview.invite;
    let org = tenant.organization();
    Ok(PreviewData {
        invite: PreviewedInvite { email, role, expires_at, account_exists: preview.account_exists },
        org: PreviewedOrg { name: org.name.clone(), slug: org.slug.clone() },
    }
    .into())
}

#[derive(Default, Deserialize, ToSchema)]
pub(crate) struct AcceptRequest {
    name: Option<DisplayName>,
    #[schema(min_length = 8, max_length = 256)]
    password: Option<String>,
}

#[derive(Serialize, ToSchema)]
pub(crate) struct AcceptData {
    #[serde(flatten)]
    #[schema(value_type = BodyTokens)]
    tokens: Option<BodyTokens>,
    user: AcceptedUser,
    membership: AcceptedMembership,
    org: AcceptedOrg,
}

#[derive(Serialize, ToSchema)]
struct AcceptedUser {
    id: UserId,
    name: DisplayName,
    email: Email,
}

#[derive(Serialize, ToSchema)]
struct AcceptedMembership {
    role: Role,
    status: Status,
    metadata: Metadata,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct AcceptedOrg {
    name: DisplayName,
    slug: Slug,
    app_url: Option<AppUrl>,
}

type Accepting = (Path<LinkToken>, OptionalJson<AcceptRequest>);

pub(crate) async fn accept(guest: Guest, (Path(token), OptionalJson(request)): Accepting) -> Outcome<Entered<AcceptData>> {
    let registration = Registration { name: request.name, password: request.password.map(Into::into) };
    let login = guest.tenant.accept_invite(&token, registration, guest.client.clone()).await?;
    Ok(entered(&guest, login, |opened| AcceptData::of(&guest, opened)))
}

impl AcceptData {
    fn of(guest: &Guest, opened: &Opened) -> Self {
        let (user, membership, org) = (opened.user().clone(), opened.membership().clone(), opened.organization().clone());
        Self {
            tokens: guest.body_tokens(&opened.tokens),
            user: AcceptedUser { id: user.id, name: user.name, email: user.email },
            membership: AcceptedMembership { role: membership.role, status: membership.status, metadata: membership.metadata },
            org: AcceptedOrg { name: org.name, slug: org.slug, app_url: org.app_url },
        }
    }
}

pub(crate) async fn resend(admin: OrgAdmin, Path(invite): Path<InviteId>) -> Outcome<InviteData> {
    Ok(InviteData { invite: admin.resend_invite(&invite).await?.summary() }.into())
}

pub(crate) async fn revoke(admin: OrgAdmin, Path(invite): Path<InviteId>) -> Outcome<Message> {
    admin.revoke_invite(&invite).await?;
    Ok(done("The invite was revoked."))
}
