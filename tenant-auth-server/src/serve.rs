//! The command `serve`: the production server. It waits for its database, migrates it, answers requests, runs the worker beside
//! them, and shuts down gracefully. Listening starts last, so that an open port means a working service.

use std::{
    net::SocketAddr,
    sync::Arc,
    time::{Duration, Instant},
};

use axum::Router;
use ipnet::IpNet;
use tenant_auth_core::{BuildError, Error, SchemaError, Store, StoreOptions, TenantAuth, config::SetupError, ports::Mailer};
use tokio::{
    net::TcpListener,
    task::{JoinError, JoinHandle},
};

use crate::{
    answer,
    connections::{self, ConnectionSlots},
    database_mark::DatabaseMark,
    drain::{Drain, Signals},
    failure::Failure,
    health, logging, metrics,
    settings::{self, Deployment, Input, Server},
    traces::{self, Traces},
};

/// How long the start waits for the database, as when a whole machine restarts.
const DATABASE_PATIENCE: Duration = Duration::from_secs(30);
const DATABASE_PAUSE: Duration = Duration::from_secs(1);

/// Runs the server until a signal stops it.
///
/// # Errors
/// [`Failure`] when it must not or cannot start.
pub(crate) async fn run(input: &Input) -> Result<(), Failure> {
    let settings = settings::for_server(input)?;
    let traces = Traces::to(settings.otlp_endpoint.as_ref())?;
    logging::start_serving(traces.layer(), &settings.log_filter, settings.log_format);
    logging::warn_of(&settings.deployment.warnings);
    let outcome = serve(&settings).await;
    traces.flush().await;
    outcome
}

async fn serve(settings: &Server) -> Result<(), Failure> {
    let mut signals = Signals::catch()?;
    let open_files = connections::raise_open_files();
    let opened = tokio::select! {
        opened = open_patiently(settings) => opened?,
        () = signals.received() => return Ok(()), // told to stop before there was anything to stop
    };
    let metrics = match settings.metrics_listen {
        Some(address) => Some(listen(address, settings::METRICS_LISTEN.variable()).await?),
        None => None,
    };
    let public = listen(settings.listen, settings::LISTEN.variable()).await?;
    let deployment = &settings.deployment;
    let rules = Rules {
        connections: connections::affordable(u64::from(settings.connections), open_files, deployment.database.connections),
        proxies: deployment.config.network.trusted_proxies.clone(),
        drain_notice: settings.drain_notice,
    };
    let front = Front { public, metrics, rules, extra: Router::new(), around: Box::new(|app| app) };
    logging::settle();
    until_stopped(opened, front, signals).await
}

/// Waits for a database that is starting, too; not for one that refuses us. A SQLite file that cannot be opened will not repair
/// itself.
async fn open_patiently(settings: &Server) -> Result<Opened, Failure> {
    let mailer = settings.mailer()?.map(|mailer| Arc::new(mailer) as Arc<dyn Mailer>);
    let deadline = Instant::now() + DATABASE_PATIENCE;
    loop {
        match open(&settings.deployment, mailer.clone()).await {
            Err(Failure::DatabaseAway(error)) if settings.deployment.database.is_remote() && Instant::now() < deadline => {
                tracing::warn!(error = %error.causes(), "the database does not answer yet; trying again");
                tokio::time::sleep(DATABASE_PAUSE).await;
            }
            outcome => return outcome,
        }
    }
}

/// The service, and what is to be closed after it.
pub(crate) struct Opened {
    pub(crate) auth: TenantAuth,
    pub(crate) store: Store,
}

/// Opens the service as the settings describe it.
///
/// # Errors
/// [`Failure`], naming the setting that is in the way where one is.
pub(crate) async fn open(deployment: &Deployment, mailer: Option<Arc<dyn Mailer>>) -> Result<Opened, Failure> {
    open_by(deployment.database.options(), deployment, mailer).await
}

/// The same with other options of the database.
///
/// # Errors
/// As [`open`].
pub(crate) async fn open_by(
    options: StoreOptions,
    deployment: &Deployment,
    mailer: Option<Arc<dyn Mailer>>,
) -> Result<Opened, Failure> {
    let mark = DatabaseMark::of(&deployment.database)?;
    let store = Store::open_with(&deployment.database.url, options).await.map_err(Failure::of_opening)?;
    mark.keep();
    let builder = TenantAuth::builder().store(store.clone());
    let builder = builder.master_keys(deployment.master_keys.clone()).config(deployment.config.clone());
    let builder = match mailer {
        Some(mailer) => builder.mailer(mailer),
        None => builder.mails_leave_elsewhere(), // `serve` has its own warning, and commands leave it to `serve`
    };
    let auth = builder.build().await.map_err(|error| Failure::of_building(error, deployment))?;
    Ok(Opened { auth, store })
}

/// Binds the address; `setting` is how to choose another.
///
/// # Errors
/// [`Failure::AddressInUse`], or what else the system says.
pub(crate) async fn listen(address: SocketAddr, setting: String) -> Result<TcpListener, Failure> {
    connections::bind(address).map_err(|cause| match cause.kind() {
        std::io::ErrorKind::AddrInUse => Failure::AddressInUse(address, setting),
        _ => Failure::System { doing: format!("Listening on {address} (choose another address with {setting})"), cause },
    })
}

/// Where and how the server is reached.
pub(crate) struct Front {
    /// The public listener.
    pub(crate) public: TcpListener,
    /// The listener for Prometheus, and for health checks when the public listener has reached its connection limit.
    pub(crate) metrics: Option<TcpListener>,
    pub(crate) rules: Rules,
    /// What the public listener answers beside the service.
    pub(crate) extra: Router,
    /// What stands around all of it.
    pub(crate) around: Box<dyn FnOnce(Router) -> Router + Send>,
}

/// The connection limits and the notice of a shutdown.
pub(crate) struct Rules {
    /// The connection limit of the public listener.
    pub(crate) connections: usize,
    /// Trusted proxies, whose connections are not counted as one client's.
    pub(crate) proxies: Vec<IpNet>,
    /// How long a stopping server goes on answering while it says that it is not ready.
    pub(crate) drain_notice: Duration,
}

/// The connection limit of the metrics listener: it serves few clients, and must not use up the file descriptors.
pub(crate) const METRICS_CONNECTIONS: usize = 32;

/// Answers requests on the listeners and runs the worker until a signal comes, then shuts down gracefully.
///
/// # Errors
/// [`Failure`] when a listener or the worker ends by itself: a supervisor should start the program again.
pub(crate) async fn until_stopped(opened: Opened, front: Front, mut signals: Signals) -> Result<(), Failure> {
    let Opened { auth, store } = opened;
    let Front { public, metrics, rules, extra, around } = front;
    let address = address_of(&public)?;
    let drain = Drain::new(rules.drain_notice);
    let slots = ConnectionSlots::new(rules.connections, rules.proxies);
    let health = health::routes(auth.clone(), drain.clone());
    let app = tenant_auth_axum::routes(&auth)
        .merge(tenant_auth_axum::panel(&auth))
        .merge(health.clone())
        .merge(extra)
        .fallback(answer::not_found)
        .method_not_allowed_fallback(answer::method_not_allowed);
    let app = traces::continued(around(app));
    let mut server = tokio::spawn(connections::serve(public, app, Arc::clone(&slots), drain.clone()));
    let mut addresses = Vec::new();
    let mut metrics_server = None;
    if let Some(listener) = metrics {
        let address = address_of(&listener)?;
        let app = metrics::routes(auth.clone(), slots, health);
        let own_slots = ConnectionSlots::new(METRICS_CONNECTIONS, Vec::new());
        metrics_server = Some(tokio::spawn(connections::serve(listener, app, own_slots, drain.clone())));
        addresses.push(format!("metrics are at http://{address}/metrics"));
        tracing::info!(%address, "listening for Prometheus");
    }
    let (worker, closed) = (auth.worker(), drain.closed());
    let mut worker = tokio::spawn(async move { worker.run_until(closed).await });

    addresses.push(format!("tenant-auth-server {} listens on http://{address}", env!("CARGO_PKG_VERSION")));
    logging::announce(&addresses);
    tracing::info!(%address, "listening");

    tokio::select! {
        () = signals.received() => {}
        ended = &mut server => return Err(Failure::Service(format!("The server ended by itself: {ended:?}. Start it again."))),
        gone = store.replaced() => return Err(Failure::Service(format!("The server ends: {}.", gone.causes()))),
        ended = ended(&mut metrics_server) => {
            return Err(Failure::Service(format!("The metrics listener ended by itself: {ended:?}. Start the server again.")));
        }
        ended = &mut worker => return Err(Failure::Service(format!("The worker ended by itself: {ended:?}. Start the server again."))),
    }
    tracing::info!(
        "stopping: not ready any more; requests are answered until load balancers know, then those in flight are finished"
    );
    let stopped = async {
        drain.begin().await;
        let _ = tokio::join!(&mut server, &mut worker);
        if let Some(metrics_server) = metrics_server {
            let _ = metrics_server.await;
        }
        store.close().await; // SQLite then folds its write-ahead log into the file
    };
    tokio::select! {
        () = stopped => tracing::info!("stopped"),
        () = tokio::time::sleep(drain.patience()) => tracing::warn!("stopped with requests or mails in flight: their 30 s are over"),
        () = signals.received() => tracing::warn!("stopped at once by a second signal"),
    }
    Ok(())
}

/// The end of a task; never, where there is none.
async fn ended<T>(task: &mut Option<JoinHandle<T>>) -> Result<T, JoinError> {
    match task {
        Some(task) => task.await,
        None => std::future::pending().await,
    }
}

fn address_of(listener: &TcpListener) -> Result<SocketAddr, Failure> {
    listener.local_addr().map_err(Failure::system("Asking for the listener's address"))
}

/// The refusal of master keys that do not open what a start needs.
pub(crate) fn wrong_master_key(deployment: &Deployment) -> settings::InvalidSettings {
    settings::InvalidSettings::setting(
        &deployment.master_keys_from,
        "opens none of the sealed values in this database. Give the key it was set up with, after the new one if you changed it.",
    )
}

impl Failure {
    /// A database that could not be opened.
    pub(crate) fn of_opening(error: SetupError) -> Self {
        match error {
            SetupError::Config(error) => settings::InvalidSettings::from(error).into(),
            SetupError::Failed(Error::Internal(cause)) if !cause.is::<SchemaError>() => {
                let reason = format!("names a database that refuses us: {cause}");
                settings::InvalidSettings::setting(&settings::DATABASE_URL, reason).into()
            }
            SetupError::Failed(other) => other.into(),
            other => Self::Service(other.to_string()),
        }
    }

    /// A service that could not be put together on a database that was opened.
    fn of_building(error: BuildError, deployment: &Deployment) -> Self {
        match error {
            BuildError::MasterKey => wrong_master_key(deployment).into(),
            BuildError::Config(error) => settings::InvalidSettings::from(error).into(),
            BuildError::Failed(error) => error.into(),
            other => Self::Service(other.to_string()),
        }
    }
}
