//! The service as a verifier, and what a gate takes over from one that runs in the host's own process.

use std::net::IpAddr;

use async_trait::async_trait;
use ipnet::IpNet;
use tokio::runtime::Handle;
use url::Url;

use super::{Renewed, Verifier};
use crate::{
    budget::Permit,
    caller::{LiveToken, Tenant},
    error::{Error, Overload},
    http::{browser, cookies::CookieStyle, session_cookies},
    principal::Principal,
    secret::SignedToken,
    service::TenantAuth,
    store::LiveSession,
    value::{Origin, Slug},
};

/// A place among the requests in flight; `None` where the verifier is no service in this process.
pub(super) type Place = Option<Permit>;

/// The runtime that the verifier's connections belong to.
pub(super) fn runtime(verifier: &dyn Verifier) -> Option<Handle> {
    verifier.host().map(|auth| auth.runtime().clone())
}

/// The proxies that the settings trust.
pub(super) fn trusted_proxies(verifier: &dyn Verifier) -> Vec<IpNet> {
    verifier.host().map(|auth| auth.config().network.trusted_proxies.clone()).unwrap_or_default()
}

/// Where browsers reach this process.
pub(super) fn public_origin(verifier: &dyn Verifier) -> Option<Origin> {
    Some(Origin::of(&verifier.host()?.config().public_url))
}

/// A place among the requests in flight, which an admission takes as any request does.
///
/// # Errors
/// [`Error::Unavailable`] where there are too many.
pub(super) fn place(verifier: &dyn Verifier, client: impl FnOnce() -> Option<IpAddr>) -> Result<Place, Error> {
    let Some(auth) = verifier.host() else { return Ok(None) };
    let place = auth.in_flight().take(client()).inspect_err(|_| auth.metrics().overload(Overload::InFlight))?;
    Ok(Some(place))
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
        let cookies = session_cookies::carrying(self.config(), &tokens, self.now());
        Ok(Renewed { access_token: tokens.access, cookies })
    }

    async fn foresee(&self, org: &Slug, refresh_token: &SignedToken) -> Result<Option<Principal>, Error> {
        let live = self.tenant(org).await?.foreseen(refresh_token.expose()).await?;
        Ok(live.map(|live| foreseen_principal(self, &live)))
    }

    async fn refresh_foreseen(&self, org: &Slug, refresh_token: &SignedToken) -> Result<Option<Renewed>, Error> {
        let tokens = self.tenant(org).await?.refresh_foreseen(refresh_token.expose()).await?;
        Ok(tokens.map(|tokens| {
            let cookies = session_cookies::carrying(self.config(), &tokens, self.now());
            Renewed { access_token: tokens.access, cookies }
        }))
    }

    fn given_up(&self, refresh_token: &SignedToken) {
        let now = self.now();
        if let Some(token) = self.signer().read_refresh(refresh_token.expose(), now) {
            self.given_up_refreshes().note(&token, now);
        }
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
        Ok(live.map(|live| live.org.slug.clone()))
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

    fn given_up(&self, refresh_token: &SignedToken) {
        Verifier::given_up(&self.auth, refresh_token);
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

    // No `service`: rights of other organizations are not this verifier's to give.
    fn host(&self) -> Option<&TenantAuth> {
        Some(&self.auth)
    }
}

impl Tenant {
    fn answering_for(&self, org: &Slug) -> Result<&TenantAuth, Error> {
        if self.org.slug == *org { Ok(&self.auth) } else { Err(Error::UnknownOrganization) }
    }
}
