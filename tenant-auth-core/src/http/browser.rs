//! CSRF protection and CORS: which pages may call, and which may read the answers. State-changing requests from pages of other
//! origins are refused before anything else is judged (CSRF); CORS headers name exactly the allowed origins. Backends send neither
//! `Origin` nor `Sec-Fetch-Site`.

use ::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use bytes::Bytes;

use super::{
    answered::Answered,
    body::Request,
    context::Context,
    presented::is_cross_site,
    refusal::{Refusal, method_list},
};
use crate::{config::Config, model::Organization};

/// The headers that a page may send. `X-API-Key` is not among them, because an API key must never be in a browser.
const ALLOWED_HEADERS: &str = "authorization, content-type, x-org-slug";
const EXPOSED_HEADERS: &str = "x-request-id, retry-after";

/// CSRF protection: refuses a state-changing request from a page of an origin that neither the deployment nor the organization
/// allows. Where no organization is named, the deployment's alone.
pub(crate) fn check_origin(context: &Context, org: Option<&Organization>) -> Result<(), Refusal> {
    let safe = matches!(*context.method(), Method::GET | Method::HEAD | Method::OPTIONS);
    match context.single_header("origin") {
        Ok(Some(origin))
            if is_deployments(context.auth.config(), origin)
                || org.is_some_and(|org| !is_operators(context.route()) && is_organizations(org, origin)) =>
        {
            context.allow_origin();
            Ok(())
        }
        Ok(Some(_)) | Err(_) if !safe => Err(Refusal::forbidden_origin()),
        Ok(None) if !safe && is_cross_site(context.headers()) => Err(Refusal::forbidden_origin()),
        _ => Ok(()),
    }
}

/// Whether the deployment allows this origin: the public URL's, or one that the operator's settings name.
pub(super) fn is_deployments(config: &Config, origin: &str) -> bool {
    config.allows_origin(origin)
}

/// Whether the organization allows this origin: its application's, or one of its allowed origins.
pub(super) fn is_organizations(org: &Organization, origin: &str) -> bool {
    org.allows_origin(origin)
}

/// Adds the CORS headers that let an allowed page read the answer. `path` is the route's template, or empty.
pub(crate) fn cors(mut answered: Answered, context: &Context, path: &str) -> Answered {
    if let Ok(Some(origin)) = context.single_header("origin")
        && (context.origin_allowed() || (!is_public(path) && is_deployments(context.auth.config(), origin)))
    {
        let_read(&mut answered.headers, origin);
    }
    answered
}

/// The page that a request comes from, kept for an answer that is given without looking at the request: where too many are in flight,
/// and in the place of a handler that panicked. Which organization's page it may be is not known there.
pub(super) struct Page(Option<HeaderValue>);

impl Page {
    /// Kept unless it asks what is for backends only. `base` is the path below which the routes lie.
    pub(super) fn of(request: &Request, base: &str) -> Self {
        let is_for_backends = || request.uri().path().strip_prefix(base).is_some_and(is_public);
        let mut origins = request.headers().get_all(header::ORIGIN).iter();
        match (origins.next(), origins.next()) {
            (Some(origin), None) if !is_for_backends() => Self(Some(origin.clone())),
            _ => Self(None),
        }
    }

    /// Adds the CORS headers that let it read the answer, where it is the deployment's.
    pub(super) fn reads(&self, mut answered: Answered, config: &Config) -> Answered {
        let origin = self.0.as_ref().and_then(|origin| origin.to_str().ok());
        if let Some(origin) = origin.filter(|origin| is_deployments(config, origin)) {
            let_read(&mut answered.headers, origin);
        }
        answered
    }
}

fn let_read(headers: &mut HeaderMap, origin: &str) {
    grant(headers, origin);
    headers.insert(header::ACCESS_CONTROL_EXPOSE_HEADERS, HeaderValue::from_static(EXPOSED_HEADERS));
}

fn grant(headers: &mut HeaderMap, origin: &str) {
    if let Ok(origin) = HeaderValue::from_str(origin) {
        headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin);
        headers.insert(header::ACCESS_CONTROL_ALLOW_CREDENTIALS, HeaderValue::from_static("true"));
    }
}

/// Whether the request is a CORS preflight (Fetch standard, CORS-preflight request).
pub(crate) fn is_preflight(context: &Context) -> bool {
    *context.method() == Method::OPTIONS
        && context.headers().contains_key("origin")
        && context.headers().contains_key("access-control-request-method")
}

/// Answers a CORS preflight. A preflight names no organization, so the origins of every active organization pass; the request that
/// follows is judged by its own organization.
pub(crate) async fn preflight(context: &Context, path: &str, methods: &[Method]) -> Answered {
    let mut answered =
        Answered { status: StatusCode::NO_CONTENT, headers: HeaderMap::new(), body: Bytes::new().into(), cause: None };
    let Ok(Some(origin)) = context.single_header("origin") else { return answered };
    let allowed = if is_deployments(context.auth.config(), origin) {
        Ok(!is_public(path))
    } else if is_public(path) || is_operators(path) || is_sign_up(path) {
        Ok(false)
    } else {
        any_organization_allows(context, origin).await
    };
    match allowed {
        Ok(true) => {
            grant(&mut answered.headers, origin);
            if let Ok(methods) = HeaderValue::from_str(&method_list(methods)) {
                answered.headers.insert(header::ACCESS_CONTROL_ALLOW_METHODS, methods);
            }
            answered.headers.insert(header::ACCESS_CONTROL_ALLOW_HEADERS, HeaderValue::from_static(ALLOWED_HEADERS));
            answered.headers.insert(header::ACCESS_CONTROL_MAX_AGE, HeaderValue::from_static("600"));
            answered
        }
        Ok(false) => answered,
        Err(error) => Refusal::from(error).into_answered(),
    }
}

async fn any_organization_allows(context: &Context, origin: &str) -> Result<bool, crate::Error> {
    context.auth.store().read().await?.organizations().any_active_allows(origin).await
}

/// Whether the path is for operators of the deployment. The org_admins of the operators' organization are no operators: the origins
/// that they allow must not act with an operator's cookies.
fn is_operators(path: &str) -> bool {
    path.starts_with("/admin/")
}

/// Whether the path is of sign-up, where no organization is named whose origins could count.
fn is_sign_up(path: &str) -> bool {
    path.starts_with("/auth/sign-up")
}

/// Whether the path is for backends only; no page may read its answers.
fn is_public(path: &str) -> bool {
    path.starts_with("/public/")
}
