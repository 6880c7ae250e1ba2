//! A server that runs beside a test. Its address is read from what it prints, waiting has a deadline, and dropping it ends it.

use std::{
    fs::File,
    io::{BufRead, BufReader, Read, Write},
    net::TcpStream,
    path::PathBuf,
    process::{Child, Command, ExitStatus, Stdio},
    sync::mpsc::{Receiver, channel},
    time::{Duration, Instant},
};

use crate::Program;

pub(crate) const DEADLINE: Duration = Duration::from_secs(60);

pub(crate) struct Running {
    child: Child,
    log: PathBuf,
    /// What it printed up to the line that says where it listens.
    pub(crate) printed: String,
    /// `127.0.0.1:<port>`
    pub(crate) address: String,
}

impl Running {
    /// Starts the program and waits until it says where it listens. The program must outlive it: its directory holds the database.
    pub(crate) fn start(program: &Program, arguments: &[&str]) -> Self {
        let log = program.path().join("stderr.log");
        Self::with_log(program, arguments, File::create(log).expect("the log can be written"))
    }

    /// The same with its log lines written somewhere else; [`Running::log`] is empty then.
    pub(crate) fn with_log(program: &Program, arguments: &[&str], stderr: impl Into<Stdio>) -> Self {
        let log = program.path().join("stderr.log");
        let mut command = program.command(arguments);
        let mut child = command.stdout(Stdio::piped()).stderr(stderr).spawn().expect("the program starts");
        drop(child.stderr.take()); // a pipe without a reader
        let lines = lines_of(child.stdout.take().expect("stdout is piped"));
        let mut running = Self { child, log, printed: String::new(), address: String::new() };
        let deadline = Instant::now() + DEADLINE;
        while running.address.is_empty() {
            let Ok(line) = lines.recv_timeout(deadline.saturating_duration_since(Instant::now())) else {
                panic!("it did not say where it listens: {}{}", running.printed, running.log());
            };
            if let Some((_, address)) = line.split_once(" listens on http://") {
                running.address = address.split('"').next().unwrap_or_default().to_owned();
            }
            running.printed.push_str(&line);
            running.printed.push('\n');
        }
        running
    }

    pub(crate) fn log(&self) -> String {
        std::fs::read_to_string(&self.log).unwrap_or_default()
    }

    pub(crate) fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(&self.address).expect("it accepts");
        stream.set_read_timeout(Some(DEADLINE)).expect("a timeout can be set");
        stream
    }

    /// Status and whole text of the answer to a GET.
    pub(crate) fn get(&self, path: &str) -> (u16, String) {
        get(&self.address, path)
    }

    /// The id of the process, which is its own until it was waited for.
    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Sends SIGTERM. The child was not waited for yet, so the id is still its own.
    pub(crate) fn terminate(&self) {
        self.signal("-TERM");
    }

    /// Sends a signal, such as `-STOP`.
    pub(crate) fn signal(&self, signal: &str) {
        let sent = Command::new("kill").args([signal, &self.child.id().to_string()]).status();
        assert!(sent.expect("kill runs").success());
    }

    /// How it ended, once it has.
    pub(crate) fn ended(&mut self) -> ExitStatus {
        let deadline = Instant::now() + DEADLINE;
        loop {
            if let Some(status) = self.child.try_wait().expect("it can be waited for") {
                return status;
            }
            assert!(Instant::now() < deadline, "it did not end: {}", self.log());
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Status and whole text of what an address answers to a GET.
pub(crate) fn get(address: &str, path: &str) -> (u16, String) {
    let mut stream = TcpStream::connect(address).expect("it accepts");
    stream.set_read_timeout(Some(DEADLINE)).expect("a timeout can be set");
    write!(stream, "GET {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n").expect("it reads");
    answer(stream)
}

/// Reads the rest of a connection as one answer.
pub(crate) fn answer(mut stream: TcpStream) -> (u16, String) {
    let mut text = String::new();
    stream.read_to_string(&mut text).expect("it answers");
    let status = text.split(' ').nth(1).and_then(|status| status.parse().ok());
    (status.unwrap_or_else(|| panic!("no HTTP answer: {text}")), text)
}

/// The lines as they come. The thread ends with the program, and keeps its pipe from filling until then.
fn lines_of(stdout: impl Read + Send + 'static) -> Receiver<String> {
    let (sender, lines) = channel();
    std::thread::spawn(move || {
        for line in BufReader::new(stdout).lines().map_while(Result::ok) {
            let _ = sender.send(line);
        }
    });
    lines
}
