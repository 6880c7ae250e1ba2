//! The visitor: one request to a host's route, with its session and the cookies that must leave with its answer. An adapter puts a
//! [`Visitor`] beside the request on its way in, lets it depart and settles it on the way out; every middleware and handler between can ask it who
//! the caller is, and the tokens are verified once.

use std::{
    future::Future,
    net::IpAddr,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use ::http::{HeaderMap, HeaderName, HeaderValue, Request, header};
use tracing::Instrument;

use super::{Gate, Refused, in_process, sign_in};
use crate::{
    deadline,
    error::Error,
    http::{client_ip, cookies, refusal::Refusal},
    principal::Principal,
    secret::SignedToken,
    value::Slug,
};

/// One request to a host's route, and what the gate has found out about its session. Cheap to clone; clones share their findings.
#[derive(Clone, Debug)]
pub struct Visitor {
    gate: Gate,
    request: Arc<Request<()>>,
    peer: Option<IpAddr>,
    found: Arc<Mutex<Found>>,
}

#[derive(Debug, Default)]
struct Found {
    principal: Option<Principal>,
    renewed: Option<SignedToken>,
    owed: Option<Owed>,
    cookies: Vec<HeaderValue>,
}

/// A refresh that is carried out when the answer leaves.
#[derive(Debug)]
struct Owed {
    gate: Gate,
    org: Slug,
    refresh_token: SignedToken,
    is_paid: bool,
}

impl Owed {
    fn paid(mut self) {
        self.is_paid = true;
    }
}

/// The request was given up, or its refresh got no clear answer.
impl Drop for Owed {
    fn drop(&mut self) {
        if !self.is_paid {
            self.gate.parts.verifier.given_up(&self.refresh_token);
        }
    }
}

/// A type that a visitor can be admitted as. A host can add its own rights on top of the shipped ones:
///
/// ```
/// use tenant_auth_core::{Principal, http::{Admission, Refused, Visitor}};
///
/// /// Somebody whose membership says `"billing": true`.
/// struct Accountant(Principal);
///
/// #[derive(Default, serde::Deserialize)]
/// struct Rights {
///     #[serde(default)]
///     billing: bool,
/// }
///
/// impl Admission for Accountant {
///     async fn admit(visitor: &Visitor) -> Result<Self, Refused> {
///         let principal = Principal::admit(visitor).await?;
///         let rights: Rights = serde_json::from_str(principal.membership.metadata.as_json()).unwrap_or_default();
///         let refusal = || Refused::new(http::StatusCode::FORBIDDEN, "accountant_required", "Ask an admin for the right to bill.");
///         if rights.billing { Ok(Self(principal)) } else { Err(refusal()) }
///     }
/// }
/// ```
///
/// `Option<C>` is a right too, for pages that show more to those who are logged in: `None` is somebody whom `C` would answer with 401.
/// Whatever else `C` refuses (403, 503 …) stays a refusal.
pub trait Admission: Sized + Send + 'static {
    /// Admits the visitor, or refuses.
    fn admit(visitor: &Visitor) -> impl Future<Output = Result<Self, Refused>> + Send;
}

impl Visitor {
    pub(super) fn new(gate: Gate, mut request: Request<()>, peer: Option<IpAddr>) -> Self {
        // Hosts log their visitors; the credentials must not be in that log.
        for (name, value) in request.headers_mut().iter_mut() {
            if [header::COOKIE, header::AUTHORIZATION].contains(name) || name == "x-api-key" {
                value.set_sensitive(true);
            }
        }
        Self { gate, request: Arc::new(request), peer, found: Arc::default() }
    }

    /// Admits the visitor as a `C`.
    ///
    /// The admission runs as a task of its own, so that a client that disconnects cannot stop a refresh half-way: on the runtime of the
    /// service where that is in this process, and else on the one that the gate was made on. The task keeps the caller's span. All its waits together end after 30 seconds, and where too many
    /// requests are in flight at the service it is refused before it begins.
    ///
    /// # Errors
    /// [`Refused`], which converts to an answer.
    pub async fn admit<C: Admission>(&self) -> Result<C, Refused> {
        let (visitor, place) = (self.clone(), self.place());
        let admitting = async move {
            let _place = place?;
            deadline::of_request(C::admit(&visitor)).await
        };
        let admitting = admitting.in_current_span();
        let admitted = match &self.gate.parts.runtime {
            Some(runtime) => runtime.spawn(admitting).await.unwrap_or_else(|panic| Err(Error::internal(panic).into())),
            None => admitting.await,
        };
        admitted.map_err(|mut refused| {
            self.leave_with(&mut refused);
            // Who was admitted is signed in: whatever else is refused, signing in does not help.
            let is_nobody = self.known().is_none();
            let sign_in = is_nobody.then(|| sign_in::of(&self.gate.parts, &self.request, &refused)).flatten();
            refused.answered_by(self.gate.parts.mapper.clone()).or_sent_to(sign_in)
        })
    }

    /// The request: method, full URI and headers.
    pub fn request(&self) -> &Request<()> {
        &self.request
    }

    /// The client's address: the socket's, or the one that a trusted proxy states.
    pub fn client_ip(&self) -> Option<IpAddr> {
        client_ip::of(&self.gate.parts.trusted_proxies, self.peer, self.request.headers())
    }

    /// Carries out the refresh that an admission foresaw, now that the answer leaves; for adapters, before [`Visitor::settle`]. It runs as
    /// a task of its own, as [`Visitor::admit`] does. Where it gets no clear answer the browser keeps the token it has, which is good.
    pub async fn depart(&self) {
        let Some(owed) = self.found().owed.take() else { return };
        let visitor = self.clone();
        let Ok(place) = self.place() else { return };
        let refreshing = async move {
            let _place = place;
            let verifier = &visitor.gate.parts.verifier;
            let refreshed = deadline::of_request(verifier.refresh_foreseen(&owed.org, &owed.refresh_token)).await;
            if matches!(refreshed, Ok(_) | Err(Error::SessionRequired)) {
                owed.paid();
            }
            match refreshed {
                Ok(Some(renewed)) => visitor.leave(renewed.cookies, Some(renewed.access_token)),
                Ok(None) => {}
                Err(Error::SessionRequired) => visitor.leave(cookies::forgotten(&verifier.cookie_style()), None),
                Err(error) => tracing::debug!(error = %error.causes(), "a session is not refreshed with this answer"),
            }
        };
        let refreshing = refreshing.in_current_span();
        match &self.gate.parts.runtime {
            Some(runtime) => drop(runtime.spawn(refreshing).await),
            None => refreshing.await,
        }
    }

    /// A place among the requests in flight of the service, where that runs in this process.
    fn place(&self) -> Result<in_process::Place, Error> {
        in_process::place(&*self.gate.parts.verifier, || self.client_ip())
    }

    /// Notes that the session is to be refreshed when the answer leaves.
    pub(super) fn owe(&self, org: &Slug, refresh_token: &SignedToken) {
        let owed = || Owed { gate: self.gate.clone(), org: org.clone(), refresh_token: refresh_token.clone(), is_paid: false };
        self.found().owed.get_or_insert_with(owed);
    }

    /// Whether a refresh was owed. It is owed no more.
    pub(super) fn pays(&self) -> bool {
        let owed = self.found().owed.take();
        owed.map(Owed::paid).is_some()
    }

    /// Adds the session's cookies to the headers of the answer. Cookies that the host's own code sets come last, so that they win.
    pub fn settle(&self, headers: &mut HeaderMap) {
        let cookies = std::mem::take(&mut self.found().cookies);
        if cookies.is_empty() {
            return;
        }
        let own: Vec<HeaderValue> = headers.get_all(header::SET_COOKIE).iter().cloned().collect();
        headers.remove(header::SET_COOKIE);
        for cookie in cookies.into_iter().chain(own) {
            headers.append(header::SET_COOKIE, cookie);
        }
        // A cache that kept this answer would hand one person's session to the next.
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
        // RFC 9213: these go before Cache-Control where they are understood.
        let targeted = |name: &&HeaderName| name.as_str() == "surrogate-control" || name.as_str().ends_with("cdn-cache-control");
        for name in headers.keys().filter(targeted).cloned().collect::<Vec<_>>() {
            headers.remove(name);
        }
    }

    /// Whether [`Visitor::settle`] has something to add.
    pub fn leaves_something(&self) -> bool {
        !self.found().cookies.is_empty()
    }

    pub(super) fn gate(&self) -> &Gate {
        &self.gate
    }

    /// Sets the cookies of a refusal, if it has any.
    pub(super) fn leave_with(&self, refused: &mut Refused) {
        let cookies = refused.take_cookies();
        if !cookies.is_empty() {
            self.leave(cookies, None);
        }
    }

    /// Sets the cookies that leave with the answer; a later call replaces an earlier one.
    pub(super) fn leave(&self, cookies: Vec<HeaderValue>, renewed: Option<SignedToken>) {
        let mut found = self.found();
        found.cookies = cookies;
        found.renewed = renewed;
    }

    /// The access token of a refresh that an earlier admission of this request made.
    pub(super) fn renewed_token(&self) -> Option<SignedToken> {
        self.found().renewed.clone()
    }

    /// The person, as far as an admission of this request has found out who that is: an active member, also one whom a further right
    /// was refused. Nothing is verified here, so a middleware can ask for its log once the routes have answered. Adapters put the
    /// visitor among the extensions of the request, and of axum's response.
    pub fn known(&self) -> Option<Principal> {
        self.found().principal.clone()
    }

    pub(super) fn remember(&self, principal: Principal) {
        self.found().principal = Some(principal);
    }

    fn found(&self) -> MutexGuard<'_, Found> {
        self.found.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl From<Refusal> for Refused {
    fn from(refusal: Refusal) -> Self {
        Self::of(refusal)
    }
}
