//! A server with a hole: a proxy that shows a session of `globex` in place of the caller's own where its predicate says so.

use std::{
    io::{self, BufRead, BufReader, Read, Write},
    net::{SocketAddr, TcpListener, TcpStream},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread::JoinHandle,
};

/// A request on its way.
pub(super) struct Seen {
    pub(super) method: String,
    /// Below the base path, without its query.
    pub(super) path: String,
    pub(super) slug: String,
    /// Whether the path names the member or the webhook of `globex` that its admin is shown first.
    pub(super) names_globex: bool,
    /// Whether it is sent to `globex` with what is not of `globex`.
    pub(super) is_foreign: bool,
}

/// The proxy; it ends when dropped.
pub(super) struct Leaky {
    address: SocketAddr,
    has_ended: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

struct Hole {
    behind: SocketAddr,
    token: String,
    is_open: fn(&Seen) -> bool,
    /// What `globex` shows to its admin: members and webhooks.
    shown: String,
}

impl Leaky {
    /// Stands before a server; `token` is of an org_admin of `globex`.
    pub(super) fn start(behind: SocketAddr, token: String, is_open: fn(&Seen) -> bool) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let (address, has_ended) = (listener.local_addr().expect("a bound socket"), Arc::new(AtomicBool::new(false)));
        let ended = Arc::clone(&has_ended);
        let mut hole = Hole { behind, token, is_open, shown: String::new() };
        hole.shown = ["/org/members", "/org/webhooks"].map(|path| hole.read(path)).concat();
        let thread = std::thread::spawn(move || {
            for stream in listener.incoming() {
                if ended.load(Ordering::SeqCst) {
                    return;
                }
                // A client that went away is none of the test's business.
                let _ = stream.and_then(|stream| hole.pass(stream));
            }
        });
        Self { address, has_ended, thread: Some(thread) }
    }

    pub(super) fn address(&self) -> SocketAddr {
        self.address
    }
}

impl Drop for Leaky {
    fn drop(&mut self) {
        self.has_ended.store(true, Ordering::SeqCst);
        let _ = TcpStream::connect(self.address);
        let _ = self.thread.take().map(JoinHandle::join);
    }
}

impl Hole {
    fn read(&self, path: &str) -> String {
        let head =
            vec![("x-org-slug".to_owned(), "globex".to_owned()), ("authorization".to_owned(), format!("Bearer {}", self.token))];
        let answer = self.send(&format!("GET /api/v1{path} HTTP/1.1"), &head, &[]).expect("it answers");
        String::from_utf8_lossy(&answer).into_owned()
    }

    /// One request and its answer; then the connection ends.
    fn pass(&self, stream: TcpStream) -> io::Result<()> {
        let mut reader = BufReader::new(stream.try_clone()?);
        let mut line = String::new();
        reader.read_line(&mut line)?;
        let mut head: Vec<(String, String)> = Vec::new();
        loop {
            let mut header = String::new();
            reader.read_line(&mut header)?;
            let Some((name, value)) = header.trim_end().split_once(':') else { break };
            head.push((name.to_lowercase(), value.trim().to_owned()));
        }
        let of =
            |head: &[(String, String)], name: &str| head.iter().find(|(known, _)| known == name).map(|(_, value)| value.clone());
        let length = of(&head, "content-length").and_then(|length| length.parse().ok()).unwrap_or(0);
        let mut body = vec![0; length];
        reader.read_exact(&mut body)?;
        let seen = self.seen(&line, &head);
        let is_session = ["authorization", "cookie"].iter().any(|name| of(&head, name).is_some());
        if is_session && (self.is_open)(&seen) {
            head.retain(|(name, _)| !["authorization", "cookie", "x-org-slug"].contains(&name.as_str()));
            head.push(("x-org-slug".to_owned(), "globex".to_owned()));
            head.push(("authorization".to_owned(), format!("Bearer {}", self.token)));
        }
        let answer = self.send(line.trim_end(), &head, &body)?;
        (&stream).write_all(&answer)
    }

    fn seen(&self, line: &str, head: &[(String, String)]) -> Seen {
        let mut words = line.split(' ');
        let method = words.next().unwrap_or_default().to_owned();
        let path = words.next().unwrap_or_default().trim_start_matches("/api/v1");
        let path = path.split('?').next().unwrap_or_default().to_owned();
        let slugs: Vec<&str> = head.iter().filter(|(name, _)| name == "x-org-slug").map(|(_, value)| value.as_str()).collect();
        let slug = if let [slug] = slugs[..] { slug.to_owned() } else { String::new() };
        let of_globex = |id: &str| id.len() == 30 && self.shown.contains(id);
        let names_globex = path.split('/').any(of_globex);
        let is_own = head.iter().any(|(_, value)| value.contains(&self.token)) || self.is_of_globex(head);
        Seen { is_foreign: slug == "globex" && !is_own, method, path, slug, names_globex }
    }

    /// Whether the session is one of `globex`, by what the server itself says.
    fn is_of_globex(&self, head: &[(String, String)]) -> bool {
        let mut own: Vec<(String, String)> =
            head.iter().filter(|(name, _)| ["authorization", "cookie"].contains(&name.as_str())).cloned().collect();
        own.push(("x-org-slug".to_owned(), "globex".to_owned()));
        let answer = self.send("GET /api/v1/org HTTP/1.1", &own, &[]).expect("it answers");
        answer.starts_with(b"HTTP/1.1 200")
    }

    fn send(&self, line: &str, head: &[(String, String)], body: &[u8]) -> io::Result<Vec<u8>> {
        let mut stream = TcpStream::connect(self.behind)?;
        let mut text = format!("{line}\r\nConnection: close\r\n");
        let has = |name: &str| head.iter().any(|(known, _)| known == name);
        if !has("host") {
            text.push_str("Host: localhost\r\n");
        }
        for (name, value) in head.iter().filter(|(name, _)| name != "connection") {
            text.push_str(&format!("{name}: {value}\r\n"));
        }
        if !has("content-length") && !body.is_empty() {
            text.push_str(&format!("Content-Length: {}\r\n", body.len()));
        }
        stream.write_all(format!("{text}\r\n").as_bytes())?;
        stream.write_all(body)?;
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer)?;
        Ok(answer)
    }
}
