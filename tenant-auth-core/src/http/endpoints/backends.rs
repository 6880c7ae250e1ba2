//! Backend extraction: how a customer's backend is authenticated, by its API key and by the scope of the key that an operation
//! needs.

use std::marker::PhantomData;

use serde::Deserialize;

use crate::{
    backend::{Asking, key_id_of},
    caller::Backend,
    error::Error,
    http::{
        Body,
        codes::{self, Code},
        context::Context,
        openapi::{ANYBODY, CallerFacts, Credential},
        refusal::Refusal,
        route::Caller,
    },
    model::Scope,
    secret::ApiKeyText,
};

const BACKEND: &[Code] = &[codes::INVALID_SLUG, codes::INVALID_REQUEST, codes::INVALID_API_KEY, codes::MISSING_SCOPE];

/// A backend whose key has the scope `S` stands for.
pub(crate) struct BackendWith<S> {
    pub(crate) backend: Backend,
    scope: PhantomData<S>,
}

/// A scope as a type, so that a row's handler says which one it takes.
pub(crate) trait Needed: Send {
    const SCOPE: Scope;
}

/// `users:read`.
pub(crate) enum UsersRead {}
impl Needed for UsersRead {
    const SCOPE: Scope = Scope::UsersRead;
}

/// `members:read`.
pub(crate) enum MembersRead {}
impl Needed for MembersRead {
    const SCOPE: Scope = Scope::MembersRead;
}

impl<S: Needed> Caller for BackendWith<S> {
    const FACTS: CallerFacts = CallerFacts { credential: Credential::ApiKey(S::SCOPE), ..Asked::FACTS };
    const MAY: &'static [Code] = BACKEND;
    async fn identify(context: &Context) -> Result<Self, Refusal> {
        let backend = asking(context, None).await?.backend;
        backend.allows(S::SCOPE)?;
        Ok(Self { backend, scope: PhantomData })
    }
}

/// A backend that asks about a token. The token is read out of the body beforehand, so that key and session are found in one
/// statement; the body itself is judged in its turn, and refused there if it is not what it must be.
pub(crate) struct Asked(pub(crate) Asking);

#[derive(Deserialize)]
struct TokenOfBody {
    token: String,
}

impl Caller for Asked {
    const FACTS: CallerFacts =
        CallerFacts { who: "a backend with an API key", credential: Credential::ApiKey(Scope::Verify), ..ANYBODY };
    const MAY: &'static [Code] = BACKEND;
    async fn identify(context: &Context) -> Result<Self, Refusal> {
        let asked = match &context.body {
            Body::Complete(bytes) if looks_like_a_key(context) => serde_json::from_slice::<TokenOfBody>(bytes).ok(),
            Body::Complete(_) | Body::TooLarge | Body::TimedOut | Body::Broken => None,
        };
        let asking = asking(context, asked.as_ref().map(|body| body.token.as_str())).await?;
        asking.backend.allows(Scope::Verify)?;
        Ok(Self(asking))
    }
}

/// Nothing is parsed for those who bring nothing that could be a key.
fn looks_like_a_key(context: &Context) -> bool {
    context.single_header("x-api-key").ok().flatten().is_some_and(|key| key_id_of(&ApiKeyText::new(key)).is_some())
}

async fn asking(context: &Context, token: Option<&str>) -> Result<Asking, Refusal> {
    let slug = context.slug()?;
    context.single_authorization()?;
    let key = context.single_header("x-api-key").ok().flatten().ok_or(Error::InvalidApiKey)?;
    Ok(context.auth.asking(slug.as_str(), &ApiKeyText::new(key), token).await?)
}
