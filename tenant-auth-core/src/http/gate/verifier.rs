//! Verifiers: the gate asks a [`Verifier`] two questions, whose token this is and what the next tokens are. The service in this
//! process, a deployed one ([`RemoteVerifier`](crate::http::RemoteVerifier)) and a test's double implement it alike.

use std::{fmt, net::IpAddr, sync::Arc};

use ::http::HeaderValue;
use async_trait::async_trait;
use url::Url;

use crate::{
    caller::{LiveToken, Tenant},
    error::Error,
    http::{
        browser,
        cookies::{self, CookieStyle},
    },
    principal::Principal,
    secret::SignedToken,
    service::TenantAuth,
    store::LiveSession,
    value::Slug,
};

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
    fn service(&self) -> Option<&TenantAuth> {
        None
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

#[async_trait]
impl Verifier for TenantAuth {
    async fn verify(&self, org: &Slug, access_token: &SignedToken) -> Result<Option<Principal>, Error> {
        let Some(LiveToken { token, live }) = self.live_token(access_token.expose()).await? else {
            return self.tenant(org).await.map(|_| None);
        };
        if live.org.slug != *org {
            return Err(self.tenant(org).await.err().unwrap_or(Error::WrongOrganization));
        }
        Ok(Some(Principal::of(&live, &token)))
    }

    async fn refresh(&self, org: &Slug, refresh_token: &SignedToken, _client: Option<IpAddr>) -> Result<Renewed, Error> {
        let tokens = self.tenant(org).await?.refresh(refresh_token.expose()).await?;
        let cookies = cookies::carrying(self.config(), &tokens, self.now());
        Ok(Renewed { access_token: tokens.access, cookies })
    }

    async fn foresee(&self, org: &Slug, refresh_token: &SignedToken) -> Result<Option<Principal>, Error> {
        let live = self.tenant(org).await?.foreseen(refresh_token.expose()).await?;
        Ok(live.map(|live| foreseen_principal(self, &live)))
    }

    async fn refresh_foreseen(&self, org: &Slug, refresh_token: &SignedToken) -> Result<Option<Renewed>, Error> {
        let tokens = self.tenant(org).await?.refresh_foreseen(refresh_token.expose()).await?;
        Ok(tokens.map(|tokens| {
            let cookies = cookies::carrying(self.config(), &tokens, self.now());
            Renewed { access_token: tokens.access, cookies }
        }))
    }

    async fn organization_of(&self, access: Option<&SignedToken>, refresh: Option<&SignedToken>) -> Result<Option<Slug>, Error> {
        if let Some(token) = access
            && let Some(LiveToken { live, .. }) = self.live_token(token.expose()).await?
        {
            return Ok(Some(live.org.slug.clone()));
        }
        let Some(token) = refresh else { return Ok(None) };
        self.learn_key_of(token.expose()).await?;
        let Some(token) = self.signer().read_refresh(token.expose(), self.now()) else { return Ok(None) };
        let live = self.store().read().await?.sessions().find_live(&token.session).await?;
        Ok(live.map(|live| live.org.slug))
    }

    fn cookie_style(&self) -> CookieStyle {
        CookieStyle::of(self.config())
    }

    async fn allows_origin(&self, org: &Slug, origin: &str) -> Result<bool, Error> {
        let tenant = self.tenant(org).await?;
        Ok(browser::is_deployments(self.config(), origin) || browser::is_organizations(tenant.organization(), origin))
    }

    fn public_url(&self) -> Option<Url> {
        Some(self.config().public_url.clone())
    }

    fn service(&self) -> Option<&TenantAuth> {
        Some(self)
    }
}

/// Whose session it is, until the token that a refresh would give now expires.
pub(super) fn foreseen_principal(auth: &TenantAuth, live: &LiveSession) -> Principal {
    Principal::until(live, auth.now().plus(auth.config().sessions.access_token_ttl).min(live.session.expires_at))
}

/// The service, for one of its organizations only.
#[async_trait]
impl Verifier for Tenant {
    async fn verify(&self, org: &Slug, access_token: &SignedToken) -> Result<Option<Principal>, Error> {
        Verifier::verify(self.answering_for(org)?, org, access_token).await
    }

    async fn refresh(&self, org: &Slug, refresh_token: &SignedToken, client: Option<IpAddr>) -> Result<Renewed, Error> {
        Verifier::refresh(self.answering_for(org)?, org, refresh_token, client).await
    }

    async fn foresee(&self, org: &Slug, refresh_token: &SignedToken) -> Result<Option<Principal>, Error> {
        Verifier::foresee(self.answering_for(org)?, org, refresh_token).await
    }

    async fn refresh_foreseen(&self, org: &Slug, refresh_token: &SignedToken) -> Result<Option<Renewed>, Error> {
        Verifier::refresh_foreseen(self.answering_for(org)?, org, refresh_token).await
    }

    async fn organization_of(&self, _access: Option<&SignedToken>, _refresh: Option<&SignedToken>) -> Result<Option<Slug>, Error> {
        Ok(Some(self.org.slug.clone()))
    }

    fn cookie_style(&self) -> CookieStyle {
        self.auth.cookie_style()
    }

    async fn allows_origin(&self, org: &Slug, origin: &str) -> Result<bool, Error> {
        self.answering_for(org)?.allows_origin(org, origin).await
    }

    fn public_url(&self) -> Option<Url> {
        self.auth.public_url()
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

    fn service(&self) -> Option<&TenantAuth> {
        (**self).service()
    }
}

impl Tenant {
    fn answering_for(&self, org: &Slug) -> Result<&TenantAuth, Error> {
        if self.org.slug == *org { Ok(&self.auth) } else { Err(Error::UnknownOrganization) }
    }
}
