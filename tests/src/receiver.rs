//! A receiver of webhooks on a socket, for the shipped sender: it keeps each delivery byte for byte, and answers as told, or not at
//! all.

use std::{
    net::SocketAddr,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    sync::watch,
};

/// A delivery as it came over the wire.
#[derive(Debug, Clone)]
pub struct Received {
    /// `POST /path HTTP/1.1`
    pub request_line: String,
    /// In order, names in lower case.
    pub headers: Vec<(String, String)>,
    /// As many bytes as `Content-Length` says.
    pub body: Vec<u8>,
}

impl Received {
    /// A header's only value.
    #[track_caller]
    pub fn header(&self, name: &str) -> &str {
        let values: Vec<&str> = self.headers.iter().filter(|(have, _)| have == name).map(|(_, value)| value.as_str()).collect();
        assert_eq!(values.len(), 1, "one {name}: {:?}", self.headers);
        values[0]
    }
}

/// The receiver.
#[derive(Debug, Clone)]
pub struct Receiver {
    address: SocketAddr,
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    answer: Mutex<Option<String>>,
    received: watch::Sender<Vec<Received>>,
}

impl Receiver {
    /// Listens on a port of its own and answers 200.
    pub async fn start() -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.expect("a free port");
        let address = listener.local_addr().expect("a bound socket");
        let answer = Mutex::new(Some("200 OK\r\n".to_owned()));
        let inner = Arc::new(Inner { answer, received: watch::Sender::new(Vec::new()) });
        let serving = Arc::clone(&inner);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(serve(stream, Arc::clone(&serving)));
            }
        });
        Self { address, inner }
    }

    /// Where it is reached.
    pub fn url(&self) -> String {
        format!("http://{}/in", self.address)
    }

    /// Answers with this status line and these headers from now on, each ended by CRLF.
    pub fn answer(&self, head: &str) {
        *self.inner.answer() = Some(head.to_owned());
    }

    /// Reads what it is sent and says nothing from now on.
    pub fn hang(&self) {
        *self.inner.answer() = None;
    }

    /// What it has received so far.
    pub fn received(&self) -> Vec<Received> {
        self.inner.received.borrow().clone()
    }

    /// How many deliveries it has received so far.
    pub fn count(&self) -> usize {
        self.inner.received.borrow().len()
    }

    /// Waits until it has received so many.
    pub async fn until(&self, count: usize) -> Vec<Received> {
        let mut received = self.inner.received.subscribe();
        received.wait_for(|received| received.len() >= count).await.expect("it listens").clone()
    }
}

impl Inner {
    fn answer(&self) -> MutexGuard<'_, Option<String>> {
        self.answer.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One connection, on which several deliveries may come.
async fn serve(mut stream: TcpStream, inner: Arc<Inner>) {
    let mut buffer = Vec::new();
    while let Some(received) = read(&mut stream, &mut buffer).await {
        inner.received.send_modify(|all| all.push(received));
        let answer = inner.answer().clone();
        let Some(head) = answer else { return std::future::pending().await };
        let answer = format!("HTTP/1.1 {head}Content-Length: 0\r\n\r\n");
        if stream.write_all(answer.as_bytes()).await.is_err() {
            return;
        }
    }
}

/// The next request; `None` when the caller hung up.
async fn read(stream: &mut TcpStream, buffer: &mut Vec<u8>) -> Option<Received> {
    let end = loop {
        if buffer.first().is_some_and(|byte| !byte.is_ascii_alphabetic()) {
            // TLS, or worse.
            let _ = stream.write_all(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n").await;
            return None;
        }
        match buffer.windows(4).position(|window| window == b"\r\n\r\n") {
            Some(at) => break at + 4,
            None => more(stream, buffer).await?,
        }
    };
    let head = String::from_utf8(buffer.drain(..end).collect()).expect("a head is text");
    let mut lines = head.split("\r\n").filter(|line| !line.is_empty());
    let request_line = lines.next().unwrap_or_default().to_owned();
    let header = |line: &str| line.split_once(':').map(|(name, value)| (name.to_lowercase(), value.trim().to_owned()));
    let headers: Vec<(String, String)> = lines.filter_map(header).collect();
    let length = headers.iter().find(|(name, _)| name == "content-length").and_then(|(_, value)| value.parse().ok());
    let length: usize = length.expect("a delivery says how long it is");
    while buffer.len() < length {
        more(stream, buffer).await?;
    }
    Some(Received { request_line, headers, body: buffer.drain(..length).collect() })
}

async fn more(stream: &mut TcpStream, buffer: &mut Vec<u8>) -> Option<()> {
    let mut block = [0; 8 * 1024];
    let read = stream.read(&mut block).await.ok().filter(|read| *read > 0)?;
    buffer.extend_from_slice(&block[..read]);
    Some(())
}
