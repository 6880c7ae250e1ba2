//! Mounts Tenant Auth in an axum application: one catch-all below the path of the public URL, everything else stays the host's.
//!
//! ```no_run
//! # async fn example(auth: tenant_auth_core::TenantAuth) -> std::io::Result<()> {
//! use std::net::SocketAddr;
//!
//! let app = axum::Router::new()
//!     .route("/hello", axum::routing::get(|| async { "the host's own" }))
//!     .merge(tenant_auth_axum::routes(&auth));
//! let listener = tokio::net::TcpListener::bind("127.0.0.1:8080").await?;
//! // With connect info: the client's address is what failed logins and guesses are counted by. Without it (a Unix socket has none)
//! // nothing is counted by address, and the log says so once, as an error.
//! axum::serve(listener, app.into_make_service_with_connect_info::<SocketAddr>()).await
//! # }
//! ```
//!
//! The host's own routes are protected by [`guard`] and [`Auth`]; with a [`Gate`](tenant_auth_core::http::Gate) that asks a
//! deployed server this crate needs nothing mounted.
//!
//! ```
//! use axum::{Router, routing::get};
//! use tenant_auth_axum::{Auth, guard};
//! use tenant_auth_core::{Principal, http::Gate};
//!
//! async fn hello(Auth(principal): Auth<Principal>) -> String {
//!     format!("Hello {}", principal.user.name)
//! }
//!
//! # fn example(gate: Gate) -> Router {
//! Router::new().route("/app/hello", get(hello)).layer(guard(&gate))
//! # }
//! ```

#![cfg_attr(docsrs, feature(doc_cfg))]
#![warn(unnameable_types)]

mod guard;
#[cfg(feature = "service")]
mod routes;

pub use guard::{Auth, Guard, Rejection, guard};
#[cfg(feature = "panel")]
pub use routes::panel;
#[cfg(feature = "service")]
pub use routes::routes;
