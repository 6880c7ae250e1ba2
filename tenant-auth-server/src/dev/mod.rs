//! The command `dev`: the whole service in one command, to try it or to develop against it. It creates what it needs (a SQLite
//! file, keys, a demo organization) in one directory and prints how to use it. Its credentials are in a file, its mails on a page and its
//! clock can be moved, so it answers this machine only.

mod clock;
mod demo;
mod explain;
mod files;
mod local;
mod mailbox;
mod requests;
mod seen;
mod start;
mod walkthrough;
mod webhooks;

use std::{io::Write, net::SocketAddr, path::PathBuf, sync::Arc};

use axum::{Extension, Router, middleware};
use clap::Args;
use tenant_auth_core::{Config, value::Origin};

use crate::{
    connections,
    drain::Signals,
    failure::Failure,
    logging,
    serve::{self, Front, Rules},
    settings::{self, Input},
};
use clock::MovableClock;
use files::Files;
use local::{Site, Tools};
use mailbox::Mailbox;
use requests::Requests;
use webhooks::Receiver;

/// For the few connections to the database file, beside those of clients.
const DATABASE_CONNECTIONS: u32 = 10;

/// Where to try it.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// Where to listen; loopback only [default: TENANT_AUTH_LISTEN, or 127.0.0.1:8080]
    #[arg(long, value_name = "ADDRESS:PORT")]
    listen: Option<SocketAddr>,
    /// The directory that keeps the database and the credentials
    #[arg(long, default_value = ".", value_name = "DIRECTORY")]
    dir: PathBuf,
}

/// Runs until a signal stops it.
///
/// # Errors
/// [`Failure`] when it must not or cannot start.
pub(crate) async fn run(options: &Options, input: &Input) -> Result<(), Failure> {
    let front = settings::for_dev_front(input)?;
    let listen = options.listen.unwrap_or(front.listen);
    if !listen.ip().is_loopback() {
        let refused = "'dev' keeps its secrets in the open and listens on this machine only. Give --listen a loopback address \
                       such as 127.0.0.1:8080, or use 'serve'.";
        return Err(Failure::Usage(refused.to_owned()));
    }
    logging::start_serving(None, &front.log_filter, front.log_format);
    let signals = Signals::catch()?;
    let listener = serve::listen(listen, "--listen".to_owned()).await?;
    let address = listener.local_addr().map_err(Failure::system("Asking for the listener's address"))?;
    let url = format!("http://{address}");
    let config = configured(input, &url, address)?;
    let public_url = config.public_url.as_str().trim_end_matches('/').to_owned();
    let site = Site::of(&config.public_url);

    let clock = Arc::new(MovableClock::default());
    let tools = Tools { mailbox: Arc::new(Mailbox::new(Arc::clone(&clock))), clock: Arc::clone(&clock), url };
    let files = Files::within(&options.dir);
    let proxies = config.network.trusted_proxies.clone();
    let (opened, demo) = demo::open(&files, config, &tools).await?;
    let text = walkthrough::text(&public_url, &tools.url, &demo, &files);
    logging::settle();
    std::io::stdout().write_all(text.as_bytes()).map_err(Failure::system("Printing the credentials to stdout"))?;

    let requests = Requests::new(Arc::clone(&clock), site.clone());
    let extra = Router::new()
        .merge(start::routes(&tools.url, site.clone()))
        .merge(mailbox::routes(tools.mailbox))
        .merge(clock::routes(Arc::clone(&clock), opened.auth.clone()))
        .merge(webhooks::routes(Receiver::of(&demo, clock)))
        .merge(requests::routes(Arc::clone(&requests)))
        .route_layer(middleware::from_fn(local::only))
        .route_layer(Extension(site));
    // No metrics: their one port would keep a second `dev` from starting.
    let wanted = u64::from(front.connections);
    let connections = connections::affordable(wanted, connections::raise_open_files(), DATABASE_CONNECTIONS);
    let rules = Rules { connections, proxies, drain_notice: front.drain_notice };
    let around = Box::new(move |app| requests.around(app));
    serve::until_stopped(opened, Front { public: listener, metrics: None, rules, extra, around }, signals).await
}

/// What the settings say, for a service on this machine.
fn configured(input: &Input, url: &str, address: SocketAddr) -> Result<Config, Failure> {
    let service = settings::for_dev(input, url)?;
    logging::warn_of(&service.warnings);
    let mut config = service.config;
    // The same server under its other name, which is another origin to a browser.
    config.browser.allowed_origins.extend(Origin::parse(&format!("http://localhost:{}", address.port())));
    Ok(config)
}
