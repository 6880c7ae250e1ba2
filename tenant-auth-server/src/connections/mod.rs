//! The HTTP/1.1 server: an accept loop over hyper. It limits how long a connection may take for each step (slow clients, also known
//! as Slowloris) and how many connections there are, in all and by client network, so that no client can keep the others out.

mod connection;
mod limits;
mod pulse;
mod slots;

use std::{
    io,
    net::SocketAddr,
    pin::pin,
    sync::Arc,
    time::{Duration, Instant},
};

use axum::Router;
use tokio::net::{TcpListener, TcpSocket};

use crate::{drain::Drain, settings::CONNECTIONS};
pub(crate) use limits::{affordable, raise_open_files};
pub(crate) use slots::ConnectionSlots;

/// The backlog: connections that the system holds until they are accepted.
const BACKLOG: u32 = 1_024;
/// The send buffer of a connection, in bytes. Small, because the socket reports room only when most of what it holds has left, and a
/// slow client must be seen to make progress until then. The system doubles it, and adds up to 64 KiB that were one write.
const SEND_BUFFER: u32 = 8 * 1_024;
/// Errors while accepting come in thousands; the log gets one line in this time.
const BETWEEN_COMPLAINTS: Duration = Duration::from_secs(10);
/// The pause after an error that will not pass at once, such as no free file descriptor.
const AFTER_AN_ERROR: Duration = Duration::from_millis(50);

/// Binds and listens.
///
/// # Errors
/// The system's: address in use, not ours, a privileged port.
pub(crate) fn bind(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4() } else { TcpSocket::new_v6() }?;
    socket.set_reuseaddr(true)?;
    socket.set_send_buffer_size(SEND_BUFFER)?;
    socket.bind(address)?;
    socket.listen(BACKLOG)
}

/// Serves `app` on the listener until the shutdown stops accepting; returns when the last connection has ended.
pub(crate) async fn serve(listener: TcpListener, app: Router, slots: Arc<ConnectionSlots>, drain: Drain) {
    let mut closed = pin!(drain.closed());
    let mut complaints = Complaints::default();
    let full = format!("all connections are taken; a newcomer was closed (raise {}?)", CONNECTIONS.variable());
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            () = &mut closed => break,
        };
        match accepted {
            Ok((socket, peer)) => match ConnectionSlots::take(&slots, peer.ip()) {
                Some(slot) => {
                    tokio::spawn(connection::answer(connection::Accepted { socket, peer, slot }, app.clone(), drain.clone()));
                }
                None => complaints.of(&full, None),
            },
            // The client was gone before it was accepted.
            Err(error) if error.kind() == io::ErrorKind::ConnectionAborted => {}
            Err(error) => {
                complaints.of("a connection cannot be accepted", Some(&error));
                tokio::time::sleep(AFTER_AN_ERROR).await;
            }
        }
    }
    drop(listener);
    slots.all_left().await;
}

/// Logs the errors of accepting, at a limited rate.
#[derive(Default)]
struct Complaints {
    last: Option<Instant>,
    unsaid: u64,
}

impl Complaints {
    fn of(&mut self, what: &str, error: Option<&io::Error>) {
        self.unsaid += 1;
        if self.last.is_none_or(|last| last.elapsed() >= BETWEEN_COMPLAINTS) {
            let error = error.map(tracing::field::display);
            tracing::warn!(times = self.unsaid, error, "{what}");
            *self = Self { last: Some(Instant::now()), unsaid: 0 };
        }
    }
}
