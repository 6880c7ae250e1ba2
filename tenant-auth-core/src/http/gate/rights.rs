//! Admissions that are rights of the service: a [`Member`] or an [`OrgAdmin`] may change things, a [`Backend`] presents an API key, and a
//! [`Tenant`] is an organization. The service gives them only where it runs in the host's own process.

use super::{Admission, OrganizationFrom, Refused, Visitor, in_process::foreseen_principal, session::PresentedSession};
use ::http::header;

use crate::{
    caller::{Backend, Client, Member, OrgAdmin, Tenant},
    error::Error,
    http::{presented, refusal::Refusal},
    principal::Principal,
    secret::ApiKeyText,
    service::TenantAuth,
};

impl Visitor {
    /// The service. It must run in this process, because only the service gives rights; `wanted` names the type in the log.
    fn service(&self, wanted: &str) -> Result<&TenantAuth, Refused> {
        self.gate().parts.verifier.service().ok_or_else(|| {
            Refused::not_set_up(&format!(
                "{wanted} needs the service in this process: make the gate with Gate::new(tenant_auth), or take a Principal instead"
            ))
        })
    }

    /// The client of the request, as sessions and the rate limiter store it.
    fn client(&self) -> Client {
        let user_agent = self.request().headers().get(header::USER_AGENT).and_then(|value| value.to_str().ok());
        Client { ip: self.client_ip(), stated_by: None, user_agent: user_agent.map(str::to_owned), language: None }
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

/// A backend with a live API key, of an organization that is not suspended: a host's route knows nothing that such a key may still ask.
/// Check the key's scope with [`Backend::allows`].
impl Admission for Backend {
    async fn admit(visitor: &Visitor) -> Result<Self, Refused> {
        let service = visitor.service("Auth<Backend>")?;
        let headers = visitor.request().headers();
        let slug = visitor.gate().parts.organization.slug_of(visitor.request())?;
        presented::single_authorization(headers)?;
        let key = presented::single(headers, "x-api-key").ok().flatten().ok_or(Refusal::from(Error::InvalidApiKey))?;
        let key = ApiKeyText::new(key);
        let backend = service.counted(service.backend(&slug, &key).await, &key, &visitor.client())?;
        Ok(backend.of_open_organization()?)
    }
}
