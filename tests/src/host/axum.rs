//! The host's routes on axum.

use std::net::{SocketAddr, TcpListener};

use axum::{
    Router,
    extract::Request,
    http::header::{CACHE_CONTROL, HeaderName},
    middleware::{Next, from_extractor, from_fn},
    response::{IntoResponse, Response},
    routing::{any, get},
};
use tenant_auth_axum::{Auth, Rejection, guard};
use tenant_auth_core::{
    Backend, Member, OrgAdmin, Principal, Tenant, TenantAuth,
    http::{Gate, Visitor},
};

use crate::server::Running;

pub(super) fn serve(gate: Gate, mounted: Option<TenantAuth>, listener: TcpListener) -> Running {
    let covered = Router::new().route("/page", any(|| async { "covered" })).route_layer(from_extractor::<Auth<Member>>());
    let nested =
        Router::new().route("/who", any(|Auth(who): Auth<Principal>| async move { super::principal(&who) })).layer(guard(&gate));
    let routes = Router::new()
        .route("/who", any(|Auth(who): Auth<Principal>| async move { super::principal(&who) }))
        .route("/member", any(|Auth(member): Auth<Member>| async move { super::member(&member) }))
        .route(
            "/twice",
            any(|Auth(who): Auth<Principal>, Auth(member): Auth<Member>| async move {
                format!("{} {}", who.user.email, super::member(&member))
            }),
        )
        .route("/keys", get(|Auth(admin): Auth<OrgAdmin>| async move { super::keys(admin).await.map_err(Rejection::from) }))
        .route("/backend", get(|Auth(backend): Auth<Backend>| async move { super::backend(&backend).map_err(Rejection::from) }))
        .route("/tenant", get(|Auth(tenant): Auth<Tenant>| async move { super::tenant(&tenant) }))
        .route("/greeting", get(|Auth(who): Auth<Option<Principal>>| async move { super::greeting(who.as_ref()) }))
        .route("/paid", get(|Auth(super::Paying): Auth<super::Paying>| async { "paid" }))
        .route("/choice", get(choice))
        .route("/cached", get(cached))
        .nest("/covered", covered)
        .nest("/nested", nested);
    let mut app = Router::new()
        .nest("/app", routes.clone())
        .layer(guard(&gate))
        .layer(from_fn(log))
        .nest("/t/{slug}/app", routes.layer(guard(&gate)))
        .route("/open", get(|| async { "open" }))
        .route("/unguarded", get(|Auth(_): Auth<Principal>| async { "never" }))
        .fallback(|| async { (axum::http::StatusCode::NOT_FOUND, "the host's own 404") });
    if let Some(auth) = &mounted {
        app = app.merge(tenant_auth_axum::routes(auth));
    }
    listener.set_nonblocking(true).expect("a socket");
    let listener = tokio::net::TcpListener::from_std(listener).expect("inside a runtime");
    let service = app.into_make_service_with_connect_info::<SocketAddr>();
    Running::Axum(tokio::spawn(async move { axum::serve(listener, service).await.expect("the server runs") }))
}

/// An access log around the guard.
async fn log(request: Request, next: Next) -> Response {
    let mut response = next.run(request).await;
    let seen = super::seen(response.extensions().get::<Visitor>());
    response.headers_mut().insert(super::SEEN, seen.parse().expect("a header's value"));
    response
}

/// A page for everybody, with something more for those who are known.
async fn choice(who: Result<Auth<Principal>, Rejection>) -> String {
    match who {
        Ok(Auth(who)) => super::principal(&who),
        Err(Rejection(refused)) => format!("nobody: {} {}", refused.status().as_u16(), refused.code()),
    }
}

/// A page that a cache would keep.
async fn cached(Auth(_): Auth<Principal>) -> impl IntoResponse {
    let of_cdns = super::CDN_CACHE_HEADERS.map(|name| (HeaderName::from_static(name), "max-age=60"));
    ([(CACHE_CONTROL, "public, max-age=60"), (HeaderName::from_static("set-cookie"), "theme=dark")], of_cdns, "cached")
}
