//! A host application on axum: its own pages at `/` and below `/app`, the latter for members only, and Tenant Auth below `/api/v1`;
//! one process and one SQLite file. The first start makes a demo organization and prints how its admin comes in.

mod demo;

use std::{net::SocketAddr, path::PathBuf};

use axum::{Router, routing::get};
use clap::Parser;
use tenant_auth_axum::{Auth, Rejection, guard};
use tenant_auth_core::{Config, MasterKeys, Member, OrgAdmin, Page, Sqlite, TenantAuth, http::Gate};
use tokio::net::TcpListener;

type Outcome<T> = Result<T, Box<dyn std::error::Error>>;

/// A host application with Tenant Auth inside.
#[derive(Debug, Parser)]
struct Options {
    /// The database file; a temporary one unless it is given.
    #[arg(long, requires = "master_key")]
    db: Option<PathBuf>,
    /// What protects the secrets in the file (openssl rand -base64 32); a new one for a temporary file.
    #[arg(long, env = "MASTER_KEY", hide_env_values = true)]
    master_key: Option<String>,
    /// Where to listen.
    #[arg(long, default_value = "127.0.0.1:8080")]
    listen: SocketAddr,
}

#[tokio::main]
async fn main() -> Outcome<()> {
    let options = Options::parse();
    let listener = TcpListener::bind(options.listen).await?;
    let url = format!("http://{}", listener.local_addr()?);

    let temporary = tempfile::tempdir()?;
    let file = options.db.unwrap_or_else(|| temporary.path().join("auth.db"));
    let auth = TenantAuth::builder()
        .store(Sqlite::open(&file.to_string_lossy()).await?)
        .master_keys(MasterKeys::parse(&options.master_key.unwrap_or_else(MasterKeys::generate_text))?)
        .config(Config::new(url.parse()?))
        .build()
        .await?;
    demo::invite_first_admin(&auth, &url).await?;

    let app = Router::new()
        .route("/app/me", get(me))
        .route("/app/team", get(team))
        .layer(guard(&Gate::new(auth.clone()))) // what is added before it knows its visitors
        .route("/", get(|| async { "The host application's own page.\n" }))
        .merge(tenant_auth_axum::routes(&auth))
        .into_make_service_with_connect_info::<SocketAddr>(); // failed logins are counted by the client's address
    let worker = auth.worker(); // sweeps what has expired; with a mailer it also sends the mail
    let serving = axum::serve(listener, app).with_graceful_shutdown(interrupted());
    let (served, ()) = tokio::join!(serving.into_future(), worker.run_until(interrupted()));
    Ok(served?)
}

/// For every active member.
async fn me(Auth(member): Auth<Member>) -> String {
    format!("{} of {}\n", member.user().name, member.organization().name)
}

/// For administrators; what the core refuses becomes the answer.
async fn team(Auth(admin): Auth<OrgAdmin>) -> Result<String, Rejection> {
    let members = admin.members(&Page::default()).await?.items;
    Ok(members.iter().map(|member| format!("{} {}\n", member.email, member.membership.role.as_str())).collect())
}

async fn interrupted() {
    let _ = tokio::signal::ctrl_c().await;
}
