//! Admissions: the types that a host asks for at the gate, each the least it needs. A [`Principal`] says who the person is, on any
//! verifier; a [`Member`] or an [`OrgAdmin`] may also change things, and a [`Backend`] presents an API key: the service gives these
//! three only where it runs in the host's own process.

use super::{Admission, Refused, Visitor, session::PresentedSession};
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
            session.renew().await?;
        };
        if !principal.is_active() {
            return Err(Error::Suspended.into());
        }
        visitor.remember(&principal);
        Ok(principal)
    }
}

/// The organization alone; the caller is not authenticated.
impl Admission for Tenant {
    async fn admit(visitor: &Visitor) -> Result<Self, Refused> {
        let slug = visitor.gate().parts.organization.slug_of(visitor.request())?;
        Ok(visitor.service("Auth<Tenant>")?.tenant(&slug).await?)
    }
}

/// An active member, with the right to act as a member.
impl Admission for Member {
    async fn admit(visitor: &Visitor) -> Result<Self, Refused> {
        let service = visitor.service("Auth<Member>")?;
        let mut session = PresentedSession::read(visitor).await?;
        let tenant = service.tenant(&session.org).await?;
        loop {
            match session.token() {
                Some(token) => match tenant.authenticate(token.expose()).await {
                    Ok(member) => return Ok(member.seen_from(visitor.client())),
                    Err(Error::SessionRequired) => session.renew().await?,
                    Err(error) => return Err(error.into()),
                },
                None => session.renew().await?,
            }
        }
    }
}

/// An org_admin, with the right to act as an org_admin.
impl Admission for OrgAdmin {
    async fn admit(visitor: &Visitor) -> Result<Self, Refused> {
        Ok(Member::admit(visitor).await?.into_admin()?)
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
