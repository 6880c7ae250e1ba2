//! Verifiers: the gate asks a [`Verifier`] two questions, whose token this is and what the next tokens are. The service in this
//! process, a deployed one ([`RemoteVerifier`](crate::http::RemoteVerifier)) and a test's double implement it alike.

use std::{fmt, net::IpAddr, sync::Arc};

use ::http::HeaderValue;
use async_trait::async_trait;
use url::Url;

#[cfg(feature = "service")]
use crate::service::TenantAuth;
use crate::{error::Error, http::cookies::CookieStyle, principal::Principal, secret::SignedToken, value::Slug};

/// Verifies the tokens of organizations, and refreshes sessions. Dyn-safe, so that a host can implement its own.
#[async_trait]
pub trait Verifier: fmt::Debug + Send + Sync {
    /// Who stands behind an access token, suspended or not; `None` when it is not live in this organization.
    ///
    /// # Errors
    /// [`Error::UnknownOrganization`]; [`Error::WrongOrganization`] where it is known that the token is another organization's;
    /// [`Error::RateLimited`] and [`Error::Unavailable`] when nothing was decided.
    async fn verify(&self, org: &Slug, access_token: &SignedToken) -> Result<Option<Principal>, Error>;

    /// Refreshes a session; `client` is the client's address, if it is known.
    ///
    /// # Errors
    /// [`Error::SessionRequired`] when the session is over, which clears the browser's cookies; after every other error the
    /// cookies stay.
    async fn refresh(&self, org: &Slug, refresh_token: &SignedToken, client: Option<IpAddr>) -> Result<Renewed, Error>;

    /// Whom a refresh would be for, without carrying it out: the gate then calls [`Verifier::refresh_foreseen`] when the answer leaves, so
    /// that the browser need not wait for its next tokens as long as the route takes. `None` where only a refresh can tell, which the
    /// gate asks for at once.
    ///
    /// # Errors
    /// [`Error::Unavailable`] when nothing was decided.
    async fn foresee(&self, _org: &Slug, _refresh_token: &SignedToken) -> Result<Option<Principal>, Error> {
        Ok(None)
    }

    /// Refreshes a session that was foreseen; `None` when another request did so a while ago, and brought the browser the cookies.
    ///
    /// # Errors
    /// [`Error::SessionRequired`] when the session is over, which clears the browser's cookies.
    async fn refresh_foreseen(&self, _org: &Slug, _refresh_token: &SignedToken) -> Result<Option<Renewed>, Error> {
        Ok(None)
    }

    /// Told of a refresh that was foreseen and not carried out, because the request was given up before its answer. Whoever stole a refresh
    /// token could go on so unseen: a verifier that foresees should not do so for ever then.
    fn given_up(&self, _refresh_token: &SignedToken) {}

    /// The organization of a session, by the tokens that a request presents; `None` when they are no session's. For
    /// [`OrganizationFrom::Session`](super::OrganizationFrom::Session), and nothing is refreshed for it.
    ///
    /// # Errors
    /// [`Error::Internal`] where the verifier cannot tell, and [`Error::Unavailable`] when nothing was found out.
    async fn organization_of(&self, _access: Option<&SignedToken>, _refresh: Option<&SignedToken>) -> Result<Option<Slug>, Error> {
        Err(Error::internal("OrganizationFrom::Session needs the service in this process, or a verifier of one organization"))
    }

    /// The attributes of the session's cookies, which are needed to clear them.
    fn cookie_style(&self) -> CookieStyle {
        CookieStyle::default()
    }

    /// Whether pages of this origin may send state-changing requests with the session's cookies; pages of the host itself always
    /// may.
    ///
    /// # Errors
    /// As [`Verifier::verify`].
    async fn allows_origin(&self, _org: &Slug, _origin: &str) -> Result<bool, Error> {
        Ok(false)
    }

    /// The public URL of the service, below which its pages lie, if it is known; for [`Gate::redirecting`](super::Gate::redirecting).
    fn public_url(&self) -> Option<Url> {
        None
    }

    /// The service itself, if it runs in this process. Only the service gives rights that can change something.
    #[cfg(feature = "service")]
    fn service(&self) -> Option<&TenantAuth> {
        None
    }

    /// The service in whose process the gate stands, also where the verifier gives no rights of it: its runtime, its proxies, its public
    /// address and its places among the requests in flight are those of the process.
    #[cfg(feature = "service")]
    #[doc(hidden)]
    fn host(&self) -> Option<&TenantAuth> {
        self.service()
    }
}

/// A session's next access token, and the cookies that carry the whole pair to the browser.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Renewed {
    /// The next access token.
    pub access_token: SignedToken,
    /// The `Set-Cookie` values, to be passed on unchanged.
    pub cookies: Vec<HeaderValue>,
}

impl Renewed {
    /// A renewal of this token and these cookies.
    pub fn new(access_token: SignedToken, mut cookies: Vec<HeaderValue>) -> Self {
        cookies.iter_mut().for_each(|cookie| cookie.set_sensitive(true)); // both tokens are in them
        Self { access_token, cookies }
    }
}

/// A shared verifier: for several gates, or for a gate and a test that changes the verifier's answers.
#[async_trait]
impl<V: Verifier + ?Sized> Verifier for Arc<V> {
    async fn verify(&self, org: &Slug, access_token: &SignedToken) -> Result<Option<Principal>, Error> {
        (**self).verify(org, access_token).await
    }

    async fn refresh(&self, org: &Slug, refresh_token: &SignedToken, client: Option<IpAddr>) -> Result<Renewed, Error> {
        (**self).refresh(org, refresh_token, client).await
    }

    async fn foresee(&self, org: &Slug, refresh_token: &SignedToken) -> Result<Option<Principal>, Error> {
        (**self).foresee(org, refresh_token).await
    }

    async fn refresh_foreseen(&self, org: &Slug, refresh_token: &SignedToken) -> Result<Option<Renewed>, Error> {
        (**self).refresh_foreseen(org, refresh_token).await
    }

    fn given_up(&self, refresh_token: &SignedToken) {
        (**self).given_up(refresh_token);
    }

    async fn organization_of(&self, access: Option<&SignedToken>, refresh: Option<&SignedToken>) -> Result<Option<Slug>, Error> {
        (**self).organization_of(access, refresh).await
    }

    fn cookie_style(&self) -> CookieStyle {
        (**self).cookie_style()
    }

    async fn allows_origin(&self, org: &Slug, origin: &str) -> Result<bool, Error> {
        (**self).allows_origin(org, origin).await
    }

    fn public_url(&self) -> Option<Url> {
        (**self).public_url()
    }

    #[cfg(feature = "service")]
    fn service(&self) -> Option<&TenantAuth> {
        (**self).service()
    }

    #[cfg(feature = "service")]
    fn host(&self) -> Option<&TenantAuth> {
        (**self).host()
    }
}
