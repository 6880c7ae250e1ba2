//! A host application on actix-web: its own pages at `/` and below `/app`, the latter for members only, and Tenant Auth below
//! `/api/v1`; one process and one SQLite file. The first start makes a demo organization and prints how its admin comes in.

mod demo;

use std::{
    net::{SocketAddr, TcpListener},
    path::PathBuf,
};

use actix_web::{App, HttpServer, web};
use clap::Parser;
use tenant_auth_actix::{Auth, Rejection, guard};
use tenant_auth_core::{Config, MasterKeys, Member, OrgAdmin, Page, Sqlite, TenantAuth, http::Gate};

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

// Under tokio's runtime and not actix's own: the service runs on the runtime it was built on, and that one uses every core.
#[tokio::main]
async fn main() -> Outcome<()> {
    let options = Options::parse();
    let listener = TcpListener::bind(options.listen)?;
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

    let worker = auth.worker(); // sweeps what has expired; with a mailer it also sends the mail
    tokio::spawn(async move { worker.run_until(std::future::pending()).await });
    let gate = Gate::new(auth.clone());
    let app = move || {
        let members = web::scope("/app").route("/me", web::get().to(me)).route("/team", web::get().to(team));
        App::new()
            .service(members.wrap(guard(&gate)))
            .route("/", web::get().to(|| async { "The host application's own page.\n" }))
            .service(tenant_auth_actix::routes(&auth))
    };
    Ok(HttpServer::new(app).listen(listener)?.run().await?)
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
