//! `/auth`: logging in, refreshing, logging out.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use utoipa::{
    PartialSchema, ToSchema,
    openapi::{OneOfBuilder, Ref, RefOr, Schema},
};

use super::{AskedAddress, BodyTokens, Guest, LogoutCaller, RefreshCaller};
use crate::{
    account::{Login, Opened, login::Credentials},
    error::Error,
    http::{
        answer::{Message, Outcome, Reply, done},
        input::{Json, OptionalJson, ReadInAdvance},
        refusal::Refusal,
    },
    schema,
    value::{Email, ReturnAddress},
    view::{MembershipOfLoginView, UserView},
};

#[derive(Deserialize, ToSchema)]
pub(crate) struct LoginRequest {
    email: Email,
    password: String,
    next: Option<AskedAddress>,
}

/// Either a session or the demand for a second factor.
#[derive(Serialize)]
#[serde(untagged)]
pub(crate) enum Entered<T> {
    Session(T),
    SecondFactor {
        #[serde(rename = "requires2FA")]
        requires_2fa: bool,
    },
}

/// The name of the demand in the OpenAPI document.
const SECOND_FACTOR: &str = "SecondFactorRequired";

impl<T: ToSchema> PartialSchema for Entered<T> {
    fn schema() -> RefOr<Schema> {
        OneOfBuilder::new().item(Ref::from_schema_name(T::name())).item(Ref::from_schema_name(SECOND_FACTOR)).into()
    }
}

impl<T: ToSchema> ToSchema for Entered<T> {
    fn name() -> Cow<'static, str> {
        format!("{}OrSecondFactor", T::name()).into()
    }
    fn schemas(schemas: &mut Vec<(String, RefOr<Schema>)>) {
        schemas.push((T::name().into_owned(), T::schema()));
        schemas.push((SECOND_FACTOR.to_owned(), schema::object("requires2FA", schema::flag(true)).into()));
        T::schemas(schemas);
    }
}

#[derive(Serialize, ToSchema)]
#[schema(as = LoggedIn)]
pub(crate) struct LoginData {
    #[serde(flatten)]
    #[schema(value_type = BodyTokens)]
    tokens: Option<BodyTokens>,
    user: UserView,
    membership: MembershipOfLoginView,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    next: Option<ReturnAddress>,
}

impl LoginData {
    pub(crate) fn of(guest: &Guest, opened: &Opened) -> Self {
        let tokens = guest.body_tokens(&opened.tokens);
        Self { tokens, user: opened.user().into(), membership: opened.membership().into(), next: None }
    }

    /// Tells where the person returns to.
    pub(crate) fn returning_to(self, next: Option<ReturnAddress>) -> Self {
        Self { next, ..self }
    }
}

/// The answer to a login as far as it has come.
pub(crate) fn entered<T>(guest: &Guest, login: Login, data: impl FnOnce(&Opened) -> T) -> Reply<Entered<T>> {
    match login {
        Login::Session(opened) => Reply::new(Entered::Session(data(&opened))).with_cookies(guest.cookies_with(&opened.tokens)),
        Login::SecondFactor(partial) => {
            Reply::new(Entered::SecondFactor { requires_2fa: true }).with_cookies(guest.cookies_waiting(&partial))
        }
    }
}

pub(crate) async fn login(guest: Guest, Json(request): Json<LoginRequest>) -> Outcome<Entered<LoginData>> {
    let next = request.next.and_then(|next| guest.tenant.return_address(next.as_str()));
    let credentials = Credentials { email: request.email, password: request.password.into(), client: guest.client.clone() };
    let login = guest.tenant.login(credentials).await?;
    Ok(entered(&guest, login, |opened| LoginData::of(&guest, opened).returning_to(next)))
}

/// Without the tokens it is an empty object: a browser has them in its cookies.
#[derive(Serialize, ToSchema)]
#[schema(as = Refreshed)]
pub(crate) struct RefreshData {
    #[serde(flatten)]
    #[schema(value_type = BodyTokens)]
    tokens: Option<BodyTokens>,
}

/// For callers that are no browsers and keep the token themselves.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
#[expect(dead_code, reason = "`RefreshCaller` reads it in advance, as a credential; this describes it")]
pub(crate) struct RefreshRequest {
    /// Read where no refresh cookie comes. Empty or null: absent.
    refresh_token: Option<String>,
}

type Refreshing = ReadInAdvance<RefreshRequest>;

pub(crate) async fn refresh(RefreshCaller { guest, token }: RefreshCaller, _: Refreshing) -> Outcome<RefreshData> {
    let tokens = guest.tenant.refresh_by_query(token).await?;
    let data = RefreshData { tokens: guest.body_tokens(&tokens) };
    Ok(Reply::new(data).with_cookies(guest.cookies_with(&tokens)))
}

/// Logging out takes nothing; whatever JSON object is sent is ignored.
#[derive(Default, Deserialize, ToSchema)]
pub(crate) struct LogoutRequest {}

pub(crate) async fn logout(caller: LogoutCaller, OptionalJson(LogoutRequest {}): OptionalJson<LogoutRequest>) -> Outcome<Message> {
    match caller.session.logout().await {
        Ok(()) => Ok(done("Logged out.").with_cookies(caller.cleared_cookies)),
        Err(Error::SessionRequired) => Err(Refusal::from(Error::SessionRequired).with_cookies(caller.cleared_cookies)),
        Err(error) => Err(error.into()),
    }
}
