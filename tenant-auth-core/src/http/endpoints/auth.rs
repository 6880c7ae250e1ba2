//! `/auth`: logging in, refreshing, logging out.

use serde::{Deserialize, Serialize};

use super::{BodyTokens, Guest};
use crate::{
    account::{Credentials, Login},
    error::Error,
    http::{
        answer::{Message, Outcome, Reply, done},
        input::{Json, OptionalJson},
        refusal::Refusal,
    },
    model::{Role, Status, User},
    value::Email,
};

#[derive(Deserialize)]
pub(crate) struct LoginRequest {
    email: Email,
    password: String,
}

#[derive(Serialize)]
pub(crate) struct LoginData {
    #[serde(flatten)]
    tokens: Option<BodyTokens>,
    user: User,
    membership: Standing,
}

#[derive(Serialize)]
struct Standing {
    role: Role,
    status: Status,
}

pub(crate) async fn login(guest: Guest, Json(request): Json<LoginRequest>) -> Outcome<LoginData> {
    let credentials = Credentials { email: request.email, password: request.password.into(), client: guest.client.clone() };
    let Login::Session(opened) = guest.tenant.login(credentials).await?;
    let data = LoginData {
        tokens: guest.body_tokens(&opened.tokens),
        user: opened.user().clone(),
        membership: Standing { role: opened.membership().role, status: opened.membership().status },
    };
    Ok(Reply::new(data).with_cookies(guest.cookies_with(&opened.tokens)))
}

/// Without the tokens it is an empty object: a browser has them in its cookies.
#[derive(Serialize)]
pub(crate) struct RefreshData {
    #[serde(flatten)]
    tokens: Option<BodyTokens>,
}

pub(crate) async fn refresh(mut guest: Guest, (): ()) -> Outcome<RefreshData> {
    let token = std::mem::replace(&mut guest.refresh_token, Ok(None))?.ok_or(Error::SessionRequired)?;
    let tokens = guest.tenant.refresh(&token).await?;
    let data = RefreshData { tokens: guest.body_tokens(&tokens) };
    Ok(Reply::new(data).with_cookies(guest.cookies_with(&tokens)))
}

/// Logging out takes nothing; whatever JSON object is sent is ignored.
#[derive(Default, Deserialize)]
pub(crate) struct LogoutRequest {}

/// Without a session there is nothing to end, but the cookies go all the same: except where they are another organization's.
pub(crate) async fn logout(mut guest: Guest, OptionalJson(LogoutRequest {}): OptionalJson<LogoutRequest>) -> Outcome<Message> {
    match end(&mut guest).await {
        Ok(()) => Ok(done("Logged out.").with_cookies(guest.cleared_cookies())),
        Err(refusal) if matches!(refusal.fact(), Some(Error::SessionRequired)) => {
            Err(refusal.with_cookies(guest.cleared_cookies()))
        }
        Err(refusal) => Err(refusal),
    }
}

async fn end(guest: &mut Guest) -> Result<(), Refusal> {
    let access = std::mem::replace(&mut guest.access_token, Ok(None))?;
    let refresh = std::mem::replace(&mut guest.refresh_token, Ok(None))?;
    Ok(guest.tenant.logout(access.as_deref(), refresh.as_deref()).await?)
}
