//! A fake server that stands in for a deployed one and misbehaves on demand: it answers each path with prepared bytes, slowly, for
//! ever, or not at all, and records the requests.

use std::{
    net::SocketAddr,
    sync::{Arc, Mutex, PoisonError},
};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    task::JoinHandle,
};

/// What is answered to a request, given its whole text; `None` says nothing and keeps the connection open.
type Script = dyn Fn(&str) -> Option<Vec<u8>> + Send + Sync;

/// The server; stopped when dropped.
#[derive(Debug)]
pub struct ScriptedServer {
    address: SocketAddr,
    asked: Arc<Mutex<Vec<String>>>,
    accepting: JoinHandle<()>,
}

impl ScriptedServer {
    /// Follows the script from now on.
    pub async fn start(script: impl Fn(&str) -> Option<Vec<u8>> + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.expect("a free port");
        let address = listener.local_addr().expect("a bound socket");
        let (script, asked): (Arc<Script>, _) = (Arc::new(script), Arc::<Mutex<Vec<String>>>::default());
        let notes = Arc::clone(&asked);
        let accepting = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(converse(stream, Arc::clone(&script), Arc::clone(&notes)));
            }
        });
        Self { address, asked, accepting }
    }

    /// `http://127.0.0.1:<port>`
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
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

/// One request for each connection; the client's requests are small.
async fn converse(mut stream: TcpStream, script: Arc<Script>, asked: Arc<Mutex<Vec<String>>>) {
    let mut text = String::new();
    let mut block = [0; 8 * 1024];
    while !is_whole(&text) {
        match stream.read(&mut block).await {
            Ok(0) | Err(_) => return,
            Ok(read) => text.push_str(&String::from_utf8_lossy(&block[..read])),
        }
    }
    asked.lock().unwrap_or_else(PoisonError::into_inner).push(text.clone());
    match script(&text) {
        Some(answer) => drop(stream.write_all(&answer).await), // a client that has read enough hangs up
        None => std::future::pending().await,
    }
}

fn is_whole(text: &str) -> bool {
    let Some((head, body)) = text.split_once("\r\n\r\n") else { return false };
    let length = head.lines().find_map(|line| line.to_ascii_lowercase().strip_prefix("content-length:")?.trim().parse().ok());
    body.len() >= length.unwrap_or(0_usize)
}
