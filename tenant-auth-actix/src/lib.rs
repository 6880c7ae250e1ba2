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
//! Each worker of actix-web has one thread and a runtime of its own. The service's endpoints, the admissions of [`Auth`] and the connections to
//! the database are on the runtime that the service was built on; a handler, and what it calls of the library, is polled by its worker.
//! So work that blocks belongs in `web::block`: it would stop whatever else the worker serves. A call that has ended keeps nothing from
//! others; what a call under way holds, or is given, waits until its worker goes on, and on SQLite that can be the one writer. So do not
//! block a worker, or run such calls as tasks of the service's runtime.
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
#[cfg(feature = "service")]
mod routes;

pub use guard::{Auth, Rejection, guard, require};
#[cfg(feature = "panel")]
pub use routes::panel;
#[cfg(feature = "service")]
pub use routes::routes;
