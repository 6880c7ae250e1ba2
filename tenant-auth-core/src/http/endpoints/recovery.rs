//! `/auth/forgot-password`, `/auth/reset-password`, `/auth/verify-email` and `/auth/change-email`.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::{
    account::{AddressProof, LinkPreview, NewEmail},
    caller::{Member, Tenant},
    error::Error,
    http::{
        answer::{Message, Outcome, done},
        context::Context,
        endpoints::{AskedAddress, Guest, Stranger},
        error_code::ErrorCode,
        input::Json,
        openapi::{ANYBODY, CallerFacts},
        refusal::Refusal,
        route::Caller,
    },
    secret::LinkToken,
    value::{Email, ReturnAddress},
};

#[derive(Deserialize, ToSchema)]
pub(crate) struct ForgotPasswordRequest {
    email: Email,
}

pub(crate) async fn forgot_password(stranger: Stranger, Json(request): Json<ForgotPasswordRequest>) -> Outcome<Message> {
    stranger.tenant.request_password_reset(&request.email, &stranger.client).await?;
    Ok(done("If the address belongs to a member, a mail with a link is on its way."))
}

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ResetPasswordRequest {
    token: String,
    #[schema(min_length = 8, max_length = 256)]
    new_password: String,
    next: Option<AskedAddress>,
}

#[derive(Serialize, ToSchema)]
pub(crate) struct ResetData {
    message: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    next: Option<ReturnAddress>,
}

pub(crate) async fn reset_password(stranger: Stranger, Json(request): Json<ResetPasswordRequest>) -> Outcome<ResetData> {
    let (Stranger { tenant, client }, token) = (stranger, LinkToken::new(request.token));
    let next = request.next.and_then(|next| tenant.return_address(next.as_str()));
    let reset = tenant.reset_password(&token, &request.new_password.into()).await;
    tenant.auth.counted(reset, &token, &client).map_err(|error| Refusal::of_new_password(error, "newPassword"))?;
    Ok(ResetData { message: "The password was reset. Every session has ended; log in with the new password.", next }.into())
}

#[derive(Deserialize, ToSchema)]
pub(crate) struct VerifyEmailRequest {
    token: String,
    password: Option<String>,
}

/// The caller of an address verification: the holder of a mailed link, perhaps with a session, which may be another person's.
pub(crate) struct LinkHolder {
    guest: Guest,
    session: Option<Member>,
}

impl Caller for LinkHolder {
    const FACTS: CallerFacts =
        CallerFacts { who: "whoever holds the link, in a session of the account or with its password", seen_from: true, ..ANYBODY };
    const MAY: &'static [&'static [ErrorCode]] = Tenant::MAY;
    async fn identify(context: &Context) -> Result<Self, Refusal> {
        let guest = Guest::identify(context).await?;
        // A dead session is no reason to refuse: the password in the body can prove the owner.
        let Some(token) = context.access_token(&context.cookies()).ok().flatten() else {
            return Ok(Self { guest, session: None });
        };
        let session = match guest.tenant.authenticate(&token).await {
            Ok(member) => Some(member),
            Err(Error::SessionRequired | Error::WrongOrganization | Error::Suspended) => None,
            Err(error) => return Err(error.into()),
        };
        Ok(Self { guest, session })
    }
}

pub(crate) async fn verify_email(holder: LinkHolder, Json(request): Json<VerifyEmailRequest>) -> Outcome<Message> {
    let LinkHolder { guest, session } = holder;
    let (token, password) = (LinkToken::new(request.token), request.password.map(Into::into));
    let proof = AddressProof { token: token.clone(), session, password, client: guest.client.clone() };
    guest.tenant.auth.counted(guest.tenant.verify_email(proof).await, &token, &guest.client)?;
    Ok(done("The email address is verified."))
}

#[derive(Deserialize, ToSchema)]
pub(crate) struct LinkRequest {
    token: String,
}

#[derive(Serialize, ToSchema)]
pub(crate) struct LinkPreviewData {
    link: PreviewedLink,
}

/// What a mailed link does, and for which address.
#[derive(Serialize, ToSchema)]
struct PreviewedLink {
    #[schema(value_type = String, pattern = "^(reset|verify)$")]
    purpose: &'static str,
    email: Email,
}

pub(crate) async fn preview(stranger: Stranger, Json(request): Json<LinkRequest>) -> Outcome<LinkPreviewData> {
    let (Stranger { tenant, client }, token) = (stranger, LinkToken::new(request.token));
    let LinkPreview { resets, email } = tenant.auth.counted(tenant.preview_link(&token).await, &token, &client)?;
    Ok(LinkPreviewData { link: PreviewedLink { purpose: if resets { "reset" } else { "verify" }, email } }.into())
}

pub(crate) async fn send_verification(member: Member, (): ()) -> Outcome<Message> {
    member.send_email_verification().await?;
    Ok(done("If the address is not verified yet, a mail with a link is on its way."))
}

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ChangeEmailRequest {
    new_email: Email,
    password: String,
    code: Option<String>,
}

pub(crate) async fn change_email(member: Member, Json(request): Json<ChangeEmailRequest>) -> Outcome<Message> {
    let change = NewEmail { email: request.new_email, password: request.password.into(), code: request.code };
    member.request_email_change(change).await?;
    Ok(done("A mail with a link is on its way to the new address."))
}

pub(crate) async fn confirm_email(member: Member, Json(request): Json<LinkRequest>) -> Outcome<Message> {
    let token = LinkToken::new(request.token);
    member.auth.counted(member.confirm_email_change(&token).await, &token, &member.client)?;
    Ok(done("The email address was changed. Every other session has ended."))
}
