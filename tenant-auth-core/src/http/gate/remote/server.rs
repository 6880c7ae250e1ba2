//! The way to the remote server: one pool of connections, and the circuit breaker before it. A question that hangs throws the pool away:
//! where a failed machine or a firewall dropped the connections in silence, each idle one of them would swallow a question more, the
//! breaker's probes among them (behaviour.md, B212). A pool that answered nothing yet has no idle connection, for one that hangs is closed;
//! thrown away, it would only lose those that are being set up, and where that takes long none would ever be there to answer.

use std::{
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
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
    /// Whether an answer came over it.
    has_answered: Arc<AtomicBool>,
}

impl Pool {
    fn new(number: u64) -> Result<Self, reqwest::Error> {
        Ok(Self { client: client()?, number, has_answered: Arc::default() })
    }
}

impl Server {
    pub(super) fn new() -> Result<Self, reqwest::Error> {
        let pool = Mutex::new(Pool::new(0)?);
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
        if outcome.is_ok() {
            pool.has_answered.store(true, Ordering::Release);
        }
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
        if outcome.is_ok() {
            pool.has_answered.store(true, Ordering::Release);
        }
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
        if !hung.has_answered.load(Ordering::Acquire) {
            return;
        }
        if self.current().number != hung.number || self.is_renewing.swap(true, Ordering::AcqRel) {
            return;
        }
        if let Ok(next) = Pool::new(hung.number + 1) {
            let mut current = self.current();
            if current.number == hung.number {
                *current = next;
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
        .http1_only() // a connection of HTTP/2, which a host's other crates may have enabled, would stay after a question that hung
        .user_agent(concat!("tenant-auth/", env!("CARGO_PKG_VERSION")))
        .build()
}

#[cfg(test)]
mod tests {
    use tokio::{
        io::{AsyncReadExt, AsyncWriteExt},
        net::TcpListener,
    };

    use super::*;

    /// Answers the first question, and keeps every other waiting.
    async fn answering_once() -> String {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.expect("a free port");
        let url = format!("http://{}", listener.local_addr().expect("bound"));
        tokio::spawn(async move {
            let (mut first, _) = listener.accept().await.expect("somebody comes");
            let mut question = [0; 1_024];
            assert!(first.read(&mut question).await.is_ok_and(|read| read > 0));
            first.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n").await.expect("it is heard");
            let _others = (first, listener);
            std::future::pending::<()>().await;
        });
        url
    }

    async fn asked_in_background(server: &Server, pool: &Pool, url: &str) -> bool {
        server.ask_in_background(pool, pool.client.get(url), Duration::from_secs(1)).await.is_ok()
    }

    #[tokio::test]
    async fn a_question_in_the_background_that_hangs_throws_its_connections_away() {
        let (server, url) = (Server::new().expect("a client"), answering_once().await);
        let pool = server.pool();
        assert!(asked_in_background(&server, &pool, &url).await);
        assert_eq!(server.pool().number, 0);
        assert!(!asked_in_background(&server, &pool, &url).await);
        assert_eq!(server.pool().number, 1);
        server.throw_away(&pool);
        assert_eq!(server.pool().number, 1, "the first of many did it");
    }

    /// Runs [`a_question_in_the_background_that_hangs_throws_its_connections_away`] in a process of its own: the environment is read
    /// once, and is everybody's.
    #[test]
    fn no_proxy_of_the_environment_is_used() {
        let mut again = std::process::Command::new(std::env::current_exe().expect("this program"));
        for name in ["http_proxy", "HTTP_PROXY", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"] {
            again.env(name, "http://127.0.0.1:1"); // no server listens there
        }
        again.env_remove("no_proxy").env_remove("NO_PROXY");
        let test = "http::gate::remote::server::tests::a_question_in_the_background_that_hangs_throws_its_connections_away";
        let output = again.args(["--exact", test]).output().expect("it runs");
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && text.contains("1 passed"), "{text}");
    }

    #[tokio::test]
    async fn connections_over_which_nothing_was_answered_yet_are_kept() {
        let (server, silent) = (Server::new().expect("a client"), TcpListener::bind(("127.0.0.1", 0)).await.expect("a free port"));
        let url = format!("http://{}", silent.local_addr().expect("bound"));
        let pool = server.pool();
        assert!(!asked_in_background(&server, &pool, &url).await);
        let asked = server.ask(&pool, pool.client.get(&url), Duration::from_millis(50)).await;
        assert!(asked.is_err());
        assert_eq!(server.pool().number, 0, "where it takes long to connect, none would ever be there to answer");
    }
}
