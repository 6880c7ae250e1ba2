//! A fake server that stands in for a deployed one and misbehaves on demand: it answers each path with prepared bytes, slowly, for
//! ever, or not at all, and records the requests.

use std::{
    net::SocketAddr,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    task::JoinHandle,
};

/// What is answered to a request, given the number of its connection and its whole text; `None` says nothing and keeps the connection open.
type Script = dyn Fn(usize, &str) -> Option<Vec<u8>> + Send + Sync;

/// How many requests a connection carries.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Carries {
    One,
    Many,
}

/// The server; stopped when dropped.
#[derive(Debug)]
pub struct ScriptedServer {
    address: SocketAddr,
    asked: Arc<Mutex<Vec<String>>>,
    accepted: Arc<AtomicUsize>,
    accepting: JoinHandle<()>,
}

impl ScriptedServer {
    /// Follows the script from now on, and closes each connection after its answer.
    pub async fn start(script: impl Fn(&str) -> Option<Vec<u8>> + Send + Sync + 'static) -> Self {
        Self::following(Carries::One, Arc::new(move |_: usize, asked: &str| script(asked))).await
    }

    /// The same with connections that stay open, numbered from 0 as they come.
    pub async fn start_keeping(script: impl Fn(usize, &str) -> Option<Vec<u8>> + Send + Sync + 'static) -> Self {
        Self::following(Carries::Many, Arc::new(script)).await
    }

    async fn following(carries: Carries, script: Arc<Script>) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.expect("a free port");
        let address = listener.local_addr().expect("a bound socket");
        let asked = Arc::<Mutex<Vec<String>>>::default();
        let accepted = Arc::<AtomicUsize>::default();
        let (notes, count) = (Arc::clone(&asked), Arc::clone(&accepted));
        let accepting = tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                let (number, script, notes) = (count.fetch_add(1, Ordering::SeqCst), Arc::clone(&script), Arc::clone(&notes));
                tokio::spawn(async move {
                    loop {
                        let is_open = answer(&mut stream, number, &script, &notes).await.is_some();
                        if !is_open || carries == Carries::One {
                            return;
                        }
                    }
                });
            }
        });
        Self { address, asked, accepted, accepting }
    }

    /// `http://127.0.0.1:<port>`
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// How many connections have come.
    pub fn connections(&self) -> usize {
        self.accepted.load(Ordering::SeqCst)
    }

    /// Every request so far, as text.
    pub fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Drop for ScriptedServer {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

/// Answers the next request, which is small; `None` once the client has hung up.
async fn answer(stream: &mut TcpStream, connection: usize, script: &Arc<Script>, asked: &Mutex<Vec<String>>) -> Option<()> {
    let mut text = String::new();
    let mut block = [0; 8 * 1024];
    while !is_whole(&text) {
        match stream.read(&mut block).await {
            Ok(0) | Err(_) => return None,
            Ok(read) => text.push_str(&String::from_utf8_lossy(&block[..read])),
        }
    }
    asked.lock().unwrap_or_else(PoisonError::into_inner).push(text.clone());
    match script(connection, &text) {
        Some(answer) => stream.write_all(&answer).await.ok(), // a client that has read enough hangs up
        None => std::future::pending().await,
    }
}

fn is_whole(text: &str) -> bool {
    let Some((head, body)) = text.split_once("\r\n\r\n") else { return false };
    let length = head.lines().find_map(|line| line.to_ascii_lowercase().strip_prefix("content-length:")?.trim().parse().ok());
    body.len() >= length.unwrap_or(0_usize)
}
