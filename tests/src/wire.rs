//! HTTP/1.1 as bytes on a socket, written and read here rather than by a library that would repair what a scenario means to break.
//! One connection per request. Body and answer travel at the same time, because a server may refuse a long body before its end.

use std::{net::SocketAddr, time::Duration};

use memchr::memmem;
use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

/// The longest a server may take to answer, a body it waits for included; beyond, it hangs.
const PATIENCE: Duration = Duration::from_secs(45);

/// An answer as it came.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Raw {
    /// The status code.
    pub status: u16,
    /// In order, names as sent.
    pub headers: Vec<(String, String)>,
    /// Without its framing.
    pub body: Vec<u8>,
}

/// Sends a request and reads the one answer to it.
///
/// # Errors
/// A sentence, when what came back is no HTTP response, or nothing came in time.
pub async fn exchange(address: SocketAddr, head: &[u8], body: &[u8], headless: bool) -> Result<Raw, String> {
    let talk = async {
        let mut stream = TcpStream::connect(address).await.map_err(|error| format!("connecting: {error}"))?;
        stream.set_nodelay(true).map_err(|error| error.to_string())?;
        let (reader, mut writer) = stream.split();
        let write = async {
            // A server that has decided need not read on; what counts is what it answers.
            if writer.write_all(head).await.is_ok() {
                let _ = writer.write_all(body).await;
            }
            std::future::pending::<Result<Raw, String>>().await
        };
        tokio::select! { answer = read(reader, headless) => answer, never = write => never }
    };
    tokio::time::timeout(PATIENCE, talk).await.unwrap_or_else(|_| Err(format!("no answer within {PATIENCE:?}")))
}

/// A body in chunked transfer coding.
pub(crate) fn chunks(body: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(body.len() + 64);
    for chunk in body.chunks(16 * 1024) {
        out.extend_from_slice(format!("{:x}\r\n", chunk.len()).as_bytes());
        out.extend_from_slice(chunk);
        out.extend_from_slice(b"\r\n");
    }
    out.extend_from_slice(b"0\r\n\r\n");
    out
}

async fn read(reader: impl AsyncRead + Unpin, headless: bool) -> Result<Raw, String> {
    let mut incoming = Incoming { reader, buffer: Vec::new() };
    loop {
        let (status, headers) = incoming.head().await?;
        if (100..200).contains(&status) {
            continue;
        }
        let bodiless = headless || status == 204 || status == 304;
        let body = if bodiless { Vec::new() } else { incoming.body(&headers).await? };
        return Ok(Raw { status, headers, body });
    }
}

struct Incoming<R> {
    reader: R,
    buffer: Vec<u8>,
}

impl<R: AsyncRead + Unpin> Incoming<R> {
    async fn head(&mut self) -> Result<(u16, Vec<(String, String)>), String> {
        let head = self.until(b"\r\n\r\n").await?;
        let head = String::from_utf8_lossy(&head).into_owned();
        let mut lines = head.split("\r\n");
        let status_line = lines.next().unwrap_or_default();
        let status = status_line
            .split(' ')
            .nth(1)
            .and_then(|code| code.parse().ok())
            .ok_or_else(|| format!("no status line: {status_line:?}"))?;
        let headers = lines
            .filter(|line| !line.is_empty())
            .map(|line| line.split_once(':').map(|(name, value)| (name.to_owned(), value.trim().to_owned())))
            .collect::<Option<Vec<_>>>()
            .ok_or_else(|| format!("a malformed header in {head:?}"))?;
        Ok((status, headers))
    }

    async fn body(&mut self, headers: &[(String, String)]) -> Result<Vec<u8>, String> {
        let find = |name: &str| headers.iter().find(|(have, _)| have.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str());
        match (find("content-length"), find("transfer-encoding")) {
            (Some(length), None) => {
                let length = length.parse().map_err(|_| format!("Content-Length: {length}"))?;
                self.exactly(length).await
            }
            (None, Some("chunked")) => self.chunked().await,
            (None, None) => Err("a body of unstated length".to_owned()),
            other => Err(format!("contradictory framing: {other:?}")),
        }
    }

    async fn chunked(&mut self) -> Result<Vec<u8>, String> {
        let mut body = Vec::new();
        loop {
            let line = self.until(b"\r\n").await?;
            let size = String::from_utf8_lossy(&line).trim().to_owned();
            let size = usize::from_str_radix(&size, 16).map_err(|_| format!("a chunk of size {size:?}"))?;
            let chunk = self.exactly(size + 2).await?;
            if size == 0 {
                return Ok(body);
            }
            body.extend_from_slice(&chunk[..size]);
        }
    }

    async fn until(&mut self, end: &[u8]) -> Result<Vec<u8>, String> {
        loop {
            if let Some(at) = memmem::find(&self.buffer, end) {
                return Ok(self.taken(at + end.len()));
            }
            self.more().await?;
        }
    }

    async fn exactly(&mut self, length: usize) -> Result<Vec<u8>, String> {
        while self.buffer.len() < length {
            self.more().await?;
        }
        Ok(self.taken(length))
    }

    /// The first bytes, which the buffer holds.
    fn taken(&mut self, length: usize) -> Vec<u8> {
        let rest = self.buffer.split_off(length);
        std::mem::replace(&mut self.buffer, rest)
    }

    async fn more(&mut self) -> Result<(), String> {
        let mut block = [0; 8 * 1024];
        let read = self.reader.read(&mut block).await.map_err(|error| format!("reading: {error}"))?;
        if read == 0 {
            return Err(format!("the connection was closed after {:?}", String::from_utf8_lossy(&self.buffer)));
        }
        self.buffer.extend_from_slice(&block[..read]);
        Ok(())
    }
}
