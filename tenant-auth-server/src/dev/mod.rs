//! The command `dev`: the whole service in one command, to try it or to develop against it. It creates what it needs (a SQLite
//! file, keys, a demo organization) in one directory and prints how to use it. Its credentials are in a file and its mails on a
//! page, so it answers this machine only.

mod demo;
mod files;
mod mailbox;
mod walkthrough;

use std::{io::Write, net::SocketAddr, path::PathBuf, sync::Arc, time::Duration};

use clap::Args;
use tenant_auth_core::{Config, value::Origin};
use url::Url;

use crate::{
    drain::Signals,
    failure::Failure,
    logging,
    serve::{self, Front, Rules},
    settings::LogFormat,
};
use files::Files;
use mailbox::Mailbox;

/// Enough for every tab of one developer.
const CONNECTIONS: usize = 256;

/// Where to try it.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// Where to listen; loopback only
    #[arg(long, default_value = "127.0.0.1:8080", value_name = "ADDRESS:PORT")]
    listen: SocketAddr,
    /// The directory that keeps the database and the credentials
    #[arg(long, default_value = ".", value_name = "DIRECTORY")]
    dir: PathBuf,
}

/// Runs until a signal stops it.
///
/// # Errors
/// [`Failure`] when it must not or cannot start.
pub(crate) async fn run(options: &Options) -> Result<(), Failure> {
    if !options.listen.ip().is_loopback() {
        let refused = "'dev' keeps its secrets in the open and listens on this machine only. Give --listen a loopback address \
                       such as 127.0.0.1:8080, or use 'serve'.";
        return Err(Failure::Usage(refused.to_owned()));
    }
    logging::start("info,sqlx=warn", LogFormat::Text);
    let signals = Signals::catch()?;
    let listener = serve::listen(options.listen, "--listen".to_owned()).await?;
    let address = listener.local_addr().map_err(Failure::system("Asking for the listener's address"))?;
    let public_url = format!("http://{address}");
    let mut config = Config::new(Url::parse(&public_url).map_err(|error| Failure::Service(format!("{public_url}: {error}")))?);
    // The same server under its other name, which is another origin to a browser.
    config.browser.allowed_origins.extend(Origin::parse(&format!("http://localhost:{}", address.port())));

    // A developer runs webhook receivers on this machine.
    config.webhooks.allow_private_networks = true;

    let mailbox = Arc::new(Mailbox::default());
    let files = Files::within(&options.dir);
    let (opened, demo) = demo::open(&files, config, Arc::clone(&mailbox)).await?;
    let text = walkthrough::text(&public_url, &demo, &files);
    std::io::stdout().write_all(text.as_bytes()).map_err(Failure::system("Printing the credentials to stdout"))?;
    // No metrics: their one port would keep a second `dev` from starting.
    let rules = Rules { connections: CONNECTIONS, proxies: Vec::new(), drain_notice: Duration::ZERO };
    let front = Front { public: listener, metrics: None, rules, extra: mailbox::routes(mailbox) };
    serve::until_stopped(opened, front, signals).await
}
