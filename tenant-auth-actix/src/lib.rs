//! Mounts Tenant Auth in an actix-web application: one catch-all below the path of the public URL, everything else stays the
//! host's.
//!
//! ```no_run
//! # async fn example(auth: tenant_auth_core::TenantAuth) -> std::io::Result<()> {
//! use actix_web::{App, HttpServer, web};
//!
//! HttpServer::new(move || {
//!     App::new()
//!         .route("/hello", web::get().to(|| async { "the host's own" }))
//!         .service(tenant_auth_actix::routes(&auth))
//! })
//! .bind("127.0.0.1:8080")?
//! .run()
//! .await
//! # }
//! ```
//!
//! The address of the socket is what failed logins and guesses are counted by. A Unix socket (`bind_uds`) has none: nothing is
//! counted by address then, and the log says so once, as an error.
//!
//! The host's own routes are protected by [`guard`] and [`Auth`]; with a [`Gate`](tenant_auth_core::http::Gate) that asks a
//! deployed server this crate needs nothing mounted.
//!
//! ```
//! use actix_web::{App, HttpResponse, web};
//! use tenant_auth_actix::{Auth, guard};
//! use tenant_auth_core::{Principal, http::Gate};
//!
//! async fn hello(Auth(principal): Auth<Principal>) -> HttpResponse {
//!     HttpResponse::Ok().body(format!("Hello {}", principal.user.name))
//! }
//!
//! # fn example(gate: Gate) {
//! App::new().service(web::scope("/app").route("/hello", web::get().to(hello)).wrap(guard(&gate)));
//! # }
//! ```

#![cfg_attr(docsrs, feature(doc_cfg))]
#![warn(unnameable_types)]

mod convert;
mod guard;

#[cfg(feature = "panel")]
use actix_web::Resource;
use actix_web::{HttpRequest, HttpResponse, Scope, http::ConnectionType, web};
pub use guard::{Auth, Rejection, guard, require};
#[cfg(feature = "panel")]
use tenant_auth_core::http::Pages;
use tenant_auth_core::{
    TenantAuth,
    http::{Body, Service},
};

/// Every operation of the service, to be added to the host's app at its root. Only paths below [`Service::base_path`] are taken.
pub fn routes(auth: &TenantAuth) -> Scope {
    let service = Service::new(auth);
    web::scope(service.base_path()).app_data(web::Data::new(service.clone())).default_service(web::to(carry))
}

/// The admin panel and the hosted pages that mails link to, to be added to the host's app at its root beside [`routes`]. Only the
/// exact paths of [`Pages::paths`] are taken.
#[cfg(feature = "panel")]
pub fn panel(auth: &TenantAuth) -> Resource {
    let pages = Pages::new(auth);
    web::resource(pages.paths()).app_data(web::Data::new(pages)).to(show)
}

/// Translates a request for a page.
#[cfg(feature = "panel")]
async fn show(pages: web::Data<Pages>, request: HttpRequest) -> HttpResponse {
    match convert::request(&request, Body::Complete(web::Bytes::new())) {
        Some(request) => convert::response(pages.answer(&request)),
        None => convert::response(Service::unreadable()),
    }
}

/// Translates one request and its answer.
async fn carry(service: web::Data<Service>, request: HttpRequest, payload: web::Payload) -> HttpResponse {
    let peer = request.peer_addr().map(|peer| peer.ip());
    let body = convert::body(payload).await;
    let is_late = matches!(body, Body::TimedOut);
    let mut response = match convert::request(&request, body) {
        Some(request) => convert::response(service.call(request, peer).await),
        None => convert::response(Service::unreadable()),
    };
    if is_late {
        // What still comes of the body would be taken for the next request.
        response.head_mut().set_connection_type(ConnectionType::Close);
    }
    response
}
