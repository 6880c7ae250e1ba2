//! The gate: authentication in front of a host's own routes. It reads the caller from the same headers and cookies as the service's
//! endpoints do, asks a [`Verifier`], and admits or refuses. When an access token has expired, the gate refreshes the session once,
//! and the new cookies leave with the host's answer (behaviour.md, B135). Adapters put a [`Visitor`] beside each request and ask
//! it; they decide nothing.

mod admission;
#[cfg(feature = "service")]
mod in_process;
#[cfg(not(feature = "service"))]
#[path = "not_in_process.rs"]
mod in_process;
mod organization;
mod origin;
mod refused;
#[cfg(feature = "remote")]
mod remote;
#[cfg(feature = "service")]
mod rights;
mod session;
mod sign_in;
#[cfg(feature = "testing")]
mod test_verifier;
mod verifier;
mod visitor;

use std::{fmt, net::IpAddr, sync::Arc};

use ::http::Response;
use bytes::Bytes;
use ipnet::IpNet;
use tokio::runtime::Handle;
use url::Url;

pub use organization::{OrganizationFrom, RequestReader};
pub use refused::Refused;
#[cfg(feature = "remote")]
pub use remote::{RemoteSetupError, RemoteVerifier};
#[cfg(feature = "testing")]
pub use test_verifier::TestVerifier;
pub use verifier::{Renewed, Verifier};
pub use visitor::{Admission, Visitor};

use sign_in::SignIn;

use crate::value::{Origin, Rejected, refuse_everybody};

/// What stands before a host's own routes. Cheap to clone; the methods that change it are called before it is used.
///
/// ```no_run
/// # fn example(auth: tenant_auth_core::TenantAuth) -> Result<(), Box<dyn std::error::Error>> {
/// use tenant_auth_core::http::{Gate, OrganizationFrom};
///
/// let gate = Gate::new(auth)                                             // or a `RemoteVerifier`
///     .organization(OrganizationFrom::SubdomainOf("example.com".into())) // instead of the header `X-Org-Slug`
///     .allow_origin("https://app.example.com".parse()?);                 // beside the host's own pages
/// # Ok(()) }
/// ```
#[derive(Clone, Debug)]
#[must_use]
pub struct Gate {
    parts: Arc<GateParts>,
}

/// The host's own answer to a refusal; `None` means the JSON envelope.
type Mapper = Arc<dyn Fn(&Refused) -> Option<Response<Bytes>> + Send + Sync>;

#[derive(Clone)]
struct GateParts {
    verifier: Arc<dyn Verifier>,
    organization: OrganizationFrom,
    origins: Vec<Origin>,
    trusted_proxies: Vec<IpNet>,
    refreshes: bool,
    mapper: Option<Mapper>,
    sign_in: SignIn,
    /// The runtime that the verifier's connections belong to. A host may run each of its workers on another runtime.
    runtime: Option<Handle>,
}

impl Gate {
    /// A gate that asks this verifier: a [`TenantAuth`](crate::TenantAuth), a [`RemoteVerifier`](crate::http::RemoteVerifier), or
    /// your own. Make it on the runtime that lives as long as the host does.
    pub fn new(verifier: impl Verifier + 'static) -> Self {
        Self {
            parts: Arc::new(GateParts {
                organization: OrganizationFrom::default(),
                origins: Vec::new(),
                trusted_proxies: in_process::trusted_proxies(&verifier),
                refreshes: true,
                mapper: None,
                sign_in: SignIn::default(),
                runtime: in_process::runtime(&verifier).or_else(|| Handle::try_current().ok()),
                verifier: Arc::new(verifier),
            }),
        }
    }

    /// Sets which part of a request names the organization. The default is the header `X-Org-Slug`.
    pub fn organization(self, from: OrganizationFrom) -> Self {
        self.changed(|parts| parts.organization = from)
    }

    /// Allows pages of another origin to send state-changing requests with the session's cookies (CSRF protection). Always
    /// allowed are pages of the host itself and, with the service in this process, the origins that the settings and the
    /// organization allow.
    pub fn allow_origin(self, origin: Origin) -> Self {
        self.changed(|parts| parts.origins.push(origin))
    }

    /// Sets the proxies whose `X-Forwarded-For` is believed. The default is the service's own setting where the service runs in
    /// this process, and no proxy otherwise.
    ///
    /// # Errors
    /// [`Rejected`] for a network of every address (`/0`): anybody could then state any address.
    pub fn trust_proxies(self, proxies: impl IntoIterator<Item = IpNet>) -> Result<Self, Rejected> {
        let proxies: Vec<IpNet> = proxies.into_iter().collect();
        refuse_everybody(&proxies)?;
        Ok(self.changed(|parts| parts.trusted_proxies = proxies))
    }

    /// Turns off refreshing at the gate: an expired access token is answered with 401, and the frontend calls `POST
    /// /auth/refresh`. With a [`RemoteVerifier`](crate::http::RemoteVerifier) it is needed for routes that may take longer than the reuse
    /// grace (30 s): the browser gets the new cookies only with the answer, and until then presents the former refresh token, which
    /// after the grace is taken for stolen and ends the session. With the service in the process the refresh waits for the answer.
    pub fn without_refresh(self) -> Self {
        self.changed(|parts| parts.refreshes = false)
    }

    /// Sets the host's own answer to refusals, before a redirect to sign-in ([`Gate::redirecting`]). Where `answer` returns `None`, that redirect
    /// or the JSON envelope is sent. It answers what the gate refuses; what a handler raises with `?` is answered in the API's own form,
    /// so map it in the handler where it is to look otherwise.
    pub fn on_refusal(self, answer: impl Fn(&Refused) -> Option<Response<Bytes>> + Send + Sync + 'static) -> Self {
        self.changed(|parts| parts.mapper = Some(Arc::new(answer)))
    }

    /// Sends a person's browser to the sign-in page where it opens a page (a GET navigation) without a session: 303 in place of 401, and
    /// back to that page once the person has signed in. What scripts and programs ask for is 401 as before, and somebody who is signed
    /// in and refused stays refused.
    ///
    /// Both addresses come from settings and never from the request's `Host`: the sign-in page is the hosted one below the public URL
    /// of the verifier's service, unless [`Gate::sign_in_page`] names another; the way back is the public URL's origin with the service
    /// in this process, and else what [`Gate::reached_at`] says. Without it nothing is said of the way back. The organization must
    /// allow the origin (its `appUrl` or `allowedOrigins`), or people stay on the pages of the service.
    ///
    /// ```no_run
    /// # fn example(remote: tenant_auth_core::http::TestVerifier) -> Result<(), Box<dyn std::error::Error>> {
    /// use tenant_auth_core::http::Gate;
    ///
    /// let gate = Gate::new(remote).redirecting().reached_at("https://app.example.com".parse()?);
    /// # Ok(()) }
    /// ```
    pub fn redirecting(self) -> Self {
        self.changed(|parts| parts.sign_in.redirects = true)
    }

    /// Sets the origin at which browsers reach the host, for the way back from sign-in; see [`Gate::redirecting`]. With
    /// [`OrganizationFrom::SubdomainOf`] its host name gives way to the organization's.
    pub fn reached_at(self, host: Origin) -> Self {
        self.changed(|parts| parts.sign_in.host = Some(host))
    }

    /// Sets the sign-in page, where it is one of your own, or where this program reaches the service at another address than browsers
    /// do; see [`Gate::redirecting`]. It finds `org` and `next` in its fragment, as the hosted page does.
    pub fn sign_in_page(self, page: Url) -> Self {
        self.changed(|parts| parts.sign_in.page = Some(page))
    }

    /// The visitor of a request from the socket address `peer`. The request's URI must contain the full path, not a path that a
    /// router has shortened.
    pub fn visitor(&self, request: ::http::Request<()>, peer: Option<IpAddr>) -> Visitor {
        Visitor::new(self.clone(), request, peer)
    }

    fn changed(mut self, change: impl FnOnce(&mut GateParts)) -> Self {
        change(Arc::make_mut(&mut self.parts));
        self
    }
}

impl fmt::Debug for GateParts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GateParts")
            .field("verifier", &self.verifier)
            .field("organization", &self.organization)
            .finish_non_exhaustive()
    }
}
