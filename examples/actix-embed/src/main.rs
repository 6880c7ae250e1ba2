//! A host application on actix-web: its own pages at `/hello` and below `/app`, the latter for members only, beside Tenant Auth with its
//! panel at `/` and its API below `/api/v1`; one process and one SQLite file. The first start makes a demo organization and prints how
//! its admin comes in.

mod demo;

use std::{
    net::{SocketAddr, TcpListener},
    path::PathBuf,
    sync::Arc,
};

use actix_web::{App, HttpServer, web};
use clap::Parser;
use tenant_auth_actix::{Auth, Rejection, guard};
use tenant_auth_core::{
    Config, MasterKeys, Member, OrgAdmin, Page, Sqlite, TenantAuth,
    http::{Gate, OrganizationFrom},
    ports::SmtpMailer,
};
use tokio::{
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

// Under tokio's runtime and not actix's own: the service runs on the runtime it was built on, and that one uses every core.
#[tokio::main]
async fn main() -> Outcome<()> {
    let options = Options::parse();
    tracing_subscriber::fmt().with_writer(std::io::stderr).init();
    let listener = TcpListener::bind(options.listen)?;
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

    let (end_worker, ended) = oneshot::channel::<()>();
    let worker = auth.worker(); // sweeps what has expired, calls webhooks; with a mailer it also sends the mail
    let worker = tokio::spawn(async move { worker.run_until(async { drop(ended.await) }).await });
    let gate = Gate::new(auth.clone()).organization(OrganizationFrom::Session).redirecting();
    let app = move || {
        let members = web::scope("/app").route("/me", web::get().to(me)).route("/team", web::get().to(team));
        App::new()
            .service(members.wrap(guard(&gate)))
            .route("/hello", web::get().to(|| async { "The host application's own page.\n" }))
            .service(tenant_auth_actix::routes(&auth))
            .service(tenant_auth_actix::panel(&auth))
    };
    HttpServer::new(app).shutdown_signal(told_to_stop()).listen(listener)?.run().await?;
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
