//! `/auth/2fa` and the second step of a login.

use base64::{Engine, engine::general_purpose::STANDARD};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{AskedAddress, SecondFactorCaller, auth::LoginData};
use crate::{
    account::RecoveryCodes,
    caller::Member,
    http::{
        answer::{Message, Outcome, Reply, done},
        input::Json,
    },
    time::Timestamp,
};

#[derive(Deserialize, ToSchema)]
pub(crate) struct CodeRequest {
    code: String,
}

#[derive(Deserialize, ToSchema)]
pub(crate) struct SecondStepRequest {
    code: String,
    next: Option<AskedAddress>,
}

pub(crate) async fn verify(waiting: SecondFactorCaller, Json(request): Json<SecondStepRequest>) -> Outcome<LoginData> {
    let SecondFactorCaller { guest, login } = waiting;
    let next = request.next.and_then(|next| guest.tenant.return_address(next.as_str()));
    let opened = login.verify(&request.code).await?;
    Ok(Reply::new(LoginData::of(&guest, &opened).returning_to(next)).with_cookies(guest.cookies_completing(&opened.tokens)))
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct StatusData {
    enabled: bool,
    enabled_at: Option<Timestamp>,
    recovery_codes_remaining: u32,
}

pub(crate) async fn status(member: Member, (): ()) -> Outcome<StatusData> {
    let status = member.second_factor().await?;
    Ok(StatusData {
        enabled: status.enabled_at.is_some(),
        enabled_at: status.enabled_at,
        recovery_codes_remaining: status.recovery_codes_remaining,
    }
    .into())
}

#[derive(Deserialize, ToSchema)]
pub(crate) struct PasswordRequest {
    password: String,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SetupData {
    secret: String,
    otpauth_url: String,
    qr_code: String,
}

pub(crate) async fn setup(member: Member, Json(request): Json<PasswordRequest>) -> Outcome<SetupData> {
    let setup = member.set_up_second_factor(&request.password.into()).await?;
    Ok(SetupData {
        secret: setup.secret.expose().to_owned(),
        otpauth_url: setup.otpauth_url.expose().to_owned(),
        qr_code: format!("data:image/svg+xml;base64,{}", STANDARD.encode(setup.qr_svg.expose())),
    }
    .into())
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RecoveryCodesData {
    recovery_codes: Vec<String>,
}

impl From<RecoveryCodes> for RecoveryCodesData {
    fn from(codes: RecoveryCodes) -> Self {
        Self { recovery_codes: codes.0.iter().map(|code| code.expose().to_owned()).collect() }
    }
}

pub(crate) async fn enable(member: Member, Json(request): Json<CodeRequest>) -> Outcome<RecoveryCodesData> {
    Ok(RecoveryCodesData::from(member.enable_second_factor(&request.code).await?).into())
}

#[derive(Deserialize, ToSchema)]
pub(crate) struct GuardedRequest {
    password: String,
    code: String,
}

pub(crate) async fn disable(member: Member, Json(request): Json<GuardedRequest>) -> Outcome<Message> {
    member.disable_second_factor(&request.password.into(), &request.code).await?;
    Ok(done("Two-factor authentication is off. Every other session has ended."))
}

pub(crate) async fn recovery_codes(member: Member, Json(request): Json<GuardedRequest>) -> Outcome<RecoveryCodesData> {
    Ok(RecoveryCodesData::from(member.renew_recovery_codes(&request.password.into(), &request.code).await?).into())
}
