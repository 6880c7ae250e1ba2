//! The pages on axum.

use std::net::{SocketAddr, TcpListener};

use axum::{Router, routing::get};
use tenant_auth_axum::{Auth, Rejection, guard};
use tenant_auth_core::{Principal, http::Gate};

use crate::Outcome;

pub(crate) async fn serve(gate: Gate, listener: TcpListener) -> Outcome<()> {
    let app = Router::new()
        .route("/reports", get(reports))
        .route("/payroll", get(payroll))
        .layer(guard(&gate))
        .route("/", get(|| async { "Open to everybody.\n" }));
    listener.set_nonblocking(true)?;
    let listener = tokio::net::TcpListener::from_std(listener)?;
    Ok(axum::serve(listener, app.into_make_service_with_connect_info::<SocketAddr>()).await?)
}

async fn reports(Auth(visitor): Auth<Principal>) -> String {
    crate::reports(&visitor)
}

async fn payroll(Auth(visitor): Auth<Principal>) -> Result<String, Rejection> {
    Ok(crate::payroll(&visitor)?)
}
