//! The way to the remote server: one pool of connections, and the circuit breaker before it. A question that hangs throws the pool away:
//! where a failed machine or a firewall dropped the connections in silence, each idle one of them would swallow a question more, the
//! breaker's probes among them (behaviour.md, B212).

use std::{
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use reqwest::{Client, RequestBuilder, redirect::Policy};

use super::{
    breaker::Breaker,
    exchange::{Answer, Failed, exchanged, unavailable},
};
use crate::error::Error;

const CONNECTING: Duration = Duration::from_secs(2);

/// The server, as the verifier and its background questions reach it.
#[derive(Debug)]
pub(super) struct Server {
    pool: Mutex<Pool>,
    /// Whether somebody is making the next pool.
    is_renewing: AtomicBool,
    breaker: Breaker,
}

/// Connections, for the questions that begin now.
#[derive(Debug, Clone)]
pub(super) struct Pool {
    pub(super) client: Client,
    /// How many pools there were before.
    number: u64,
}

impl Server {
    pub(super) fn new() -> Result<Self, reqwest::Error> {
        let pool = Mutex::new(Pool { client: client()?, number: 0 });
        Ok(Self { pool, is_renewing: AtomicBool::new(false), breaker: Breaker::default() })
    }

    /// The connections for a question.
    pub(super) fn pool(&self) -> Pool {
        self.current().clone()
    }

    /// Sends a question over its pool, unless the server let one time out a moment ago.
    pub(super) async fn ask(&self, pool: &Pool, question: RequestBuilder, patience: Duration) -> Result<Answer, Error> {
        let Some(attempt) = self.breaker.begin(Instant::now()) else {
            return Err(unavailable("it let a question time out a moment ago, and is not asked again yet"));
        };
        let outcome = exchanged(question, patience).await;
        match &outcome {
            Err(Failed::Hung) => {
                attempt.hung(Instant::now());
                self.throw_away(pool);
            }
            Ok(_) | Err(Failed::Unclear(_)) => attempt.answered(Instant::now()),
        }
        outcome.map_err(Error::from)
    }

    /// Sends a question that nobody waits for over its pool, whatever happened a moment ago. Its answer shows that the server does not hang, unless that
    /// is a proxy's before it.
    pub(super) async fn ask_in_background(
        &self,
        pool: &Pool,
        question: RequestBuilder,
        patience: Duration,
    ) -> Result<Answer, Error> {
        let outcome = exchanged(question, patience).await;
        match &outcome {
            Ok(answer) if answer.status == 200 => self.breaker.heard(Instant::now()),
            Err(Failed::Hung) => self.throw_away(pool),
            Ok(_) | Err(Failed::Unclear(_)) => {}
        }
        outcome.map_err(Error::from)
    }

    /// Has those who ask from now on connect anew. Of many questions that hung together the first one does it, and keeps nobody from asking
    /// while it reads the system's root certificates.
    fn throw_away(&self, hung: &Pool) {
        if self.current().number != hung.number || self.is_renewing.swap(true, Ordering::AcqRel) {
            return;
        }
        if let Ok(client) = client() {
            let mut current = self.current();
            if current.number == hung.number {
                *current = Pool { client, number: hung.number + 1 };
            }
        }
        self.is_renewing.store(false, Ordering::Release);
    }

    fn current(&self) -> MutexGuard<'_, Pool> {
        self.pool.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn client() -> Result<Client, reqwest::Error> {
    Client::builder()
        .connect_timeout(CONNECTING)
        .redirect(Policy::none())
        .no_proxy()
        .user_agent(concat!("tenant-auth/", env!("CARGO_PKG_VERSION")))
        .build()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_question_in_the_background_that_hangs_throws_its_connections_away() {
        let silent = std::net::TcpListener::bind(("127.0.0.1", 0)).expect("a free port");
        let url = format!("http://{}", silent.local_addr().expect("bound"));
        let server = Server::new().expect("a client");
        let pool = server.pool();
        let asked = server.ask_in_background(&pool, pool.client.get(url), Duration::from_millis(50)).await;
        assert!(asked.is_err());
        assert_eq!(server.pool().number, 1);
        server.throw_away(&pool);
        assert_eq!(server.pool().number, 1, "the first of many did it");
        server.throw_away(&server.pool());
        assert_eq!(server.pool().number, 2);
    }
}
