//! A host application on axum: its own pages at `/hello` and below `/app`, the latter for members only, beside Tenant Auth with its
//! panel at `/` and its API below `/api/v1`; one process and one SQLite file. The first start makes a demo organization and prints how
//! its admin comes in.

mod demo;

use std::{net::SocketAddr, path::PathBuf, sync::Arc};

use axum::{Router, routing::get};
use clap::Parser;
use tenant_auth_axum::{Auth, Rejection, guard};
use tenant_auth_core::{
    Config, MasterKeys, Member, OrgAdmin, Page, Sqlite, TenantAuth,
    http::{Gate, OrganizationFrom},
    ports::SmtpMailer,
};
use tokio::{
    net::TcpListener,
    signal::{
        ctrl_c,
        unix::{SignalKind, signal},
    },
    sync::oneshot,
};

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
    /// The mail server, such as smtp://127.0.0.1:1025; without one, mails wait in the database.
    #[arg(long)]
    smtp_url: Option<String>,
    /// Where to listen.
    #[arg(long, default_value = "127.0.0.1:8080")]
    listen: SocketAddr,
}

#[tokio::main]
async fn main() -> Outcome<()> {
    let options = Options::parse();
    tracing_subscriber::fmt().with_writer(std::io::stderr).init();
    let listener = TcpListener::bind(options.listen).await?;
    let url = format!("http://{}", listener.local_addr()?);

    let temporary = tempfile::tempdir()?;
    let file = options.db.unwrap_or_else(|| temporary.path().join("auth.db"));
    let auth = TenantAuth::builder()
        .store(Sqlite::open(&file.to_string_lossy()).await?)
        .master_keys(MasterKeys::parse(&options.master_key.unwrap_or_else(MasterKeys::generate_text))?)
        .config(Config::new(url.parse()?));
    let auth = match options.smtp_url {
        Some(server) => auth.mailer(Arc::new(SmtpMailer::from_url(&server, "Acme Rockets <no-reply@acme.example>")?)),
        None => auth,
    };
    let auth = auth.build().await?;
    demo::invite_first_admin(&auth, &url).await?;

    let gate = Gate::new(auth.clone()).organization(OrganizationFrom::Session).redirecting();
    let app = Router::new()
        .route("/app/me", get(me))
        .route("/app/team", get(team))
        .layer(guard(&gate)) // what is added before it knows its visitors
        .route("/hello", get(|| async { "The host application's own page.\n" }))
        .merge(tenant_auth_axum::routes(&auth))
        .merge(tenant_auth_axum::panel(&auth))
        .into_make_service_with_connect_info::<SocketAddr>(); // failed logins are counted by the client's address
    let (end_worker, ended) = oneshot::channel::<()>();
    let worker = auth.worker(); // sweeps what has expired, calls webhooks; with a mailer it also sends the mail
    let worker = tokio::spawn(async move { worker.run_until(async { drop(ended.await) }).await });
    axum::serve(listener, app).with_graceful_shutdown(told_to_stop()).await?;
    drop(end_worker); // after the last request, whose mails are sent or kept
    Ok(worker.await?)
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

/// Ready at Ctrl-C and at SIGTERM.
async fn told_to_stop() {
    let mut terminated = signal(SignalKind::terminate()).expect("a handler");
    tokio::select! {
        _ = ctrl_c() => {}
        _ = terminated.recv() => {}
    }
}
