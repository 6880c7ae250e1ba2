//! Admissions: the types that a host asks for at the gate, each the least it needs. A [`Principal`] says who the person is, on any
//! verifier; a [`Member`] or an [`OrgAdmin`] may also change things, and a [`Backend`] presents an API key: the service gives these
//! three only where it runs in the host's own process.

use ::http::StatusCode;

use super::{Admission, OrganizationFrom, Refused, Visitor, session::PresentedSession, verifier::foreseen_principal};
use crate::{
    caller::{Backend, Member, OrgAdmin, Tenant},
    error::Error,
    http::{presented, refusal::Refusal},
    principal::Principal,
    secret::ApiKeyText,
};

/// An active member, as the gate's verifier describes the person.
impl Admission for Principal {
    async fn admit(visitor: &Visitor) -> Result<Self, Refused> {
        if let Some(principal) = visitor.known() {
            return Ok(principal);
        }
        let mut session = PresentedSession::read(visitor).await?;
        let principal = loop {
            if let Some(token) = session.token()
                && let Some(principal) = visitor.gate().parts.verifier.verify(&session.org, token).await?
            {
                break principal;
            }
            if let Some(principal) = session.renew().await? {
                break principal;
            }
        };
        if !principal.is_active() {
            return Err(Error::Suspended.into());
        }
        visitor.remember(principal.clone());
        Ok(principal)
    }
}

/// The organization alone; the caller is not authenticated.
impl Admission for Tenant {
    async fn admit(visitor: &Visitor) -> Result<Self, Refused> {
        let service = visitor.service("Auth<Tenant>")?;
        let slug = match &visitor.gate().parts.organization {
            OrganizationFrom::Session => PresentedSession::read(visitor).await?.org,
            from => from.slug_of(visitor.request())?,
        };
        Ok(service.tenant(&slug).await?)
    }
}

/// An active member, with the right to act as a member. Judged anew at each admission, also of one visitor: a host that keeps a
/// connection open asks again, and gets what is true then.
impl Admission for Member {
    async fn admit(visitor: &Visitor) -> Result<Self, Refused> {
        let service = visitor.service("Auth<Member>")?;
        let mut session = PresentedSession::read(visitor).await?;
        let tenant = service.tenant(&session.org).await?;
        let (member, principal) = loop {
            if let Some(token) = session.token() {
                match tenant.authenticate_by(token.expose()).await {
                    Ok((member, token)) => {
                        let principal = Principal::of(&member.live, &token);
                        break (member, principal);
                    }
                    Err(Error::SessionRequired) => {}
                    Err(error) => return Err(error.into()),
                }
            }
            if let Some(member) = session.renew_member(&tenant).await? {
                let principal = foreseen_principal(service, &member.live);
                break (member, principal);
            }
        };
        visitor.remember(principal);
        Ok(member.seen_from(visitor.client()))
    }
}

/// An org_admin, with the right to act as an org_admin.
impl Admission for OrgAdmin {
    async fn admit(visitor: &Visitor) -> Result<Self, Refused> {
        Ok(Member::admit(visitor).await?.into_admin()?)
    }
}

/// Somebody who is admitted as a `C`, or whom `C` would answer with 401: without a session, with one that is over or another
/// organization's, or without a key. Cookies of a session that is over are cleared all the same.
///
/// ```
/// use tenant_auth_core::{Principal, http::{Refused, Visitor}};
///
/// async fn greeting(visitor: &Visitor) -> Result<String, Refused> {
///     let who: Option<Principal> = visitor.admit().await?; // in a handler: `Auth(who): Auth<Option<Principal>>`
///     Ok(who.map_or("Hello".to_owned(), |who| format!("Hello {}", who.user.name)))
/// }
/// ```
impl<C: Admission> Admission for Option<C> {
    async fn admit(visitor: &Visitor) -> Result<Self, Refused> {
        match C::admit(visitor).await {
            Ok(admitted) => Ok(Some(admitted)),
            Err(mut refused) if refused.status() == StatusCode::UNAUTHORIZED => {
                visitor.leave_with(&mut refused);
                Ok(None)
            }
            Err(refused) => Err(refused),
        }
    }
}

/// A backend with a live API key. Check the key's scope with [`Backend::allows`].
impl Admission for Backend {
    async fn admit(visitor: &Visitor) -> Result<Self, Refused> {
        let service = visitor.service("Auth<Backend>")?;
        let headers = visitor.request().headers();
        let slug = visitor.gate().parts.organization.slug_of(visitor.request())?;
        presented::single_authorization(headers)?;
        let key = presented::single(headers, "x-api-key").ok().flatten().ok_or(Refusal::from(Error::InvalidApiKey))?;
        let key = ApiKeyText::new(key);
        Ok(service.counted(service.backend(&slug, &key).await, &key, &visitor.client())?)
    }
}
