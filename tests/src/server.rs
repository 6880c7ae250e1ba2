//! The two adapters on real sockets. Both get the same service; neither gets a second chance to decide anything.

use std::net::{Ipv4Addr, SocketAddr, TcpListener};

use tenant_auth_core::TenantAuth;

use crate::Adapter;

/// A server on a port of its own, stopped when dropped.
#[derive(Debug)]
pub(crate) struct Server {
    address: SocketAddr,
    running: Running,
}

#[derive(Debug)]
enum Running {
    Axum(tokio::task::JoinHandle<()>),
    Actix { handle: actix_web::dev::ServerHandle, thread: Option<std::thread::JoinHandle<()>> },
}

/// A free port on loopback, ours from now on.
pub(crate) fn listener() -> TcpListener {
    TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port")
}

impl Server {
    /// Serves `auth` by `adapter`: the operations and the pages.
    pub(crate) fn start(auth: &TenantAuth, adapter: Adapter, listener: TcpListener) -> Self {
        let address = listener.local_addr().expect("a bound socket");
        let running = match adapter {
            Adapter::Axum => axum(auth, listener),
            Adapter::Actix => actix(auth.clone(), listener),
        };
        Self { address, running }
    }

    /// Where it listens.
    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }
}

fn axum(auth: &TenantAuth, listener: TcpListener) -> Running {
    listener.set_nonblocking(true).expect("a socket");
    let listener = tokio::net::TcpListener::from_std(listener).expect("inside a runtime");
    let router: axum::Router = tenant_auth_axum::routes(auth).merge(tenant_auth_axum::panel(auth));
    let service = router.into_make_service_with_connect_info::<SocketAddr>();
    Running::Axum(tokio::spawn(async move { axum::serve(listener, service).await.expect("the server runs") }))
}

/// Actix brings its own single-threaded runtime, on a thread of its own.
fn actix(auth: TenantAuth, listener: TcpListener) -> Running {
    let (started, handle) = std::sync::mpsc::channel();
    let thread = std::thread::spawn(move || {
        actix_web::rt::System::new().block_on(async move {
            let app = move || actix_web::App::new().service(tenant_auth_actix::routes(&auth)).service(tenant_auth_actix::panel(&auth));
            let server = actix_web::HttpServer::new(app).workers(1).disable_signals().listen(listener).expect("a socket").run();
            started.send(server.handle()).expect("somebody waits");
            server.await.expect("the server runs");
        });
    });
    Running::Actix { handle: handle.recv().expect("the server starts"), thread: Some(thread) }
}

impl Drop for Server {
    fn drop(&mut self) {
        match &mut self.running {
            Running::Axum(task) => task.abort(),
            Running::Actix { handle, thread } => {
                // The order is given at the call; the returned future only waits for it to be carried out, and so does join.
                drop(handle.stop(false));
                if let Some(thread) = thread.take() {
                    let _ = thread.join();
                }
            }
        }
    }
}
