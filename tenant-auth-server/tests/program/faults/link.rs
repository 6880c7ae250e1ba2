//! The network between the server and its database: a TCP proxy on loopback that the test cuts, stalls, and points elsewhere.

use std::{
    io::{Read, Write},
    net::{Shutdown, SocketAddr, TcpListener, TcpStream},
    sync::{Arc, Mutex},
    thread,
    time::Duration,
};

const PAUSE: Duration = Duration::from_millis(5);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Whole,
    /// Connections are closed, and new ones too.
    Cut,
    /// Connections stay open, and nothing comes through.
    Stalled,
    /// A connection over which a COMMIT is sent is closed before its answer.
    CutAtCommit,
}

/// The proxy. Its threads end with the test's process.
#[derive(Debug, Clone)]
pub(crate) struct Link {
    pub(crate) port: u16,
    shared: Arc<Mutex<Shared>>,
}

#[derive(Debug)]
struct Shared {
    state: State,
    target: u16,
    open: Vec<TcpStream>,
}

impl Link {
    pub(crate) fn to(target: u16) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let port = listener.local_addr().expect("bound").port();
        let shared = Shared { state: State::Whole, target, open: Vec::new() };
        let link = Self { port, shared: Arc::new(Mutex::new(shared)) };
        let accepting = link.clone();
        thread::spawn(move || listener.incoming().flatten().for_each(|client| accepting.join(client)));
        link
    }

    pub(crate) fn cut(&self) {
        let mut shared = self.lock();
        shared.state = State::Cut;
        for stream in shared.open.drain(..) {
            let _ = stream.shutdown(Shutdown::Both);
        }
    }

    pub(crate) fn stall(&self) {
        self.lock().state = State::Stalled;
    }

    pub(crate) fn cut_at_commit(&self) {
        self.lock().state = State::CutAtCommit;
    }

    pub(crate) fn mend(&self) {
        self.lock().state = State::Whole;
    }

    /// New connections lead there from now on.
    pub(crate) fn point_to(&self, target: u16) {
        self.lock().target = target;
    }

    fn join(&self, client: TcpStream) {
        let (state, target) = {
            let shared = self.lock();
            (shared.state, shared.target)
        };
        if state == State::Cut {
            return;
        }
        let Ok(server) = TcpStream::connect(SocketAddr::from(([127, 0, 0, 1], target))) else { return };
        self.lock().open.extend([&client, &server].map(|end| end.try_clone().expect("a socket can be cloned")));
        for (from, to) in [(&client, &server), (&server, &client)] {
            let (from, to) = (from.try_clone().expect("a socket"), to.try_clone().expect("a socket"));
            let link = self.clone();
            thread::spawn(move || link.carry(from, to));
        }
    }

    fn carry(&self, mut from: TcpStream, mut to: TcpStream) {
        let mut buffer = [0; 16 * 1024];
        while let Ok(read) = from.read(&mut buffer) {
            while self.lock().state == State::Stalled {
                thread::sleep(PAUSE);
            }
            if read == 0 || to.write_all(&buffer[..read]).is_err() {
                break;
            }
            if self.lock().state == State::CutAtCommit && buffer[..read].windows(6).any(|word| word == b"COMMIT") {
                let _ = from.shutdown(Shutdown::Both);
                break;
            }
        }
        let _ = from.shutdown(Shutdown::Both);
        let _ = to.shutdown(Shutdown::Both);
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Shared> {
        self.shared.lock().expect("not poisoned")
    }
}
