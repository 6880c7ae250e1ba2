//! The context of a request while it is judged: its parts, and what has been found out about it so far.

use std::{
    net::IpAddr,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
};

use ::http::{HeaderMap, HeaderValue, Method, request::Parts};
use bytes::Bytes;

use super::{
    Body, Request, client_ip,
    cookies::{self, CookieStyle, SessionCookies},
    documents::Documents,
    presented::{self, AmbiguousHeader},
    refusal::Refusal,
    request_span::RequestSpan,
};
use crate::{
    backend::PresentedKey,
    budget::Permit,
    caller::Client,
    config::TokensInBody,
    error::Error,
    model::{Organization, Scope},
    secret::ApiKeyText,
    service::TenantAuth,
    value::Slug,
};

/// One request on its way through routing, caller, input and handler.
pub(crate) struct Context {
    pub(crate) auth: TenantAuth,
    pub(crate) documents: Documents,
    pub(crate) traced: RequestSpan,
    parts: Parts,
    body: Mutex<Body>,
    /// The request's place among those in flight.
    place: Mutex<Option<Permit>>,
    peer: Option<IpAddr>,
    /// The template of the route's path; empty until a route is found.
    route: &'static str,
    params: Vec<String>,
    /// Whether the page that sent the request may read the answer (CORS).
    origin_allowed: AtomicBool,
}

impl Context {
    pub(crate) fn new(
        auth: &TenantAuth,
        documents: &Documents,
        request: Request,
        peer: Option<IpAddr>,
        traced: RequestSpan,
    ) -> Self {
        let (parts, body) = request.into_parts();
        Self {
            auth: auth.clone(),
            body: Mutex::new(body),
            place: Mutex::default(),
            documents: documents.clone(),
            traced,
            parts,
            peer,
            route: "",
            params: Vec::new(),
            origin_allowed: AtomicBool::new(false),
        }
    }

    /// Keeps the request's place in flight until the request has ended.
    pub(crate) fn holding(self, place: Permit) -> Self {
        Self { place: Mutex::new(Some(place)), ..self }
    }

    /// Sets the route: the template of its path, and the decoded parameters in order.
    pub(crate) fn on_route(mut self, route: &'static str, params: Vec<String>) -> Self {
        self.route = route;
        self.params = params;
        self
    }

    /// The body, as long as it was not read.
    pub(crate) fn body(&self) -> Body {
        self.body.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Frees the body's memory once it was read: what follows may wait for seconds.
    pub(crate) fn free_body(&self) {
        *self.body.lock().unwrap_or_else(PoisonError::into_inner) = Body::Complete(Bytes::new());
    }

    /// Gives the request's place in flight back: from now on it only waits, and is counted among those who do.
    pub(crate) fn leave_flight(&self) {
        drop(self.place.lock().unwrap_or_else(PoisonError::into_inner).take());
    }

    /// The template of the route's path; empty where there is none.
    pub(crate) fn route(&self) -> &'static str {
        self.route
    }

    pub(crate) fn method(&self) -> &Method {
        &self.parts.method
    }

    pub(crate) fn path(&self) -> &str {
        self.parts.uri.path()
    }

    pub(crate) fn query(&self) -> &str {
        self.parts.uri.query().unwrap_or_default()
    }

    pub(crate) fn headers(&self) -> &HeaderMap {
        &self.parts.headers
    }

    /// The path's parameter at `index`, decoded.
    pub(crate) fn param(&self, index: usize) -> &str {
        self.params.get(index).map_or("", String::as_str)
    }

    /// The only value of a header; `None` when it is absent, an error when it is sent twice or is no text.
    pub(crate) fn single_header(&self, name: &str) -> Result<Option<&str>, AmbiguousHeader> {
        presented::single(self.headers(), name)
    }

    /// The organization's slug, from `X-Org-Slug`. It must be sent once and exactly: it is never lower-cased or given a default.
    pub(crate) fn slug(&self) -> Result<Slug, Refusal> {
        let text = self.single_header("x-org-slug").ok().flatten().ok_or_else(Refusal::invalid_slug)?;
        Slug::parse(text).map_err(|_| Refusal::invalid_slug())
    }

    /// Refuses two `Authorization` headers; see [`presented::single_authorization`].
    pub(crate) fn single_authorization(&self) -> Result<(), Refusal> {
        presented::single_authorization(self.headers())
    }

    /// The token of a Bearer, if there is one; see [`presented::bearer`].
    pub(crate) fn bearer(&self) -> Option<&str> {
        presented::bearer(self.headers())
    }

    /// The access token: a Bearer's when there is one, else the cookie's.
    pub(crate) fn access_token(&self, cookies: &SessionCookies) -> Result<Option<String>, Refusal> {
        match self.bearer() {
            Some(token) => Ok(Some(token.to_owned())),
            None => Ok(cookies.access(&self.cookie_style())?.map(str::to_owned)),
        }
    }

    /// The attributes of this deployment's cookies.
    pub(crate) fn cookie_style(&self) -> CookieStyle {
        CookieStyle::of(self.auth.config())
    }

    pub(crate) fn cookies(&self) -> SessionCookies {
        cookies::read(self.headers())
    }

    /// The client of the request. A backend-for-frontend that forwards `/auth/*` states the person's address in `X-Client-IP`. The
    /// header is believed only beside a live key of the organization with the scope `proxy` (behaviour.md, B87), because anybody
    /// else could evade the rate limiter with it.
    pub(crate) async fn client(&self, org: &Organization) -> Result<Client, Error> {
        let stated = match (self.single_header("x-client-ip"), self.single_header("x-api-key")) {
            (Ok(Some(ip)), Ok(Some(key))) if self.is_auth() => match (ip.parse().ok(), self.is_proxy(&org.slug, key).await?) {
                (Some(ip), true) => Some(ip),
                _ => None,
            },
            _ => None,
        };
        Ok(match stated {
            Some(ip) => Client { stated_by: Some(org.id.clone()), ..self.client_at(Some(ip)) },
            None => self.sender(),
        })
    }

    /// The client that sent the request, whatever address it states for another.
    pub(crate) fn sender(&self) -> Client {
        self.client_at(self.sender_address())
    }

    /// That client's address.
    pub(crate) fn sender_address(&self) -> Option<IpAddr> {
        client_ip::of(&self.auth.config().network.trusted_proxies, self.peer, self.headers())
    }

    /// Whether the request carries a token of a session, good or not.
    pub(crate) fn shows_token(&self) -> bool {
        self.bearer().is_some() || self.cookies().show_token()
    }

    /// Whether the request shows a deployment key, good or not.
    pub(crate) fn shows_deployment_key(&self) -> bool {
        let is_deployments = |value: &HeaderValue| value.to_str().is_ok_and(PresentedKey::is_of_deployment);
        self.headers().get_all("x-api-key").iter().any(is_deployments)
    }

    /// The deployment key that the request shows, good or not; `None` when it shows none. It is judged in its turn.
    ///
    /// # Errors
    /// See [`Context::comes_from_no_browser`]; 401 `invalid_api_key` for one beside another key.
    pub(crate) fn deployment_key(&self) -> Result<Option<ApiKeyText>, Refusal> {
        if !self.shows_deployment_key() {
            return Ok(None);
        }
        self.comes_from_no_browser()?;
        self.single_authorization()?;
        let key = self.single_header("x-api-key").ok().flatten().ok_or(Error::InvalidApiKey)?;
        Ok(Some(ApiKeyText::new(key)))
    }

    /// Refuses a deployment key in a browser, where any page's scripts could use it, and beside the address of somebody for whom a
    /// request is forwarded: that request is somebody else's.
    pub(crate) fn comes_from_no_browser(&self) -> Result<(), Refusal> {
        if self.is_browser() || self.headers().contains_key("x-client-ip") {
            return Err(Refusal::deployment_key_of_another());
        }
        Ok(())
    }

    /// Counts a refused key as a guess of the sender, unless this service made the key.
    ///
    /// # Errors
    /// [`Error::RateLimited`] beyond the limit of guesses; otherwise the outcome's.
    pub(crate) fn counted<T>(&self, outcome: Result<T, Error>, key: &ApiKeyText) -> Result<T, Error> {
        outcome.or_else(|refusal| self.auth.counted(Err(refusal), key, &self.sender()))
    }

    async fn is_proxy(&self, slug: &Slug, key: &str) -> Result<bool, Error> {
        let key = ApiKeyText::new(key);
        match self.counted(self.auth.backend(slug, &key).await, &key) {
            Ok(backend) => Ok(backend.allows(Scope::Proxy).is_ok()),
            Err(Error::InvalidApiKey) => Ok(false),
            Err(error) => Err(error),
        }
    }

    fn is_auth(&self) -> bool {
        self.path().strip_prefix(&self.auth.config().base_path()).is_some_and(|path| path.starts_with("/auth/"))
    }

    fn client_at(&self, ip: Option<IpAddr>) -> Client {
        Client {
            ip,
            stated_by: None,
            user_agent: self.headers().get("user-agent").and_then(|value| str::from_utf8(value.as_bytes()).ok()).map(str::to_owned),
            language: self.headers().get("accept-language").and_then(|value| self.auth.config().language(value)),
        }
    }

    /// Whether a browser sent the request: only browsers send `Origin` or `Sec-Fetch-Site`.
    pub(crate) fn is_browser(&self) -> bool {
        self.headers().contains_key("origin") || self.headers().contains_key("sec-fetch-site")
    }

    /// Whether tokens may stand in the response body. Not for browsers, where a page's scripts could read them (XSS), unless the
    /// operator's settings allow it.
    pub(crate) fn tokens_in_body(&self) -> bool {
        match self.auth.config().browser.tokens_in_body {
            TokensInBody::Always => true,
            TokensInBody::NonBrowser => !self.is_browser(),
        }
    }

    pub(crate) fn allow_origin(&self) {
        self.origin_allowed.store(true, Ordering::Relaxed);
    }

    pub(crate) fn origin_allowed(&self) -> bool {
        self.origin_allowed.load(Ordering::Relaxed)
    }
}
