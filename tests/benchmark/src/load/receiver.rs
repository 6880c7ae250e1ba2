//! Where webhooks lead: endpoints that are well, that fail, or that take a delivery and never answer, each on a port of its own. What
//! counts is when a delivery is there, so that is noted before it is answered.

use std::{
    net::{Ipv4Addr, SocketAddr},
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
};

use super::connection;
use crate::Failure;

/// How an endpoint answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mood {
    Well,
    Failing,
    Hanging,
}

/// When deliveries came, by the number in them: `"counter":<number>`.
#[derive(Debug, Clone, Default)]
pub(crate) struct Arrivals(Arc<Mutex<Vec<(usize, Instant)>>>);

/// One endpoint.
#[derive(Debug)]
pub(crate) struct Receiver {
    address: SocketAddr,
}

impl Receiver {
    /// Listens until the benchmark ends.
    pub(crate) async fn start(mood: Mood, arrivals: &Arrivals) -> Result<Self, Failure> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let receiver = Self { address: listener.local_addr()? };
        let arrivals = arrivals.clone();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let arrivals = arrivals.clone();
                tokio::spawn(async move { serve(stream, mood, &arrivals).await });
            }
        });
        Ok(receiver)
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}/{path}", self.address)
    }
}

impl Arrivals {
    pub(crate) fn count(&self) -> usize {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).len()
    }

    /// All that came since the last time.
    pub(crate) fn take(&self) -> Vec<(usize, Instant)> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Waits until so many have come, or too long.
    pub(crate) async fn reach(&self, count: usize, patience: Duration) {
        let deadline = Instant::now() + patience;
        while self.count() < count && Instant::now() < deadline {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    }

    fn note(&self, delivery: &[u8]) {
        let text = String::from_utf8_lossy(delivery);
        let digits =
            text.split(r#""counter":"#).nth(1).map(|rest| rest.chars().take_while(char::is_ascii_digit).collect::<String>());
        let counter = digits.and_then(|digits| digits.parse().ok()).unwrap_or(usize::MAX);
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push((counter, Instant::now()));
    }
}

async fn serve(mut stream: TcpStream, mood: Mood, arrivals: &Arrivals) -> Result<(), Failure> {
    stream.set_nodelay(true)?;
    let mut buffer = Vec::with_capacity(4 * 1024);
    loop {
        let whole = loop {
            if let Some((_, whole)) = connection::extent(&buffer) {
                break whole;
            }
            if stream.read_buf(&mut buffer).await? == 0 {
                return Ok(());
            }
        };
        arrivals.note(&buffer[..whole]);
        buffer.drain(..whole);
        let status = match mood {
            Mood::Well => "200 OK",
            Mood::Failing => "500 Internal Server Error",
            Mood::Hanging => std::future::pending().await,
        };
        stream.write_all(format!("HTTP/1.1 {status}\r\ncontent-length: 0\r\n\r\n").as_bytes()).await?;
    }
}
