use std::{
    error::Error,
    fmt::Display,
    io::IsTerminal,
    net::{SocketAddr, TcpListener},
    process::ExitCode,
    sync::Arc,
    time::Duration,
};

use actix_web::{App, HttpResponse, HttpServer, web};
use tenant_auth_actix::{Auth, guard, panel, routes};
use tenant_auth_core::{
    Config, MasterKeys, Member, Store, TenantAuth,
    config::Network,
    http::{Gate, OrganizationFrom},
    operator::NewOrganization,
    ports::{HttpSender, SmtpMailer},
};
use tokio::{
    signal::{
        ctrl_c,
        unix::{SignalKind, signal},
    },
    sync::oneshot,
    time::timeout,
};
use tracing_subscriber::EnvFilter;

async fn reports(Auth(member): Auth<Member>) -> String {
    format!("Reports for {} of {}\n", member.user().name, member.organization().name)
}

async fn ready(auth: web::Data<TenantAuth>) -> HttpResponse {
    auth.ready().await.map_or_else(|_| HttpResponse::ServiceUnavailable().finish(), |()| HttpResponse::Ok().finish())
}

#[tokio::main]
async fn main() -> ExitCode {
    let lines =
        EnvFilter::try_from_default_env().unwrap_or_else(|_| "info,sqlx::postgres::notice=warn,tenant_auth::requests=debug".into());
    tracing_subscriber::fmt().with_env_filter(lines).with_ansi(std::io::stdout().is_terminal()).init();
    match run().await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            tracing::error!("{error}");
            ExitCode::FAILURE
        }
    }
}

async fn run() -> Result<(), Box<dyn Error>> {
    let mut config = Config::new(setting("PUBLIC_URL", str::parse)?);
    config.product.name = "Acme Reports".parse()?;
    config.network = setting("TRUSTED_PROXIES", Network::behind)?;
    let master_keys = setting("MASTER_KEY", MasterKeys::parse)?;
    let from = setting("MAIL_FROM", |from| SmtpMailer::from_url("smtp://localhost", from).map(|_| from.to_owned()))?;
    let mailer = setting("SMTP_URL", |url| SmtpMailer::from_url(url, &from))?;
    let admin = setting("ADMIN_EMAIL", str::parse)?;
    let address = setting("LISTEN", str::parse::<SocketAddr>)?;
    let database = setting("DATABASE_URL", str::parse::<String>)?; // sqlite:auth.db or postgres://user:password@host/name
    let store = Store::open(&database).await.map_err(|error| format!("DATABASE_URL: {error}"))?;
    let auth = TenantAuth::builder()
        .store(store.clone())
        .master_keys(master_keys)
        .config(config)
        .mailer(Arc::new(mailer))
        .sender(Arc::new(HttpSender::new()?))
        .build()
        .await?;
    let acme = NewOrganization::new("Acme".parse()?, "acme".parse()?, admin);
    match auth.operator().create_organization(acme).await {
        Ok(_) | Err(tenant_auth_core::Error::SlugTaken) => {} // its admin is invited by mail; a later start finds it there
        Err(error) => return Err(error.into()),
    }

    let worker = auth.worker();
    let gate = Gate::new(auth.clone()).organization(OrganizationFrom::Session).redirecting();
    let app = move || {
        App::new()
            .app_data(web::Data::new(auth.clone()))
            .service(web::resource("/reports").get(reports).wrap(guard(&gate)))
            .route("/health/live", web::get().to(HttpResponse::Ok))
            .route("/health/ready", web::get().to(ready))
            .service(routes(&auth))
            .service(panel(&auth))
    };

    let (end_worker, ended) = oneshot::channel::<()>();
    let worker = tokio::spawn(async move { worker.run_until(async { drop(ended.await) }).await });
    let listener = TcpListener::bind(address).map_err(|error| format!("LISTEN: {error}"))?;
    tracing::info!("listening on http://{}", listener.local_addr()?);
    let server = HttpServer::new(app).shutdown_signal(told_to_stop()).shutdown_timeout(20);
    server.listen(listener)?.run().await?; // requests under way are answered, for 20 s
    drop(end_worker); // and only then: what they queued is sent, or kept for the next start
    worker.await?;
    let _ = timeout(Duration::from_secs(5), store.close()).await; // whoever was too slow may hold a connection
    Ok(())
}

/// What the environment says, read as what it stands for; an error names the variable.
fn setting<T, E: Display>(name: &str, read: impl FnOnce(&str) -> Result<T, E>) -> Result<T, String> {
    let text = std::env::var(name).map_err(|_| format!("{name}: is not set, or no text"))?;
    read(&text).map_err(|error| format!("{name}: {error}"))
}

/// Ready at Ctrl-C, and at SIGTERM, by which systemd and containers end a program.
async fn told_to_stop() {
    let mut terminated = signal(SignalKind::terminate()).expect("a handler");
    tokio::select! { _ = ctrl_c() => {} _ = terminated.recv() => {} }
}
