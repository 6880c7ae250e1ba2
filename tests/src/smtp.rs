//! A mail server on a socket, for the shipped SMTP mailer: it speaks enough of RFC 5321 to take a mail, and can be told to refuse,
//! to fall silent or to be down.

use std::{
    collections::HashSet,
    net::SocketAddr,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use base64::{Engine, engine::general_purpose::STANDARD};
use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader},
    net::{TcpListener, TcpStream},
    sync::Notify,
};

/// How the server feels about mail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mood {
    /// Takes it.
    Taking,
    /// 451: come back later.
    RefusingForNow,
    /// 550: never.
    RefusingForGood,
    /// 535: it wants another password.
    RefusingThePassword,
    /// 554 instead of a greeting: no SMTP service here (RFC 5321, section 3.1).
    RefusingTheSession,
    /// 550 to whoever logs in, as a service answers that closed this way of logging in.
    RefusingTheLogin,
    /// 553 to whoever names the sender: the login may not send as that one.
    RefusingTheSender,
    /// 554 to whoever names a recipient: the login may not send to others.
    RefusingToRelay,
    /// 554 once it has the content: the sender is not verified.
    RefusingTheContent,
    /// Accepts connections and says nothing, until its mood changes.
    Silent,
    /// Hangs up at once.
    Down,
}

/// A mail as it was taken.
#[derive(Debug, Clone)]
pub struct Taken {
    /// The envelope's recipient.
    pub to: String,
    /// Head and parts, dots unstuffed.
    pub raw: String,
}

/// The server.
#[derive(Debug, Clone)]
pub struct SmtpSink {
    address: SocketAddr,
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    state: Mutex<State>,
    changed: Notify,
}

#[derive(Debug)]
struct State {
    mood: Mood,
    taken: Vec<Taken>,
    attempts: usize,
    hello: Option<String>,
    hanging: HashSet<String>,
    hangs_at_quit: bool,
}

impl SmtpSink {
    /// Listens on a port of its own.
    pub async fn start() -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.expect("a free port");
        let address = listener.local_addr().expect("a bound socket");
        let state = State {
            mood: Mood::Taking,
            taken: Vec::new(),
            attempts: 0,
            hello: None,
            hanging: HashSet::new(),
            hangs_at_quit: false,
        };
        let inner = Arc::new(Inner { state: Mutex::new(state), changed: Notify::new() });
        let serving = Arc::clone(&inner);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(converse(stream, Arc::clone(&serving)));
            }
        });
        Self { address, inner }
    }

    /// What goes into the mailer's settings.
    pub fn url(&self) -> String {
        format!("smtp://127.0.0.1:{}", self.address.port())
    }

    /// The same, with a user and a password.
    pub fn url_with_login(&self) -> String {
        format!("smtp://us:secret@127.0.0.1:{}", self.address.port())
    }

    /// Changes its mood, for those who are connected too.
    pub fn be(&self, mood: Mood) {
        self.state().mood = mood;
        self.inner.changed.notify_waiters();
    }

    /// Says nothing more to DATA of mails to this recipient from now on.
    pub fn hang_for(&self, recipient: &str) {
        self.state().hanging.insert(recipient.to_owned());
    }

    /// Takes mails, and says nothing more to QUIT from now on.
    pub fn hang_at_quit(&self) {
        self.state().hangs_at_quit = true;
    }

    /// What it has taken so far.
    pub fn taken(&self) -> Vec<Taken> {
        self.state().taken.clone()
    }

    /// How many mails the mailer tried to hand over, accepted or not.
    pub fn attempts(&self) -> usize {
        self.state().attempts
    }

    /// What the last client called itself.
    pub fn hello(&self) -> Option<String> {
        self.state().hello.clone()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.inner.state()
    }
}

impl Inner {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits while the server is silent; what it feels like afterwards.
    async fn mood(&self) -> Mood {
        loop {
            let changed = self.changed.notified();
            let mood = self.state().mood;
            if mood != Mood::Silent {
                return mood;
            }
            changed.await;
        }
    }
}

/// One connection, until either side hangs up.
async fn converse(stream: TcpStream, inner: Arc<Inner>) -> Option<()> {
    let mood = inner.state().mood;
    if matches!(mood, Mood::Silent | Mood::Down | Mood::RefusingTheSession | Mood::RefusingTheLogin) {
        inner.state().attempts += 1;
    }
    let mut lines = BufReader::new(stream);
    if mood == Mood::RefusingTheSession {
        return say(&mut lines, &inner, "554 no SMTP service here").await;
    }
    say(&mut lines, &inner, "220 sink ESMTP").await?;
    let mut to = String::new();
    loop {
        let line = hear(&mut lines).await?;
        let verb = line.split([' ', ':']).next().unwrap_or_default().to_ascii_uppercase();
        match verb.as_str() {
            "EHLO" | "HELO" => {
                inner.state().hello = line.split(' ').nth(1).map(str::to_owned);
                say(&mut lines, &inner, "250-sink\r\n250 AUTH PLAIN").await?;
            }
            "AUTH" if inner.state().mood == Mood::RefusingTheLogin => {
                say(&mut lines, &inner, "550 5.7.30 basic authentication is closed").await?;
            }
            "AUTH" => say(&mut lines, &inner, "235 2.7.0 welcome").await?,
            "MAIL" if inner.state().mood == Mood::RefusingTheSender => {
                inner.state().attempts += 1;
                say(&mut lines, &inner, "553 5.7.1 that sender is not yours").await?;
            }
            "RCPT" => {
                inner.state().attempts += 1;
                to = line.split(['<', '>']).nth(1).unwrap_or_default().to_owned();
                let verdict = match inner.state().mood {
                    Mood::RefusingForNow => "451 4.3.0 come back later",
                    Mood::RefusingForGood => "550 5.1.1 nobody of that name",
                    Mood::RefusingThePassword => "535 5.7.8 another password",
                    Mood::RefusingToRelay => "554 5.7.1 relay access denied",
                    Mood::Taking | Mood::RefusingTheContent | Mood::Silent | Mood::Down => "250 go on",
                    Mood::RefusingTheSession | Mood::RefusingTheLogin | Mood::RefusingTheSender => "250 go on",
                };
                say(&mut lines, &inner, verdict).await?;
            }
            "DATA" if inner.state().hanging.contains(&to) => return std::future::pending().await,
            "DATA" => {
                say(&mut lines, &inner, "354 end with a dot").await?;
                let raw = mail(&mut lines).await?;
                if inner.state().mood == Mood::RefusingTheContent {
                    say(&mut lines, &inner, "554 that sender is not verified").await?;
                    continue;
                }
                inner.state().taken.push(Taken { to: std::mem::take(&mut to), raw });
                say(&mut lines, &inner, "250 taken").await?;
            }
            "QUIT" if inner.state().hangs_at_quit => return std::future::pending().await,
            "QUIT" => return say(&mut lines, &inner, "221 bye").await,
            _ => say(&mut lines, &inner, "250 as you wish").await?,
        }
    }
}

/// The lines up to the lonely dot, dots unstuffed.
async fn mail(lines: &mut BufReader<TcpStream>) -> Option<String> {
    let mut raw = String::new();
    loop {
        let line = hear(lines).await?;
        if line == "." {
            return Some(raw);
        }
        raw.push_str(line.strip_prefix('.').unwrap_or(&line));
        raw.push_str("\r\n");
    }
}

async fn hear(lines: &mut BufReader<TcpStream>) -> Option<String> {
    let mut line = String::new();
    let read = lines.read_line(&mut line).await.ok()?;
    (read > 0).then(|| line.trim_end_matches(['\r', '\n']).to_owned())
}

async fn say(lines: &mut BufReader<TcpStream>, inner: &Inner, what: &str) -> Option<()> {
    if inner.mood().await == Mood::Down {
        return None;
    }
    lines.write_all(format!("{what}\r\n").as_bytes()).await.ok()
}

impl Taken {
    /// A header of the mail itself.
    pub fn header(&self, name: &str) -> Option<String> {
        let head = self.raw.split("\r\n\r\n").next().unwrap_or_default().replace("\r\n ", " ").replace("\r\n\t", " ");
        let find = |line: &str| {
            line.split_once(':').filter(|(have, _)| have.eq_ignore_ascii_case(name)).map(|(_, value)| value.trim().to_owned())
        };
        head.lines().find_map(find)
    }

    /// The part of this type, decoded.
    #[track_caller]
    pub fn part(&self, content_type: &str) -> String {
        let boundary = self
            .header("Content-Type")
            .and_then(|kind| kind.split("boundary=").nth(1).map(|rest| rest.trim_matches('"').to_owned()));
        let boundary = boundary.unwrap_or_else(|| panic!("no multipart: {}", self.raw));
        let part = self.raw.split(&format!("--{boundary}")).find(|part| {
            let head = part.trim_start().split("\r\n\r\n").next().unwrap_or_default();
            head.to_ascii_lowercase().contains(&format!("content-type: {content_type}"))
        });
        let part = part.unwrap_or_else(|| panic!("no {content_type}: {}", self.raw)).trim_start();
        let (head, body) = part.split_once("\r\n\r\n").expect("a part has a head");
        let head = head.to_ascii_lowercase();
        if head.contains("quoted-printable") {
            unquoted(body)
        } else if head.contains("base64") {
            let bytes = STANDARD.decode(body.split_whitespace().collect::<String>()).expect("base64");
            String::from_utf8(bytes).expect("UTF-8")
        } else {
            body.to_owned()
        }
    }
}

/// Quoted-printable (RFC 2045, section 6.7).
fn unquoted(body: &str) -> String {
    let joined = body.replace("=\r\n", "");
    let mut pieces = joined.split('=');
    let mut bytes = pieces.next().unwrap_or_default().as_bytes().to_vec();
    for piece in pieces {
        let (code, rest) = piece.split_at(2);
        bytes.push(u8::from_str_radix(code, 16).expect("two hexadecimal digits"));
        bytes.extend_from_slice(rest.as_bytes());
    }
    String::from_utf8(bytes).expect("UTF-8")
}
