//! The service in the host's process, as the command line describes it.

use std::{
    net::SocketAddr,
    path::{Path, PathBuf},
    sync::Arc,
};

use clap::Parser;
use tenant_auth_core::{Config, MasterKeys, Sqlite, TenantAuth, ports::SmtpMailer};

use crate::Outcome;

/// A host application with Tenant Auth inside.
#[derive(Debug, Parser)]
pub(crate) struct Options {
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
    pub(crate) listen: SocketAddr,
}

/// Opens the service, reached at `url`.
pub(crate) async fn open(options: &Options, temporary: &Path, url: &str) -> Outcome<TenantAuth> {
    let file = options.db.clone().unwrap_or_else(|| temporary.join("auth.db"));
    let master_key = options.master_key.clone().unwrap_or_else(MasterKeys::generate_text);
    let builder = TenantAuth::builder()
        .store(Sqlite::open(&file.to_string_lossy()).await?)
        .master_keys(MasterKeys::parse(&master_key)?)
        .config(Config::new(url.parse()?));
    let builder = match &options.smtp_url {
        Some(server) => builder.mailer(Arc::new(SmtpMailer::from_url(server, "Acme Rockets <no-reply@acme.example>")?)),
        None => builder,
    };
    Ok(builder.build().await?)
}
