//! The pages on actix-web.

use std::net::TcpListener;

use actix_web::{App, HttpServer, web};
use tenant_auth_actix::{Auth, Rejection, guard};
use tenant_auth_core::{Principal, http::Gate};

use crate::Outcome;

pub(crate) async fn serve(gate: Gate, listener: TcpListener) -> Outcome<()> {
    let app = move || {
        App::new()
            .route("/", web::get().to(|| async { "Open to everybody.\n" }))
            .route("/reports", web::get().to(reports))
            .route("/payroll", web::get().to(payroll))
            .wrap(guard(&gate))
    };
    Ok(HttpServer::new(app).listen(listener)?.run().await?)
}

async fn reports(Auth(visitor): Auth<Principal>) -> String {
    crate::reports(&visitor)
}

async fn payroll(Auth(visitor): Auth<Principal>) -> Result<String, Rejection> {
    Ok(crate::payroll(&visitor)?)
}
