use std::{env::var, error::Error, net::SocketAddr};

use axum::{Router, routing::get};
use tenant_auth_axum::{Auth, guard};
use tenant_auth_core::{
    Principal,
    http::{Gate, RemoteVerifier},
};

async fn reports(Auth(principal): Auth<Principal>) -> String {
    format!("Reports for {}\n", principal.user.name)
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    tracing_subscriber::fmt().with_writer(std::io::stderr).init(); // says why a request fails
    let remote = RemoteVerifier::new(&var("AUTH_URL")?)?.key("acme", var("API_KEY")?)?;
    let app = Router::new().route("/reports", get(reports)).layer(guard(&Gate::new(remote)));
    let listener = tokio::net::TcpListener::bind(var("LISTEN")?).await?;
    println!("http://{}", listener.local_addr()?);
    Ok(axum::serve(listener, app.into_make_service_with_connect_info::<SocketAddr>()).await?)
}
