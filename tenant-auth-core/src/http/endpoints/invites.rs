//! `/org/members/invite` and `/org/invites`.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{
    AskedAddress, BodyTokens, Guest, Stranger,
    auth::{Entered, entered},
};
use crate::{
    account::Opened,
    caller::OrgAdmin,
    http::{
        answer::{Message, Outcome, done},
        input::{Json, OptionalJson, Path},
        listing::Listing,
        query::SearchQuery,
        refusal::Refusal,
    },
    id::InviteId,
    model::{Invite, Role},
    org::{InvitePreview, Registration},
    secret::LinkToken,
    time::Timestamp,
    value::{DisplayName, Email, ReturnAddress},
    view::{AcceptedMembershipView, AcceptedOrgView, AcceptedUserView, InviteView, PendingInviteView, PreviewedOrgView, view},
};

#[derive(Deserialize, ToSchema)]
pub(crate) struct InviteRequest {
    email: Email,
    role: Option<Role>,
}

#[derive(Serialize, ToSchema)]
pub(crate) struct InviteData {
    invite: InviteView,
}

impl From<&Invite> for InviteData {
    fn from(invite: &Invite) -> Self {
        Self { invite: invite.into() }
    }
}

pub(crate) async fn create(admin: OrgAdmin, Json(request): Json<InviteRequest>) -> Outcome<InviteData> {
    let invite = admin.invite(&request.email, request.role.unwrap_or(Role::Member)).await?;
    Ok(InviteData::from(&invite).into())
}

pub(crate) async fn list(admin: OrgAdmin, query: SearchQuery) -> Outcome<Listing<PendingInviteView>> {
    Ok(admin.invites_like(query.search.as_ref(), &query.page).await?.into())
}

#[derive(Deserialize, ToSchema)]
pub(crate) struct PreviewRequest {
    token: String,
}

#[derive(Serialize, ToSchema)]
pub(crate) struct PreviewData {
    invite: PreviewedInviteView,
    org: PreviewedOrgView,
}

view! {
    PreviewedInviteView of InvitePreview as PreviewedInvite {
        email: Email,
        role: Role,
        expires_at: Timestamp,
        account_exists: bool,
    }
}

pub(crate) async fn preview(stranger: Stranger, Json(request): Json<PreviewRequest>) -> Outcome<PreviewData> {
    let (Stranger { tenant, client }, token) = (stranger, LinkToken::new(request.token));
    let preview = tenant.auth.counted(tenant.preview_invite(&token).await, &token, &client)?;
    Ok(PreviewData { invite: (&preview).into(), org: tenant.organization().into() }.into())
}

#[derive(Default, Deserialize, ToSchema)]
pub(crate) struct AcceptRequest {
    name: Option<DisplayName>,
    #[schema(min_length = 8, max_length = 256)]
    password: Option<String>,
    next: Option<AskedAddress>,
}

#[derive(Serialize, ToSchema)]
pub(crate) struct AcceptData {
    #[serde(flatten)]
    #[schema(value_type = BodyTokens)]
    tokens: Option<BodyTokens>,
    user: AcceptedUserView,
    membership: AcceptedMembershipView,
    org: AcceptedOrgView,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    next: Option<ReturnAddress>,
}

type Accepting = (Path<LinkToken>, OptionalJson<AcceptRequest>);

pub(crate) async fn accept(guest: Guest, (Path(token), OptionalJson(request)): Accepting) -> Outcome<Entered<AcceptData>> {
    let next = request.next.and_then(|next| guest.tenant.return_address(next.as_str()));
    let registration = Registration { name: request.name, password: request.password.map(Into::into) };
    let login = guest.tenant.accept_invite(&token, registration, guest.client.clone()).await;
    let login = guest.tenant.auth.counted(login, &token, &guest.client);
    let login = login.map_err(Refusal::of_acceptance)?;
    Ok(entered(&guest, login, |opened| AcceptData::of(&guest, opened, next)))
}

impl AcceptData {
    fn of(guest: &Guest, opened: &Opened, next: Option<ReturnAddress>) -> Self {
        Self {
            tokens: guest.body_tokens(&opened.tokens),
            user: opened.user().into(),
            membership: opened.membership().into(),
            org: opened.organization().into(),
            next,
        }
    }
}

pub(crate) async fn resend(admin: OrgAdmin, Path(invite): Path<InviteId>) -> Outcome<InviteData> {
    Ok(InviteData::from(&admin.resend_invite(&invite).await?).into())
}

pub(crate) async fn revoke(admin: OrgAdmin, Path(invite): Path<InviteId>) -> Outcome<Message> {
    admin.revoke_invite(&invite).await?;
    Ok(done("The invite was revoked."))
}
