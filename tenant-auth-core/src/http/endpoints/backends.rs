//! Backend extraction: how a customer's backend is authenticated, by its API key or a deployment key, and by the scope of the key that an operation
//! needs.

use serde::Deserialize;

use crate::{
    backend::{AskedAbout, PresentedKey, TokenQuery},
    caller::{Backend, DeploymentBackend},
    error::Error,
    http::{
        Body,
        context::Context,
        error_code::ErrorCode,
        openapi::{ANYBODY, CallerFacts, Credential, OrgSlug},
        refusal::Refusal,
        route::Caller,
    },
    model::Scope,
    scope::{Granted, Verify},
    secret::ApiKeyText,
    value::Slug,
};

const BACKEND: &[ErrorCode] = &[
    ErrorCode::InvalidSlug,
    ErrorCode::ForbiddenOrigin,
    ErrorCode::InvalidRequest,
    ErrorCode::InvalidApiKey,
    ErrorCode::UnknownOrganization,
    ErrorCode::MissingScope,
    ErrorCode::RateLimited,
];

impl<S: Granted> Caller for Backend<S> {
    const FACTS: CallerFacts = CallerFacts { credential: Credential::ApiKey(S::SCOPE), ..VerifyCaller::FACTS };
    const MAY: &'static [&'static [ErrorCode]] = &[BACKEND, &[ErrorCode::Suspended]];
    async fn identify(context: &Context) -> Result<Self, Refusal> {
        let (slug, key) = presented(context)?;
        let backend = context.counted(context.auth.holder_of(&slug, &key).await, key.text())?;
        context.traced.in_organization(&slug);
        Ok(backend.having()?)
    }
}

/// The caller of `POST /public/verify`: a backend that asks about a token. The token is read from the body in advance, so that one
/// statement finds both key and session. The handler parses the body again and judges it, after the key was judged.
pub(crate) struct VerifyCaller(pub(crate) TokenQuery);

#[derive(Deserialize)]
struct TokenOfBody {
    token: String,
    after: Option<String>,
}

impl Caller for VerifyCaller {
    const FACTS: CallerFacts = CallerFacts {
        who: "a backend with an API key of the organization or a deployment key",
        credential: Credential::ApiKey(Scope::Verify),
        ..ANYBODY
    };
    const MAY: &'static [&'static [ErrorCode]] = &[BACKEND];
    async fn identify(context: &Context) -> Result<Self, Refusal> {
        let (slug, key) = presented(context)?;
        let read = || match context.body() {
            Body::Complete(bytes) => serde_json::from_slice::<TokenOfBody>(&bytes).ok().map(asked_about),
            Body::TooLarge | Body::TimedOut | Body::Broken => None,
        };
        let query = context.counted(context.auth.token_query(&slug, &key, read).await, key.text())?;
        context.traced.in_organization(&slug);
        Ok(Self(query))
    }
}

fn asked_about(TokenOfBody { token, after }: TokenOfBody) -> AskedAbout {
    AskedAbout { token, is_after: after.is_some() }
}

/// The caller of `GET /public/events`, and of `GET /public/changes` about one organization: a backend whose question may wait. From here
/// on the request holds no place in flight.
pub(crate) struct PollCaller<S>(pub(crate) Backend<S>);

impl<S: Granted> Caller for PollCaller<S> {
    const FACTS: CallerFacts = Backend::<S>::FACTS;
    const MAY: &'static [&'static [ErrorCode]] = if S::WHILE_SUSPENDED { &[BACKEND] } else { Backend::<S>::MAY };
    async fn identify(context: &Context) -> Result<Self, Refusal> {
        let (slug, key) = presented(context)?;
        let backend = context.counted(context.auth.holder_of(&slug, &key).await, key.text())?;
        context.traced.in_organization(&slug);
        let backend = backend.having()?;
        context.leave_flight();
        Ok(Self(backend))
    }
}

/// The caller of `GET /public/changes`: a backend that asks about its organization or, with a deployment key and no slug at all, about
/// every organization.
pub(crate) enum ChangesCaller {
    OfOne(Backend<Verify>),
    OfAll(DeploymentBackend),
}

impl Caller for ChangesCaller {
    const FACTS: CallerFacts = CallerFacts { org_slug: OrgSlug::OfOneOrganization, ..PollCaller::<Verify>::FACTS };
    const MAY: &'static [&'static [ErrorCode]] = PollCaller::<Verify>::MAY;
    async fn identify(context: &Context) -> Result<Self, Refusal> {
        if context.headers().contains_key("x-org-slug") {
            return Ok(Self::OfOne(PollCaller::identify(context).await?.0));
        }
        let key = context.deployment_key()?.ok_or_else(Refusal::invalid_slug)?;
        let backend = context.auth.backend_of_all_organizations(&key, context.sender_address()).await;
        let backend = context.counted(backend, &key)?;
        context.leave_flight();
        Ok(Self::OfAll(backend))
    }
}

/// The organization's slug and the API key of a request. A text that cannot be a key is refused here, without the database.
fn presented(context: &Context) -> Result<(Slug, PresentedKey), Refusal> {
    let slug = context.slug()?;
    let shown = context.single_header("x-api-key").ok().flatten();
    let is_of_deployment = shown.is_some_and(PresentedKey::is_of_deployment);
    if is_of_deployment {
        context.comes_from_no_browser()?;
    }
    context.single_authorization()?;
    let text = shown.map(ApiKeyText::new).ok_or(Error::InvalidApiKey)?;
    let key =
        if is_of_deployment { PresentedKey::of_deployment(&text, context.sender_address()) } else { PresentedKey::parse(&text) };
    let key = context.counted(key.ok_or(Error::InvalidApiKey), &text)?;
    Ok((slug, key))
}
