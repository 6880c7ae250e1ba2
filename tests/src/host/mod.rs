//! A host application with routes of its own behind the gate, on either framework: the same few routes, so that a scenario tells
//! its sentence once. Next to them lie an open page and the host's own 404.

mod actix;
mod axum;
mod scripted;

use std::net::{Ipv4Addr, SocketAddr, TcpListener};

use http::StatusCode;
pub use scripted::ScriptedServer;
use tenant_auth_core::{
    Backend, Member, OrgAdmin, Principal, Tenant, TenantAuth,
    http::{Admission, Gate, Refused, Visitor},
    model::Scope,
};

use crate::{Adapter, App, server::Running};

/// A host on a port of its own, stopped when dropped.
#[derive(Debug)]
pub struct Host {
    address: SocketAddr,
    _running: Running,
}

impl Host {
    /// Serves the host's routes behind `gate`; with `mounted` the service's own routes beside them.
    pub fn start(adapter: Adapter, gate: Gate, mounted: Option<TenantAuth>) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port");
        let address = listener.local_addr().expect("a bound socket");
        let running = match adapter {
            Adapter::Axum => axum::serve(gate, mounted, listener),
            Adapter::Actix => actix::serve(gate, mounted, listener),
        };
        Self { address, _running: running }
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// One that carries the scenario's service.
    pub fn embedding(app: &App) -> Self {
        Self::start(app.cell.adapter, Gate::new(app.auth.clone()), Some(app.auth.clone()))
    }
}

fn principal(principal: &Principal) -> String {
    format!("{} {} {}", principal.user.email, principal.membership.role.as_str(), principal.org.slug)
}

fn member(member: &Member) -> String {
    format!("{} {} {}", member.user().email, member.membership().role.as_str(), member.organization().slug)
}

/// What only an org_admin may ask.
async fn keys(admin: OrgAdmin) -> Result<String, tenant_auth_core::Error> {
    Ok(format!("{} keys", admin.api_keys(&tenant_auth_core::Page::default()).await?.items.len()))
}

fn backend(backend: &Backend) -> Result<String, tenant_auth_core::Error> {
    backend.allows(Scope::UsersRead)?;
    Ok(format!("a backend of {}", backend.organization().slug))
}

/// A page for everybody, with something more for those who are logged in.
fn greeting(who: Option<&Principal>) -> String {
    who.map_or_else(|| "hello, stranger".to_owned(), principal)
}

/// A right of the host's own: a member of the plan `enterprise`.
struct Paying;

impl Admission for Paying {
    async fn admit(visitor: &Visitor) -> Result<Self, Refused> {
        let who = Principal::admit(visitor).await?;
        if who.org.plan.as_str() == "enterprise" {
            return Ok(Self);
        }
        Err(Refused::new(StatusCode::PAYMENT_REQUIRED, "plan_required", "Reports are part of the plan Enterprise."))
    }
}

/// What caches of a CDN go by before `Cache-Control` (RFC 9213): the standard header, and those of one cache or another.
pub const CDN_CACHE_HEADERS: [&str; 3] = ["cdn-cache-control", "cloudflare-cdn-cache-control", "surrogate-control"];

/// The header in which the host's access log tells whom it saw.
const SEEN: &str = "x-seen";

/// What the host's access log tells of a request.
fn seen(visitor: Option<&Visitor>) -> String {
    let who = visitor.and_then(Visitor::known);
    who.map_or_else(|| "nobody".to_owned(), |who| who.user.email.to_string())
}

fn tenant(tenant: &Tenant) -> String {
    tenant.organization().name.to_string()
}
