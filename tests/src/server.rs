//! The test servers: the two adapters on real sockets, each inside a host application with pages of its own. Both get the same
//! service, so that a difference in their answers is the adapter's.

use std::net::{Ipv4Addr, SocketAddr, TcpListener};

use actix_web::{App, HttpResponse, web};
use tenant_auth_core::TenantAuth;

use crate::Adapter;

/// A page of the host application.
pub const HOST_PAGE: &str = "/host";
/// A file of the host's, among ours.
pub const HOST_ASSET: &str = "/assets/host.css";
/// What both say.
pub const HOST_TEXT: &str = "the host's own";
/// What the host says where nothing is.
pub const HOST_404: &str = "the host knows nothing of this";

/// A server on a port of its own, stopped when dropped.
#[derive(Debug)]
pub(crate) struct Server {
    address: SocketAddr,
    _running: Running,
}

/// A framework at work; dropping it stops it.
#[derive(Debug)]
pub(crate) enum Running {
    Axum(tokio::task::JoinHandle<()>),
    Actix { handle: actix_web::dev::ServerHandle, thread: Option<std::thread::JoinHandle<()>> },
}

/// A free port on loopback, ours from now on.
pub(crate) fn listener() -> TcpListener {
    TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port")
}

impl Server {
    /// Serves `auth` by `adapter`.
    pub(crate) fn start(auth: &TenantAuth, adapter: Adapter) -> Self {
        Self::start_on(listener(), auth, adapter)
    }

    /// Serves `auth` by `adapter` on a port that was chosen before.
    pub(crate) fn start_on(listener: TcpListener, auth: &TenantAuth, adapter: Adapter) -> Self {
        let address = listener.local_addr().expect("a bound socket");
        let running = match adapter {
            Adapter::Axum => axum(auth, listener),
            Adapter::Actix => actix(auth.clone(), listener),
        };
        Self { address, _running: running }
    }

    /// Where it listens.
    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }
}

fn axum(auth: &TenantAuth, listener: TcpListener) -> Running {
    listener.set_nonblocking(true).expect("a socket");
    let listener = tokio::net::TcpListener::from_std(listener).expect("inside a runtime");
    let router = axum::Router::new()
        .merge(tenant_auth_axum::routes(auth))
        .merge(tenant_auth_axum::panel(auth))
        .route(HOST_PAGE, axum::routing::get(|| async { HOST_TEXT }))
        .route(HOST_ASSET, axum::routing::get(|| async { HOST_TEXT }))
        .fallback(|| async { (axum::http::StatusCode::NOT_FOUND, HOST_404) });
    let service = router.into_make_service_with_connect_info::<SocketAddr>();
    Running::Axum(tokio::spawn(async move { axum::serve(listener, service).await.expect("the server runs") }))
}

/// Actix brings its own single-threaded runtime, on a thread of its own.
fn actix(auth: TenantAuth, listener: TcpListener) -> Running {
    let (started, handle) = std::sync::mpsc::channel();
    let thread = std::thread::spawn(move || {
        actix_web::rt::System::new().block_on(async move {
            let app = move || {
                App::new()
                    .service(tenant_auth_actix::routes(&auth))
                    .service(tenant_auth_actix::panel(&auth))
                    .route(HOST_PAGE, web::get().to(|| async { HOST_TEXT }))
                    .route(HOST_ASSET, web::get().to(|| async { HOST_TEXT }))
                    .default_service(web::to(|| async { HttpResponse::NotFound().body(HOST_404) }))
            };
            let server = actix_web::HttpServer::new(app).workers(1).disable_signals().listen(listener).expect("a socket").run();
            started.send(server.handle()).expect("somebody waits");
            server.await.expect("the server runs");
        });
    });
    Running::Actix { handle: handle.recv().expect("the server starts"), thread: Some(thread) }
}

impl Drop for Running {
    fn drop(&mut self) {
        match self {
            Self::Axum(task) => task.abort(),
            Self::Actix { handle, thread } => {
                // The order is given at the call; the returned future only waits for it to be carried out, and so does join.
                drop(handle.stop(false));
                if let Some(thread) = thread.take() {
                    let _ = thread.join();
                }
            }
        }
    }
}
