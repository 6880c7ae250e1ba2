//! Caller extraction: how each kind of caller is authenticated from a request. The order of the checks is the order of these calls:
//! a member's session is read only after slug and origin.

use std::sync::Arc;

use ::http::HeaderValue;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::{
    account::{Opened, RefreshQuery, SessionToEnd, WaitingLogin},
    caller::{Client, Member, Tenant},
    error::Error,
    http::{
        browser,
        context::Context,
        documents::Documents,
        error_code::ErrorCode,
        input::read_in_advance,
        openapi::{ANYBODY, CallerFacts, Cookies, Credential, OrgSlug},
        refusal::Refusal,
        route::Caller,
        session_cookies,
    },
    token::{PartialToken, Tokens},
    value::Slug,
};

/// A caller without a session who is about to get one: a login, a refresh, or the acceptance of an invite.
pub(crate) struct Guest {
    pub(crate) tenant: Tenant,
    pub(crate) client: Client,
    tokens_in_body: bool,
}

/// Tokens in a body, for those who may have them there.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct BodyTokens {
    #[schema(required = false)]
    access_token: String,
    #[schema(required = false)]
    refresh_token: String,
}

/// The refusals of [`Tenant::identify`].
pub(super) const TENANT: &[ErrorCode] =
    &[ErrorCode::InvalidSlug, ErrorCode::UnknownOrganization, ErrorCode::ForbiddenOrigin, ErrorCode::InvalidRequest];
/// The refusals of [`Member::identify`] beyond those of [`Tenant::identify`].
pub(super) const SESSION: &[ErrorCode] = &[ErrorCode::SessionRequired, ErrorCode::WrongOrganization, ErrorCode::Suspended];

impl Caller for Tenant {
    const FACTS: CallerFacts = ANYBODY;
    const MAY: &'static [&'static [ErrorCode]] = &[TENANT];
    async fn identify(context: &Context) -> Result<Self, Refusal> {
        let slug = context.slug()?;
        admitted(context, &slug, context.auth.tenant(&slug).await?)
    }
}

/// The organization that a request names, once the request may speak of it.
fn admitted(context: &Context, slug: &Slug, tenant: Tenant) -> Result<Tenant, Refusal> {
    context.traced.in_organization(slug);
    browser::check_origin(context, Some(tenant.organization()))?;
    context.single_authorization()?;
    Ok(tenant)
}

/// A caller without a session who asks for a mail or shows a mailed link, which are counted by the client.
pub(crate) struct Stranger {
    pub(crate) tenant: Tenant,
    pub(crate) client: Client,
}

impl Caller for Stranger {
    const FACTS: CallerFacts = CallerFacts { seen_from: true, ..ANYBODY };
    const MAY: &'static [&'static [ErrorCode]] = &[TENANT];
    async fn identify(context: &Context) -> Result<Self, Refusal> {
        Self::of(context, Tenant::identify(context).await?).await
    }
}

impl Stranger {
    async fn of(context: &Context, tenant: Tenant) -> Result<Self, Refusal> {
        let client = context.client(tenant.organization()).await?;
        Ok(Self { tenant: tenant.seen_from(client.clone()), client })
    }
}

impl Caller for Guest {
    const FACTS: CallerFacts = CallerFacts { seen_from: true, cookies: Cookies::Set, ..ANYBODY };
    const MAY: &'static [&'static [ErrorCode]] = &[TENANT];
    async fn identify(context: &Context) -> Result<Self, Refusal> {
        Ok(Self::of(context, Stranger::identify(context).await?))
    }
}

impl Guest {
    fn of(context: &Context, Stranger { tenant, client }: Stranger) -> Self {
        Self { tenant, client, tokens_in_body: context.tokens_in_body() }
    }

    /// The tokens for the body; `None` for a browser.
    pub(crate) fn body_tokens(&self, tokens: &Tokens) -> Option<BodyTokens> {
        self.tokens_in_body.then(|| BodyTokens {
            access_token: tokens.access.expose().to_owned(),
            refresh_token: tokens.refresh.expose().to_owned(),
        })
    }

    /// The cookies that carry the tokens.
    pub(crate) fn cookies_with(&self, tokens: &Tokens) -> Vec<HeaderValue> {
        session_cookies::carrying(self.tenant.auth.config(), tokens, self.tenant.auth.now())
    }

    /// The cookies that carry the tokens, and the cookie that clears the partial token they were exchanged for.
    pub(crate) fn cookies_completing(&self, tokens: &Tokens) -> Vec<HeaderValue> {
        let mut cookies = self.cookies_with(tokens);
        cookies.extend(session_cookies::without_partial(self.tenant.auth.config()));
        cookies
    }

    /// The cookie that carries the partial token to the second step of the login.
    pub(crate) fn cookies_waiting(&self, partial: &PartialToken) -> Vec<HeaderValue> {
        session_cookies::waiting(self.tenant.auth.config(), partial, self.tenant.auth.now())
    }
}

/// The caller of a refresh: a refresh token, which the handler judges. It is looked at in advance, so that one statement finds both
/// organization and session.
pub(crate) struct RefreshCaller {
    pub(crate) guest: Guest,
    pub(crate) token: RefreshQuery,
}

impl Caller for RefreshCaller {
    const FACTS: CallerFacts = CallerFacts {
        who: "whoever holds a refresh token, as the cookie or, without one, in the body",
        credential: Credential::RefreshOrBody,
        ..Guest::FACTS
    };
    const MAY: &'static [&'static [ErrorCode]] = &[TENANT, &[ErrorCode::SessionRequired]];
    async fn identify(context: &Context) -> Result<Self, Refusal> {
        let (slug, token) = (context.slug()?, refresh_token(context));
        let (tenant, seen) = context.auth.tenant_of_refresh(&slug, token.as_deref().unwrap_or_default()).await?;
        let guest = Guest::of(context, Stranger::of(context, admitted(context, &slug, tenant)?).await?);
        Ok(Self { guest, token: RefreshQuery { text: token?, seen } })
    }
}

fn refresh_token(context: &Context) -> Result<String, Refusal> {
    let cookies = context.cookies();
    match cookies.refresh(&context.cookie_style())?.filter(|token| !token.is_empty()) {
        Some(token) => Ok(token.to_owned()),
        // A browser's token is in its cookie, where no script can read it (behaviour.md, B211).
        None if context.is_browser() => Err(Error::SessionRequired.into()),
        None => Ok(refresh_token_in_body(context).ok_or(Error::SessionRequired)?),
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct TokenOfBody {
    refresh_token: Option<String>,
}

/// The token that the body of a refresh states. It is the caller's credential, so whatever is no such body is no credential, and not
/// a malformed request.
fn refresh_token_in_body(context: &Context) -> Option<String> {
    let TokenOfBody { refresh_token } = read_in_advance(context)?;
    refresh_token.filter(|token| !token.is_empty())
}

/// The caller of a login's second step: a partial token, and the pending login it belongs to.
pub(crate) struct SecondFactorCaller {
    pub(crate) guest: Guest,
    pub(crate) login: WaitingLogin,
}

impl Caller for SecondFactorCaller {
    const FACTS: CallerFacts = CallerFacts {
        who: "whoever has taken the first step of a login",
        credential: Credential::Partial,
        cookies: Cookies::Completed,
        ..Guest::FACTS
    };
    const MAY: &'static [&'static [ErrorCode]] = &[TENANT, &[ErrorCode::SessionRequired, ErrorCode::SecondFactorFailed]];
    async fn identify(context: &Context) -> Result<Self, Refusal> {
        let guest = Guest::identify(context).await?;
        let cookies = context.cookies();
        let token = cookies.partial(&context.cookie_style())?.ok_or(Error::SecondFactorFailed)?;
        let login = guest.tenant.waiting_login(token).await?;
        Ok(Self { guest, login })
    }
}

/// The caller of a logout. Without a live session the answer is 401 and still clears the cookies, unless the token belongs to
/// another organization.
pub(crate) struct LogoutCaller {
    pub(crate) session: SessionToEnd,
    pub(crate) cleared_cookies: Vec<HeaderValue>,
}

impl Caller for LogoutCaller {
    const FACTS: CallerFacts = CallerFacts {
        who: "whoever has a session",
        credential: Credential::SessionOrRefresh,
        seen_from: true,
        cookies: Cookies::Cleared,
        ..ANYBODY
    };
    const MAY: &'static [&'static [ErrorCode]] = &[TENANT, &[ErrorCode::SessionRequired, ErrorCode::WrongOrganization]];
    async fn identify(context: &Context) -> Result<Self, Refusal> {
        let tenant = Tenant::identify(context).await?;
        let client = context.client(tenant.organization()).await?;
        let tenant = tenant.seen_from(client);
        let cleared_cookies = session_cookies::cleared(context.auth.config());
        match session_to_end(context, &tenant).await {
            Ok(Some(session)) => Ok(Self { session, cleared_cookies }),
            Ok(None) => {
                // A logout whose reply was lost is tried again.
                wait_as_one_who_ended(context).await;
                Err(Refusal::from(Error::SessionRequired).with_cookies(cleared_cookies))
            }
            Err(refusal) if matches!(refusal.fact(), Some(Error::SessionRequired)) => Err(refusal.with_cookies(cleared_cookies)),
            Err(refusal) => Err(refusal),
        }
    }
}

/// Finds the session to end: the access token's, or the refresh token's where the access token is missing, expired or superseded.
/// A Bearer that this service did not sign is refused; the refresh cookie is not tried in its place.
async fn session_to_end(context: &Context, tenant: &Tenant) -> Result<Option<SessionToEnd>, Refusal> {
    let cookies = context.cookies();
    if let Some(token) = context.access_token(&cookies)? {
        if let Some(session) = tenant.session_to_end_by_access(&token).await? {
            return Ok(Some(session));
        }
        if context.bearer().is_some() && !context.auth.signer().signed_access(&token) {
            return Ok(None);
        }
    }
    match cookies.refresh(&context.cookie_style())? {
        Some(token) => Ok(tenant.session_to_end_by_refresh(token).await?),
        None => Ok(None),
    }
}

impl Caller for Member {
    const FACTS: CallerFacts =
        CallerFacts { who: "any active member", credential: Credential::Session, seen_from: true, ..ANYBODY };
    const MAY: &'static [&'static [ErrorCode]] = &[TENANT, SESSION];
    async fn identify(context: &Context) -> Result<Self, Refusal> {
        let tenant = Tenant::identify(context).await?;
        let token = context.access_token(&context.cookies())?.ok_or(Error::SessionRequired)?;
        let member = tenant.authenticate(&token).await?;
        Ok(member.seen_from(context.client(tenant.organization()).await?))
    }
}

/// A caller who asks for what may end or narrow the caller's own right. Refused for want of that right, they may have asked before
/// and lost the answer: they are told no sooner than the first request.
pub(crate) struct Ender<C>(pub(crate) C);

impl<C: Caller> Caller for Ender<C> {
    const FACTS: CallerFacts = C::FACTS;
    const MAY: &'static [&'static [ErrorCode]] = C::MAY;
    async fn identify(context: &Context) -> Result<Self, Refusal> {
        let identified = C::identify(context).await;
        if let Err(refusal) = &identified
            && matches!(refusal.fact(), Some(Error::SessionRequired | Error::AdminRequired))
        {
            wait_as_one_who_ended(context).await;
        }
        identified.map(Self)
    }
}

/// Tells a caller of an ended session no sooner than whoever ended it. One who brings no token of this service ended nothing, and
/// takes up no place meanwhile.
async fn wait_as_one_who_ended(context: &Context) {
    let (cookies, signer) = (context.cookies(), context.auth.signer());
    let access = context.access_token(&cookies).ok().flatten();
    let refresh = cookies.refresh(&context.cookie_style()).ok().flatten();
    if access.is_some_and(|token| signer.signed_access(&token)) || refresh.is_some_and(|token| signer.signed_refresh(token)) {
        context.auth.memory().acknowledge(true).await;
    }
}

/// A caller who reports leaked keys or wants to sign up: anybody, of no organization, counted by their network.
pub(crate) struct Outsider {
    pub(crate) auth: crate::TenantAuth,
    pub(crate) client: Client,
}

impl Caller for Outsider {
    const FACTS: CallerFacts = Anyone::FACTS;
    const MAY: &'static [&'static [ErrorCode]] = &[&[ErrorCode::ForbiddenOrigin, ErrorCode::InvalidRequest]];
    async fn identify(context: &Context) -> Result<Self, Refusal> {
        // A page could otherwise have its visitors report for it, each from a network of their own.
        browser::check_origin(context, None)?;
        context.single_authorization()?;
        Ok(Self { auth: context.auth.clone(), client: context.sender() })
    }
}

/// A caller who makes an organization by a mailed link, and gets a session in it.
pub(crate) struct Founder {
    pub(crate) auth: crate::TenantAuth,
    pub(crate) client: Client,
    tokens_in_body: bool,
}

impl Caller for Founder {
    const FACTS: CallerFacts = CallerFacts { who: "whoever holds the link", cookies: Cookies::Set, ..Anyone::FACTS };
    const MAY: &'static [&'static [ErrorCode]] = Outsider::MAY;
    async fn identify(context: &Context) -> Result<Self, Refusal> {
        let Outsider { auth, client } = Outsider::identify(context).await?;
        Ok(Self { auth, client, tokens_in_body: context.tokens_in_body() })
    }
}

impl Founder {
    /// The same caller in the organization that was made.
    pub(crate) fn in_organization(self, opened: &Opened) -> Guest {
        let Self { auth, client, tokens_in_body } = self;
        let tenant = Tenant { auth, org: Arc::new(opened.organization().clone()), client: client.clone() };
        Guest { tenant, client, tokens_in_body }
    }
}

/// A caller of public documents (the JWKS, the OpenAPI document), which belong to no organization.
pub(crate) struct Anyone {
    pub(crate) auth: crate::TenantAuth,
    pub(crate) documents: Documents,
}

impl Caller for Anyone {
    const FACTS: CallerFacts = CallerFacts { org_slug: OrgSlug::Ignored, ..ANYBODY };
    const MAY: &'static [&'static [ErrorCode]] = &[&[ErrorCode::InvalidRequest]];
    async fn identify(context: &Context) -> Result<Self, Refusal> {
        context.single_authorization()?;
        Ok(Self { auth: context.auth.clone(), documents: context.documents.clone() })
    }
}
