//! A client that does no more than it must: the load shares a machine with what it measures.

use std::net::SocketAddr;

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

use crate::Failure;

/// One keep-alive connection.
#[derive(Debug)]
pub(crate) struct Connection {
    stream: TcpStream,
    buffer: Vec<u8>,
}

/// A response, in the connection's buffer.
#[derive(Debug)]
pub(crate) struct Answer<'a> {
    /// Status line and headers.
    pub(crate) head: &'a str,
    pub(crate) body: &'a str,
}

impl Connection {
    pub(crate) async fn open(address: SocketAddr) -> Result<Self, Failure> {
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        Ok(Self { stream, buffer: Vec::with_capacity(8 * 1024) })
    }

    /// Sends a request and waits for the whole answer.
    pub(crate) async fn exchange(&mut self, request: &[u8]) -> Result<Answer<'_>, Failure> {
        self.stream.write_all(request).await?;
        self.buffer.clear();
        loop {
            if self.stream.read_buf(&mut self.buffer).await? == 0 {
                return Err("the server closed a connection".into());
            }
            if let Some((head, whole)) = extent(&self.buffer) {
                let text = std::str::from_utf8(&self.buffer[..whole])?;
                return Ok(Answer { head: &text[..head], body: &text[head..] });
            }
        }
    }
}

/// Where the body begins and ends, once all of it is there. Both sides name headers in lower case and never chunk.
pub(super) fn extent(bytes: &[u8]) -> Option<(usize, usize)> {
    const LENGTH: &[u8] = b"\r\ncontent-length: ";
    let head = position(bytes, b"\r\n\r\n")? + 4;
    let digits = &bytes[position(&bytes[..head], LENGTH)? + LENGTH.len()..head];
    let length = digits.iter().take_while(|byte| byte.is_ascii_digit()).fold(0, |sum, digit| sum * 10 + usize::from(digit - b'0'));
    (bytes.len() >= head + length).then_some((head, head + length))
}

fn position(bytes: &[u8], wanted: &[u8]) -> Option<usize> {
    bytes.windows(wanted.len()).position(|window| window == wanted)
}

impl Answer<'_> {
    /// Fails unless the answer is a success that begins with `data`.
    pub(crate) fn expect(&self, data: &str) -> Result<(), Failure> {
        if self.head.starts_with("HTTP/1.1 200 ") && self.body.starts_with(data) {
            return Ok(());
        }
        Err(format!("not the answer that was asked for:\n{}{}", self.head, self.body).into())
    }
}
