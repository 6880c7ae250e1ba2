//! The session of a request at the gate. Its access token is tried; when that token is dead, the session is refreshed once and
//! tried again (behaviour.md, B135). Cookies are cleared only when the session is over: a request that got no answer, or came with
//! another organization's session, keeps its cookies.

use ::http::HeaderValue;

use super::{OrganizationFrom, origin, visitor::Visitor};
#[cfg(feature = "service")]
use crate::caller::{Member, Tenant};
use crate::{
    error::Error,
    http::{
        cookies::{self, SessionCookies},
        presented,
        refusal::Refusal,
    },
    principal::Principal,
    secret::SignedToken,
    value::Slug,
};

/// The session that a request presents: its organization, access token and cookies.
pub(super) struct PresentedSession<'a> {
    visitor: &'a Visitor,
    pub(super) org: Slug,
    token: Option<SignedToken>,
    /// `None` when the request has a Bearer: cookies are ignored beside it.
    cookies: Option<SessionCookies>,
    refreshed: bool,
}

impl<'a> PresentedSession<'a> {
    /// Reads the session from a request. The order of the checks is fixed: slug, credentials, origin. Where the session names the
    /// organization, its tokens are read first, and nothing is changed by that.
    pub(super) async fn read(visitor: &'a Visitor) -> Result<Self, Refusal> {
        let request = visitor.request();
        let gate = visitor.gate();
        let named = match &gate.parts.organization {
            OrganizationFrom::Session => None,
            from => Some(from.slug_of(request)?),
        };
        presented::single_authorization(request.headers())?;
        if let Some(bearer) = presented::bearer(request.headers()) {
            let token = SignedToken::new(bearer);
            let org = match named {
                Some(org) => org,
                None => {
                    let found = gate.parts.verifier.organization_of(Some(&token), None).await?;
                    found.ok_or(Refusal::from(Error::SessionRequired))?
                }
            };
            return Ok(Self { visitor, org, token: Some(token), cookies: None, refreshed: false });
        }
        let cookies = cookies::read(request.headers());
        let org = match named {
            Some(org) => org,
            None => organization_of(visitor, &cookies).await?,
        };
        origin::judge(gate, request, &org).await?;
        let renewed = visitor.renewed_token();
        let refreshed = renewed.is_some();
        let token = match renewed {
            Some(token) => Some(token),
            None => cookies.access(&gate.parts.verifier.cookie_style())?.map(SignedToken::new),
        };
        Ok(Self { visitor, org, token, cookies: Some(cookies), refreshed })
    }

    /// The access token to try.
    pub(super) fn token(&self) -> Option<&SignedToken> {
        self.token.as_ref()
    }

    /// Goes on where the access token is missing or dead: with whom the session is of, where a refresh can be foreseen, which is carried
    /// out when the answer leaves (behaviour.md, B214); else after a refresh, with the next access token to try.
    pub(super) async fn renew(&mut self) -> Result<Option<Principal>, Refusal> {
        let token = self.refresh_token()?;
        let foreseen = self.visitor.gate().parts.verifier.foresee(&self.org, &token).await?;
        self.go_on(foreseen, &token).await
    }

    /// The same with the right of a member.
    #[cfg(feature = "service")]
    pub(super) async fn renew_member(&mut self, tenant: &Tenant) -> Result<Option<Member>, Refusal> {
        let token = self.refresh_token()?;
        let foreseen = tenant.foreseen_member(token.expose()).await?;
        self.go_on(foreseen, &token).await
    }

    async fn go_on<T>(&mut self, foreseen: Option<T>, token: &SignedToken) -> Result<Option<T>, Refusal> {
        match foreseen {
            Some(_) => self.visitor.owe(&self.org, token),
            None => self.refresh(token).await?,
        }
        Ok(foreseen)
    }

    /// The refresh token, where the session may be refreshed with it.
    fn refresh_token(&self) -> Result<SignedToken, Refusal> {
        if self.refreshed {
            return Err(Refusal::not_admitted());
        }
        let parts = &self.visitor.gate().parts;
        let Some(cookies) = self.cookies.as_ref().filter(|_| parts.refreshes) else { return Err(Error::SessionRequired.into()) };
        cookies.refresh(&parts.verifier.cookie_style())?.map(SignedToken::new).ok_or_else(|| self.over())
    }

    async fn refresh(&mut self, token: &SignedToken) -> Result<(), Refusal> {
        let verifier = &self.visitor.gate().parts.verifier;
        let renewed = if self.visitor.pays() {
            // Foreseen by an earlier admission of this request: another has refreshed since, and nobody is taken for a thief.
            verifier.refresh_foreseen(&self.org, token).await.map(|renewed| renewed.ok_or(Error::SessionRequired))
        } else {
            verifier.refresh(&self.org, token, self.visitor.client_ip()).await.map(Ok)
        };
        match renewed {
            Ok(renewed) => {
                let renewed = renewed?;
                self.visitor.leave(renewed.cookies, Some(renewed.access_token.clone()));
                self.token = Some(renewed.access_token);
                self.refreshed = true;
                Ok(())
            }
            Err(Error::SessionRequired) => Err(self.over()),
            Err(error) => Err(error.into()),
        }
    }

    fn over(&self) -> Refusal {
        over(self.visitor, self.cookies.as_ref())
    }
}

/// The organization of the session in these cookies. An access token that has ended says nothing; the refresh token still does.
async fn organization_of(visitor: &Visitor, cookies: &SessionCookies) -> Result<Slug, Refusal> {
    let parts = &visitor.gate().parts;
    let style = parts.verifier.cookie_style();
    let access = match visitor.renewed_token() {
        Some(token) => Some(token),
        None => cookies.access(&style)?.map(SignedToken::new),
    };
    let refresh = cookies.refresh(&style)?.filter(|_| parts.refreshes).map(SignedToken::new);
    match parts.verifier.organization_of(access.as_ref(), refresh.as_ref()).await? {
        Some(org) => Ok(org),
        None if parts.refreshes => Err(over(visitor, Some(cookies))),
        None => Err(Error::SessionRequired.into()),
    }
}

/// The refusal of a session that is over, which clears its cookies.
fn over(visitor: &Visitor, cookies: Option<&SessionCookies>) -> Refusal {
    let refusal = Refusal::from(Error::SessionRequired);
    if cookies.is_some_and(SessionCookies::hold_session) { refusal.with_cookies(forgotten(visitor)) } else { refusal }
}

fn forgotten(visitor: &Visitor) -> Vec<HeaderValue> {
    cookies::forgotten(&visitor.gate().parts.verifier.cookie_style())
}
