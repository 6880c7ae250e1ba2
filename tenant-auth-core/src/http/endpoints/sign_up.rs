//! `/auth/sign-up`: making an organization of one's own.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{Founder, Outsider, auth::LoginData};
use crate::{
    http::{
        answer::{Message, Outcome, Reply, done},
        input::Json,
        refusal::Refusal,
    },
    org::SignUpCompletion,
    secret::LinkToken,
    value::{DisplayName, Email, Slug},
};

#[derive(Deserialize, ToSchema)]
pub(crate) struct SignUpRequest {
    email: Email,
}

pub(crate) async fn request(outsider: Outsider, Json(request): Json<SignUpRequest>) -> Outcome<Message> {
    outsider.auth.request_sign_up(&request.email, &outsider.client).await?;
    Ok(done("A mail with a link is on its way."))
}

#[derive(Deserialize, ToSchema)]
pub(crate) struct PreviewSignUpRequest {
    token: String,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SignUpPreviewData {
    email: Email,
    account_exists: bool,
}

pub(crate) async fn preview(outsider: Outsider, Json(request): Json<PreviewSignUpRequest>) -> Outcome<SignUpPreviewData> {
    let (Outsider { auth, client }, token) = (outsider, LinkToken::new(request.token));
    let preview = auth.counted(auth.preview_sign_up(&token).await, &token, &client)?;
    Ok(SignUpPreviewData { email: preview.email, account_exists: preview.account_exists }.into())
}

#[derive(Deserialize, ToSchema)]
pub(crate) struct CompleteSignUpRequest {
    token: String,
    organization: SignedUpOrgRequest,
    name: Option<DisplayName>,
    /// A new account's, or that of the account that there is.
    password: Option<String>,
    code: Option<String>,
}

#[derive(Deserialize, ToSchema)]
pub(crate) struct SignedUpOrgRequest {
    name: DisplayName,
    slug: Slug,
}

pub(crate) async fn complete(founder: Founder, Json(request): Json<CompleteSignUpRequest>) -> Outcome<LoginData> {
    let token = LinkToken::new(request.token);
    let sign_up = SignUpCompletion {
        token: token.clone(),
        organization: request.organization.name,
        slug: request.organization.slug,
        name: request.name,
        password: request.password.map(Into::into),
        code: request.code,
    };
    let opened = founder.auth.complete_sign_up(sign_up, founder.client.clone()).await;
    let opened = founder.auth.counted(opened, &token, &founder.client).map_err(Refusal::of_sign_up)?;
    let guest = founder.in_organization(&opened);
    Ok(Reply::new(LoginData::of(&guest, &opened)).with_cookies(guest.cookies_with(&opened.tokens)))
}
