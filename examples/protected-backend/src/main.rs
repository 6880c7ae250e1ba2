//! A customer's backend: its pages are its own, and who may see them it asks a deployed Tenant Auth with an API key. The same pages
//! stand on axum and on actix-web; a real backend has one of the two.

mod on_actix;
mod on_axum;

use std::net::{SocketAddr, TcpListener};

use clap::{Parser, ValueEnum};
use tenant_auth_core::{
    Error, Principal,
    http::{Gate, OrganizationFrom, RemoteVerifier},
};

type Outcome<T> = Result<T, Box<dyn std::error::Error>>;

/// A backend that asks Tenant Auth who comes.
#[derive(Debug, Parser)]
struct Options {
    /// Which framework carries it.
    #[arg(long, value_enum, default_value_t = Framework::Axum)]
    framework: Framework,
    /// The public URL of the Tenant Auth server.
    #[arg(long, env = "AUTH_URL", default_value = "http://127.0.0.1:8080")]
    auth_url: String,
    /// The organization it serves.
    #[arg(long, default_value = "acme")]
    org: String,
    /// A key of that organization with the scope `verify`.
    #[arg(long, env = "API_KEY", hide_env_values = true)]
    api_key: String,
    /// Where to listen.
    #[arg(long, default_value = "127.0.0.1:3000")]
    listen: SocketAddr,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Framework {
    Axum,
    Actix,
}

#[tokio::main]
async fn main() -> Outcome<()> {
    let options = Options::parse();
    let remote = RemoteVerifier::new(&options.auth_url)?.key(&options.org, options.api_key)?;
    // It serves one organization only, so its visitors need not name it.
    let gate = Gate::new(remote).organization(OrganizationFrom::Fixed(options.org.parse()?));
    let listener = TcpListener::bind(options.listen)?;
    println!("The backend's pages: http://{}/reports and /payroll", listener.local_addr()?);
    match options.framework {
        Framework::Axum => on_axum::serve(gate, listener).await,
        Framework::Actix => on_actix::serve(gate, listener).await,
    }
}

/// A page for every active member.
fn reports(visitor: &Principal) -> String {
    format!("Reports of {} for {}\n", visitor.org.name, visitor.user.name)
}

/// A page for administrators only.
fn payroll(visitor: &Principal) -> Result<String, Error> {
    if visitor.is_admin() { Ok(format!("Payroll, shown to {}\n", visitor.user.email)) } else { Err(Error::AdminRequired) }
}
