//! The remote verifier: asks a service on another machine with the API keys of a customer's backend: `POST /public/verify` for a
//! token and `POST /auth/refresh` for the next ones. One pool of connections; every wait and every answer is limited. An answer
//! that is not clear is `Unavailable`, which refuses this request and ends no session. On request it remembers answers, and asks in the
//! background which of them no longer count.

mod answers;
mod breaker;
mod exchange;
mod remembered;
mod remembering;
mod server;

use std::{
    collections::{HashMap, HashSet},
    fmt,
    net::IpAddr,
    sync::Arc,
    time::Duration,
};

use async_trait::async_trait;
use url::Url;

use super::{Renewed, Verifier};
use crate::{
    config::SameSite,
    error::Error,
    http::cookies::{self, CookieStyle},
    key_text,
    ports::{Clock, SystemClock},
    principal::Principal,
    secret::{ApiKeyText, SignedToken},
    value::{Slug, is_loopback_for_secrets},
};
use remembering::{Poller, Remembering};
use server::Server;

/// The default timeout of one request, from the connection to the last byte.
const PATIENCE: Duration = Duration::from_secs(5);

/// A verifier that asks a deployed server. Made by [`RemoteVerifier::new`]; it serves the organizations whose API keys it was
/// given, or with a deployment key all of them.
///
/// ```no_run
/// # fn example() -> Result<(), Box<dyn std::error::Error>> {
/// use tenant_auth_core::http::{Gate, RemoteVerifier};
///
/// let remote = RemoteVerifier::new("https://auth.example.com")?.key("acme", std::env::var("API_KEY")?)?;
/// let gate = Gate::new(remote);
/// # Ok(()) }
/// ```
pub struct RemoteVerifier {
    server: Arc<Server>,
    base: String,
    keys: HashMap<Slug, ApiKeyText>,
    deployment_key: Option<ApiKeyText>,
    /// The organizations that the deployment key is shown for; `None`: each.
    only: Option<HashSet<Slug>>,
    patience: Duration,
    states_client: bool,
    style: CookieStyle,
    remembering: Option<Remembering>,
    clock: Arc<dyn Clock>,
}

/// Why a remote verifier cannot be made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RemoteSetupError {
    /// The address is no URL, or a URL that API keys must not be sent to; without what stands before an `@`, which may be a password.
    #[error(
        "{0:?} must be the public URL of a Tenant Auth server: https, or http for loopback; see also RemoteVerifier::over_plain_http"
    )]
    Url(String),
    /// The organization's slug is malformed.
    #[error("{0:?} is no organization's slug")]
    Slug(String),
    /// The API key is malformed.
    #[error("the API key of {0} is malformed; it starts with pk_live_")]
    Key(String),
    /// The deployment key is malformed.
    #[error("the deployment key is malformed; it starts with dk_live_")]
    DeploymentKey,
    /// The system's TLS set-up failed.
    #[error("the HTTP client cannot be made: {0}")]
    HttpClient(String),
}

impl RemoteVerifier {
    /// A verifier for the server with this public URL, without `/api/v1`.
    ///
    /// # Errors
    /// [`RemoteSetupError::Url`] also for http beyond loopback: API keys and tokens must not be read on the way.
    pub fn new(public_url: &str) -> Result<Self, RemoteSetupError> {
        let url = parsed(public_url)?;
        if url.scheme() != "https" && !is_loopback_for_secrets(&url) {
            return Err(unusable(public_url));
        }
        Self::at(&url)
    }

    /// A verifier for a server that is reached over plain http, inside a network that is private.
    ///
    /// # Errors
    /// [`RemoteSetupError::Url`] for an address that is no http URL.
    pub fn over_plain_http(public_url: &str) -> Result<Self, RemoteSetupError> {
        Self::at(&parsed(public_url)?)
    }

    fn at(url: &Url) -> Result<Self, RemoteSetupError> {
        let server = Server::new().map_err(|error| RemoteSetupError::HttpClient(error.to_string()))?;
        Ok(Self {
            server: Arc::new(server),
            base: format!("{}/api/v1", url.as_str().trim_end_matches('/')),
            keys: HashMap::new(),
            deployment_key: None,
            only: None,
            patience: PATIENCE,
            states_client: false,
            style: CookieStyle::default(),
            remembering: None,
            clock: Arc::new(SystemClock),
        })
    }

    /// Adds an organization and its API key, which must have the scope `verify`.
    ///
    /// # Errors
    /// [`RemoteSetupError::Slug`] and [`RemoteSetupError::Key`].
    pub fn key(mut self, slug: &str, api_key: impl Into<ApiKeyText>) -> Result<Self, RemoteSetupError> {
        let org = Slug::parse(slug).map_err(|_| RemoteSetupError::Slug(slug.to_owned()))?;
        let key = api_key.into();
        if key_text::organization_key_id(&key).is_none() || !can_stand_in_a_header(&key) {
            return Err(RemoteSetupError::Key(slug.to_owned()));
        }
        self.keys.insert(org, key);
        self.remembering = self.remembering.as_ref().and_then(|known| known.anew(self.keys.keys()));
        Ok(self)
    }

    /// Sets the deployment key, which must have the scope `verify`: it serves every organization that has no key of its own here, also
    /// one that is made later. A person's address is stated beside an organization's key only
    /// ([`states_client_ip`](Self::states_client_ip)).
    ///
    /// # Errors
    /// [`RemoteSetupError::DeploymentKey`].
    pub fn deployment_key(mut self, key: impl Into<ApiKeyText>) -> Result<Self, RemoteSetupError> {
        let key = key.into();
        if key_text::deployment_key_id(&key).is_none() || !can_stand_in_a_header(&key) {
            return Err(RemoteSetupError::DeploymentKey);
        }
        self.deployment_key = Some(key);
        self.remembering = self.remembering.as_ref().and_then(|known| known.anew(self.keys.keys()));
        Ok(self)
    }

    /// Narrows the deployment key to these organizations; for any other the answer is 404 `unknown_organization`.
    ///
    /// # Errors
    /// [`RemoteSetupError::Slug`].
    pub fn only<S: AsRef<str>>(mut self, slugs: impl IntoIterator<Item = S>) -> Result<Self, RemoteSetupError> {
        let read = |slug: S| Slug::parse(slug.as_ref()).map_err(|_| RemoteSetupError::Slug(slug.as_ref().to_owned()));
        self.only = Some(slugs.into_iter().map(read).collect::<Result<_, _>>()?);
        Ok(self)
    }

    /// Remembers answers, and asks the service in the background what changed: a token is then verified in this process, and what
    /// changed is in force here `max_age` after its commit (`None`: 2 s), whatever happens on the way. While the service was not
    /// asked for so long, as when it is away, each token is asked about as without this. At most four questions within `max_age`, for
    /// each organization's key and for the deployment key; none when nobody came for a minute. For an age below 100 ms nothing is remembered; one above an hour is an hour. Call it on the
    /// runtime that lives as long as the verifier. The ends of tokens, sessions and keys are judged by the later of this machine's clock and the
    /// service's, as the `Date` of its answers tells it.
    #[must_use]
    pub fn remembering(mut self, max_age: impl Into<Option<Duration>>) -> Self {
        self.remembering = Remembering::new(max_age.into(), self.keys.keys());
        self
    }

    /// Replaces the system's clock, by which ends of remembered answers are judged. What the service's clock is ahead is measured by the
    /// system's all the same, and added to this one's time.
    #[must_use]
    pub fn clock(mut self, clock: Arc<dyn Clock>) -> Self {
        self.clock = clock;
        self
    }

    /// Sets the timeout of one request, from the connection to the last byte; 5 s by default. Once the server let a question time out,
    /// and answered nothing meanwhile, requests are refused with 503 at once; 2 s after each such timeout one of them asks again, over a
    /// new connection.
    #[must_use]
    pub fn patience(mut self, patience: Duration) -> Self {
        self.patience = patience;
        self
    }

    /// States the client's address to the server, whose rate limiter counts by it. The API keys must have the scope `proxy`.
    #[must_use]
    pub fn states_client_ip(mut self) -> Self {
        self.states_client = true;
        self
    }

    /// Sets the server's `_COOKIE_DOMAIN`, if it has one. Needed because a browser clears a cookie only by the attributes that the
    /// cookie was set with.
    #[must_use]
    pub fn cookie_domain(mut self, domain: &str) -> Self {
        self.style.domain = Some(domain.to_owned());
        self
    }

    /// Sets the server's `_COOKIE_SAME_SITE`.
    #[must_use]
    pub fn cookie_same_site(mut self, same_site: SameSite) -> Self {
        self.style.same_site = same_site;
        self
    }

    fn poller(&self, org: &Slug, key: &ApiKeyText) -> Poller {
        let org = self.keys.contains_key(org).then(|| org.clone());
        Poller { server: Arc::clone(&self.server), base: self.base.clone(), org, key: key.clone() }
    }

    fn key_of(&self, org: &Slug) -> Result<&ApiKeyText, Error> {
        let is_served = |_: &&ApiKeyText| self.only.as_ref().is_none_or(|only| only.contains(org));
        let of_deployment = || self.deployment_key.as_ref().filter(is_served);
        self.keys.get(org).or_else(of_deployment).ok_or(Error::UnknownOrganization)
    }
}

#[async_trait]
impl Verifier for RemoteVerifier {
    async fn verify(&self, org: &Slug, access_token: &SignedToken) -> Result<Option<Principal>, Error> {
        let Some(remembering) = &self.remembering else {
            return answers::verification(org, &self.ask_about(org, access_token, None).await?);
        };
        let key = self.key_of(org)?;
        let known = remembering.of(org);
        remembering.follow(known, || self.poller(org, key));
        if let Some(principal) = known.remembered.recall(org, access_token, self.clock.now()) {
            return Ok(Some(principal));
        }
        let asking = known.remembered.asking();
        let answer = self.ask_about(org, access_token, asking.as_ref().map(|asking| &*asking.cursor)).await?;
        if matches!(answer.status, 401 | 403) {
            known.remembered.forget(); // the key no longer opens anything
        }
        let verified = answers::verification(org, &answer)?;
        if let (Some(asking), Some(principal)) = (&asking, &verified) {
            known.remembered.keep(asking, access_token, principal);
        }
        Ok(verified)
    }

    async fn refresh(&self, org: &Slug, refresh_token: &SignedToken, client: Option<IpAddr>) -> Result<Renewed, Error> {
        self.key_of(org)?;
        let stated = self.keys.get(org).zip(client.filter(|_| self.states_client));
        // What no cookie can carry is no token of the server's.
        let presented = cookies::presenting(refresh_token.expose()).ok_or(Error::SessionRequired)?;
        let answer = self.ask_for_next(org, presented, stated).await?;
        answers::renewal(&answer)
    }

    async fn organization_of(&self, _access: Option<&SignedToken>, _refresh: Option<&SignedToken>) -> Result<Option<Slug>, Error> {
        match (self.keys.keys().next(), self.keys.len(), &self.deployment_key) {
            (Some(only), 1, None) => Ok(Some(only.clone())),
            _ => Err(Error::internal(
                "OrganizationFrom::Session: this RemoteVerifier serves several organizations, which requests must name",
            )),
        }
    }

    fn cookie_style(&self) -> CookieStyle {
        self.style.clone()
    }

    fn public_url(&self) -> Option<Url> {
        self.base.strip_suffix("/api/v1")?.parse().ok()
    }
}

fn can_stand_in_a_header(key: &ApiKeyText) -> bool {
    key.expose().bytes().all(|byte| byte.is_ascii_graphic())
}

fn parsed(public_url: &str) -> Result<Url, RemoteSetupError> {
    let url = Url::parse(public_url).map_err(|_| unusable(public_url))?;
    let plain = url.username().is_empty() && url.password().is_none() && url.query().is_none() && url.fragment().is_none();
    if matches!(url.scheme(), "https" | "http") && url.host().is_some() && plain { Ok(url) } else { Err(unusable(public_url)) }
}

fn unusable(public_url: &str) -> RemoteSetupError {
    let shown = public_url.rsplit_once('@').map_or_else(|| public_url.to_owned(), |(_, rest)| format!("…@{rest}"));
    RemoteSetupError::Url(shown)
}

impl fmt::Debug for RemoteVerifier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let orgs: Vec<_> = self.keys.keys().map(Slug::as_str).collect();
        f.debug_struct("RemoteVerifier")
            .field("base", &self.base)
            .field("organizations", &orgs)
            .field("serves_all", &(self.deployment_key.is_some() && self.only.is_none()))
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: &str = "pk_live_01k9f3s8v6q2w4x7y9z0a1b2c3secretsecretsecret";

    #[test]
    fn keys_travel_encrypted_and_are_never_printed() {
        for refused in ["http://auth.example.com", "ftp://127.0.0.1", "auth.example.com", "https://u:p@auth.example.com"] {
            assert!(RemoteVerifier::new(refused).is_err(), "{refused}");
        }
        assert!(RemoteVerifier::over_plain_http("http://auth.internal:8080").is_ok());
        let remote = RemoteVerifier::new("https://auth.example.com/base/").expect("https");
        assert_eq!(remote.base, "https://auth.example.com/base/api/v1");
        for malformed in ["", "secret", "pk_live_short", "pk_live_01k9f3s8v6q2w4x7y9z0a1b2c3\n"] {
            assert!(RemoteVerifier::new("https://auth.example.com").expect("https").key("acme", malformed).is_err(), "{malformed}");
        }
        let deployment_key = KEY.replace("pk_live_", "dk_live_");
        let https = || RemoteVerifier::new("https://auth.example.com").expect("https");
        assert!(https().key("acme", deployment_key.as_str()).is_err() && https().deployment_key(KEY).is_err());
        let remote = remote.key("acme", KEY).and_then(|remote| remote.deployment_key(deployment_key)).expect("well-formed keys");
        assert!(!format!("{remote:?}").contains("secret"), "{remote:?}");
    }
}
