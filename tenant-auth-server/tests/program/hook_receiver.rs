//! A receiver of webhooks that has good days and bad ones: it takes its time, sometimes a long one, and fails now and then. It keeps
//! every request whose signature another library than ours believes, and when it was at work on it.

use std::{
    collections::HashMap,
    io::{self, BufRead, BufReader, Write},
    net::{SocketAddr, TcpListener, TcpStream},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use http::{HeaderMap, HeaderName, HeaderValue};
use rand::RngExt;
use standardwebhooks::Webhook;

/// One request in so many is failed.
const FAILS: u32 = 8;
/// One in so many takes long.
const IS_SLOW: u32 = 6;
/// At most, and less than the sender waits.
const LONG: Duration = Duration::from_millis(600);
const SHORT: Duration = Duration::from_millis(40);

/// A request that was signed well.
#[derive(Debug, Clone)]
pub(crate) struct Received {
    pub(crate) path: String,
    /// `webhook-id`
    pub(crate) id: String,
    pub(crate) body: Vec<u8>,
    /// Whether the answer was 200, if the sender was still there to read it.
    pub(crate) taken: bool,
    pub(crate) began: Instant,
    pub(crate) ended: Instant,
}

#[derive(Debug, Clone)]
pub(crate) struct Receiver {
    address: SocketAddr,
    inner: Arc<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    secrets: Mutex<HashMap<String, String>>,
    received: Mutex<Vec<Received>>,
    faults: Mutex<Vec<String>>,
    at_work: AtomicUsize,
}

impl Receiver {
    /// Listens until the tests end.
    pub(crate) fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let receiver = Self { address: listener.local_addr().expect("a bound socket"), inner: Arc::default() };
        let inner = Arc::clone(&receiver.inner);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let inner = Arc::clone(&inner);
                // A sender that was killed leaves half a request behind.
                std::thread::spawn(move || drop(inner.serve(stream)));
            }
        });
        receiver
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// Deliveries to this path are signed with this secret.
    pub(crate) fn expect(&self, path: &str, secret: &str) {
        locked(&self.inner.secrets).insert(path.to_owned(), secret.to_owned());
    }

    /// Requests that have come and are not answered yet.
    pub(crate) fn at_work(&self) -> usize {
        self.inner.at_work.load(Ordering::SeqCst)
    }

    pub(crate) fn received(&self) -> Vec<Received> {
        locked(&self.inner.received).clone()
    }

    /// Requests that no receiver should believe.
    pub(crate) fn faults(&self) -> Vec<String> {
        locked(&self.inner.faults).clone()
    }
}

impl Inner {
    fn serve(&self, stream: TcpStream) -> io::Result<()> {
        let mut reader = BufReader::new(stream.try_clone()?);
        let mut writer = stream;
        while let Some((path, headers, body)) = request(&mut reader)? {
            self.at_work.fetch_add(1, Ordering::SeqCst);
            let taken = self.handle(path, &headers, body);
            self.at_work.fetch_sub(1, Ordering::SeqCst);
            let status = if taken { "200 OK" } else { "500 Internal Server Error" };
            write!(writer, "HTTP/1.1 {status}\r\ncontent-length: 0\r\n\r\n")?;
        }
        Ok(())
    }

    fn handle(&self, path: String, headers: &HeaderMap, body: Vec<u8>) -> bool {
        let began = Instant::now();
        let believed = self.verify(&path, headers, &body);
        let (taken, pause) = {
            let mut chance = crate::chance();
            let longest = if chance.random_ratio(1, IS_SLOW) { LONG } else { SHORT };
            (!chance.random_ratio(1, FAILS), chance.random_range(Duration::ZERO..longest))
        };
        std::thread::sleep(pause);
        match believed {
            Ok(()) => {
                let id = headers.get("webhook-id").and_then(|id| id.to_str().ok()).unwrap_or_default().to_owned();
                locked(&self.received).push(Received { path, id, body, taken, began, ended: Instant::now() });
            }
            Err(fault) => locked(&self.faults).push(format!("{path}: {fault}: {headers:?}")),
        }
        taken
    }

    fn verify(&self, path: &str, headers: &HeaderMap, body: &[u8]) -> Result<(), String> {
        let secret = locked(&self.secrets).get(path).cloned().ok_or("a path without a webhook")?;
        let secret = secret.strip_prefix("whs_").ok_or("a secret of another kind")?;
        Webhook::new(secret).and_then(|webhook| webhook.verify(body, headers)).map_err(|error| error.to_string())
    }
}

/// The next request of a connection; `None` when there is none.
fn request(reader: &mut impl BufRead) -> io::Result<Option<(String, HeaderMap, Vec<u8>)>> {
    let mut line = String::new();
    if reader.read_line(&mut line)? == 0 {
        return Ok(None);
    }
    let path = line.split(' ').nth(1).unwrap_or_default().to_owned();
    let mut headers = HeaderMap::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        let Some((name, value)) = line.trim_end().split_once(": ") else { break };
        let (name, value) = (HeaderName::try_from(name), HeaderValue::try_from(value));
        headers.append(name.map_err(io::Error::other)?, value.map_err(io::Error::other)?);
    }
    let length = headers.get("content-length").and_then(|length| length.to_str().ok()?.parse().ok()).unwrap_or(0);
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    Ok(Some((path, headers, body)))
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
