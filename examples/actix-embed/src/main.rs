//! A host application on actix-web: its own page at `/`, Tenant Auth below `/api/v1`, one process and one SQLite file. The
//! first start makes a demo organization and prints how its admin comes in.

use std::{
    net::{SocketAddr, TcpListener},
    path::PathBuf,
};

use actix_web::{App, HttpServer, web};
use clap::Parser;
use tenant_auth_core::{Config, Error, MasterKeys, NewOrganization, Plan, Sqlite, TenantAuth};

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
        .store(Sqlite::open(&file.to_string_lossy(), 4).await?)
        .master_keys(MasterKeys::parse(&options.master_key.unwrap_or_else(MasterKeys::generate_text))?)
        .config(Config::new(url.parse()?))
        .build()
        .await?;
    invite_first_admin(&auth, &url).await?;

    let worker = auth.worker(); // sweeps what has expired; with a mailer it also sends the mail
    tokio::spawn(async move { worker.run_until(std::future::pending()).await });
    let app = move || {
        App::new()
            .route("/", web::get().to(|| async { "The host application's own page.\n" }))
            .service(tenant_auth_actix::routes(&auth))
    };
    Ok(HttpServer::new(app).listen(listener)?.run().await?)
}

/// Makes the demo organization, unless a former start did. Its admin comes in by the invite that every organization begins with.
async fn invite_first_admin(auth: &TenantAuth, url: &str) -> Outcome<()> {
    let organization = NewOrganization {
        name: "Acme Rockets".parse()?,
        slug: "acme".parse()?,
        plan: Plan::default(),
        app_url: Some(url.parse()?),
        admin_email: "ada@acme.example".parse()?,
    };
    println!("{url}/ is the host's page; stop with Ctrl-C");
    let registration = r#"{"name": "Ada Admin", "password": "mauve-otter-plinth"}"#;
    match auth.operator().create_organization(organization).await {
        Ok(invited) => println!(
            "Become acme's admin:\n\ncurl -i {url}/api/v1/org/invites/{}/accept -H 'X-Org-Slug: acme' --json '{registration}'\n",
            invited.token.expose()
        ),
        Err(Error::SlugTaken) => println!("The organization acme is there already."),
        Err(error) => return Err(error.into()),
    }
    Ok(())
}
