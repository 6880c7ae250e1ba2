use std::{env::var, error::Error, net::TcpListener};

use actix_web::{App, HttpServer, web};
use tenant_auth_actix::{Auth, guard};
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
    let gate = Gate::new(remote);
    let app = move || App::new().route("/reports", web::get().to(reports)).wrap(guard(&gate));
    let listener = TcpListener::bind(var("LISTEN")?)?;
    println!("http://{}", listener.local_addr()?);
    Ok(HttpServer::new(app).listen(listener)?.run().await?)
}
