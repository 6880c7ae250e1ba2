//! One HTTP/1.1 connection: requests and answers in turn, with the timeouts of its pulse.

use std::{
    convert::Infallible,
    io::{self, IoSlice},
    net::SocketAddr,
    pin::{Pin, pin},
    sync::Arc,
    task::{Context, Poll},
};

use axum::{
    Router,
    body::{Body, Bytes, HttpBody},
    extract::ConnectInfo,
    http::{HeaderValue, Request, Response, header},
};
use hyper::{
    body::{Frame, Incoming, SizeHint},
    server::conn::http1,
    service::{Service, service_fn},
};
use hyper_util::{rt::TokioIo, service::TowerToHyperService};
use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    net::TcpStream,
};

use super::{pulse::Pulse, slots::ConnectionSlot};
use crate::drain::Drain;

/// The largest request head, and the read buffer of a body, in bytes.
const BUFFER: usize = 64 * 1_024;

/// An accepted connection with its slot.
pub(super) struct Accepted {
    pub(super) socket: TcpStream,
    pub(super) peer: SocketAddr,
    pub(super) slot: ConnectionSlot,
}

/// Serves the connection until it ends, exceeds a timeout, is displaced, or the server stops.
pub(super) async fn answer(accepted: Accepted, app: Router, drain: Drain) {
    let Accepted { socket, peer, slot } = accepted;
    // Answers are small and whole: waiting to fill a packet only delays them.
    let _ = socket.set_nodelay(true);
    let pulse = Arc::clone(&slot.pulse);
    let (asked, app, stopping) = (Arc::clone(&pulse), TowerToHyperService::new(app), drain.clone());
    let service = service_fn(move |request: Request<Incoming>| {
        asked.asked();
        let mut request = request.map(Body::new);
        request.extensions_mut().insert(ConnectInfo(peer));
        let (answer, pulse, stopping) = (app.call(request), Arc::clone(&asked), stopping.clone());
        async move {
            let mut response = answer.await?;
            if stopping.has_begun() {
                // `Connection: close` tells a client with a connection pool to open the next one elsewhere, before this one is
                // closed.
                response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
            }
            Ok::<Response<Watched>, Infallible>(response.map(|body| Watched { body, pulse }))
        }
    });
    let io = TokioIo::new(WatchedSocket { socket, pulse: Arc::clone(&pulse) });
    // A client that has sent its whole request may close its half: it is answered all the same.
    let connection = http1::Builder::new().half_close(true).max_buf_size(BUFFER).serve_connection(io, service);
    let (mut connection, mut overdue, mut closed) = (pin!(connection), pin!(pulse.overdue()), pin!(drain.closed()));
    let mut closing = false;
    loop {
        tokio::select! {
            biased;
            () = slot.displaced() => return tracing::debug!("a connection was closed for one of another network"),
            ended = connection.as_mut() => {
                return if let Err(error) = ended { tracing::debug!(%error, "a connection ended") };
            }
            () = &mut overdue => return tracing::debug!("a connection was closed: its client took too long"),
            () = &mut closed, if !closing => {
                closing = true;
                connection.as_mut().graceful_shutdown();
            }
        }
    }
}

/// An answer's body; its end is the end of the answer.
struct Watched {
    body: Body,
    pulse: Arc<Pulse>,
}

impl HttpBody for Watched {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        self.pulse.answered();
    }
}

/// A socket that tells when something moves.
struct WatchedSocket {
    socket: TcpStream,
    pulse: Arc<Pulse>,
}

impl WatchedSocket {
    fn told(&self, wrote: Poll<io::Result<usize>>) -> Poll<io::Result<usize>> {
        match &wrote {
            Poll::Ready(Ok(1..)) => self.pulse.wrote(),
            Poll::Pending => self.pulse.is_stuck(),
            Poll::Ready(_) => {}
        }
        wrote
    }
}

impl AsyncRead for WatchedSocket {
    fn poll_read(mut self: Pin<&mut Self>, context: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let read = Pin::new(&mut self.socket).poll_read(context, buffer);
        if buffer.filled().len() > before {
            self.pulse.read();
        }
        read
    }
}

impl AsyncWrite for WatchedSocket {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let wrote = Pin::new(&mut self.socket).poll_write(context, bytes);
        self.told(wrote)
    }

    fn poll_write_vectored(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[IoSlice<'_>]) -> Poll<io::Result<usize>> {
        let wrote = Pin::new(&mut self.socket).poll_write_vectored(context, bytes);
        self.told(wrote)
    }

    fn is_write_vectored(&self) -> bool {
        self.socket.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.socket).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.socket).poll_shutdown(context)
    }
}
