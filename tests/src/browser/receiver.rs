//! A receiver of webhooks for the browser suite: a real HTTP server on loopback that keeps the deliveries it gets and answers as
//! told.

use std::{
    net::{Ipv4Addr, SocketAddr},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use axum::{
    Router,
    body::Bytes,
    http::{HeaderMap, StatusCode},
    routing::post,
};
use tokio::time::Instant;

/// How long a delivery may be on its way.
const PATIENCE: Duration = Duration::from_secs(10);

/// What arrived.
#[derive(Debug, Clone)]
pub struct Received {
    /// With the signature among them.
    pub headers: HeaderMap,
    /// As it was sent.
    pub body: Bytes,
}

/// The endpoint.
#[derive(Debug)]
pub struct Receiver {
    address: SocketAddr,
    state: Arc<Mutex<State>>,
    task: tokio::task::JoinHandle<()>,
}

#[derive(Debug)]
struct State {
    answer: StatusCode,
    received: Vec<Received>,
}

impl Receiver {
    /// Listens, and is content with everything.
    pub async fn start() -> Self {
        let state = Arc::new(Mutex::new(State { answer: StatusCode::NO_CONTENT, received: Vec::new() }));
        let listener = tokio::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.expect("a free port");
        let address = listener.local_addr().expect("a bound socket");
        let keeper = Arc::clone(&state);
        let keep = move |headers: HeaderMap, body: Bytes| async move {
            let mut state = lock(&keeper);
            state.received.push(Received { headers, body });
            state.answer
        };
        let router: Router = Router::new().route("/hook", post(keep));
        let task = tokio::spawn(async move { axum::serve(listener, router).await.expect("the receiver runs") });
        Self { address, state, task }
    }

    /// Where it listens.
    pub fn url(&self) -> String {
        format!("http://{}/hook", self.address)
    }

    /// Answers with this status from now on.
    pub fn answer(&self, status: u16) {
        lock(&self.state).answer = StatusCode::from_u16(status).expect("a status");
    }

    /// Waits until so much has arrived.
    pub async fn has_received(&self, count: usize) {
        let patience = Instant::now() + PATIENCE;
        while self.received().len() < count {
            assert!(Instant::now() < patience, "{} arrived, not {count}", self.received().len());
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    /// What arrived so far.
    pub fn received(&self) -> Vec<Received> {
        lock(&self.state).received.clone()
    }
}

fn lock(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Drop for Receiver {
    fn drop(&mut self) {
        self.task.abort();
    }
}
