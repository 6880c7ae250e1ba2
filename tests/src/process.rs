//! A child process that runs beside a test: its address is read from what it prints, waiting has a deadline, and dropping it ends
//! it.

use std::{
    io::{BufRead, BufReader, Read},
    net::SocketAddr,
    process::{Child, Command, ExitStatus, Stdio},
    sync::mpsc::{Receiver, channel},
    time::{Duration, Instant},
};

const DEADLINE: Duration = Duration::from_secs(60);

/// The program.
#[derive(Debug)]
pub struct Process {
    child: Child,
    lines: Receiver<String>,
    /// What it printed until it was ready, and what was waited for since.
    pub printed: String,
    /// Where it listens.
    pub address: SocketAddr,
}

impl Process {
    /// Starts a program and waits until it has printed a line with `ready` in it, and the address it listens on by then.
    ///
    /// # Panics
    /// When it does not.
    pub fn start(command: &mut Command, ready: &str) -> Self {
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().expect("the program starts");
        let lines = lines_of(child.stdout.take().expect("stdout is piped"));
        let mut process = Self { child, lines, printed: String::new(), address: SocketAddr::from(([0, 0, 0, 0], 0)) };
        process.line_with(ready);
        process
    }

    /// Waits until it prints a line with this text in it, which has not been waited for before.
    ///
    /// # Panics
    /// When it does not.
    pub fn line_with(&mut self, text: &str) -> String {
        let deadline = Instant::now() + DEADLINE;
        loop {
            let Ok(line) = self.lines.recv_timeout(deadline.saturating_duration_since(Instant::now())) else {
                panic!("it did not print {text:?}: {}", self.printed);
            };
            if let Some(address) = address_in(&line) {
                self.address = address;
            }
            self.printed.push_str(&line);
            self.printed.push('\n');
            if line.contains(text) {
                return line;
            }
        }
    }

    /// Sends it a signal, such as `TERM`.
    ///
    /// # Panics
    /// When it is not running.
    pub fn signal(&self, name: &str) {
        let sent = Command::new("kill").args(["-s", name, &self.child.id().to_string()]).status();
        assert!(sent.is_ok_and(|status| status.success()), "it is not running");
    }

    /// Waits until it has ended.
    ///
    /// # Panics
    /// When it goes on for longer than `patience`.
    pub fn ended(&mut self, patience: Duration) -> ExitStatus {
        let deadline = Instant::now() + patience;
        loop {
            match self.child.try_wait().expect("it is our child") {
                Some(status) => return status,
                None => assert!(Instant::now() < deadline, "it goes on: {}", self.printed),
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// `127.0.0.1:<port>` after `http://`.
fn address_in(line: &str) -> Option<SocketAddr> {
    let (_, rest) = line.split_once("http://")?;
    rest.split(|c: char| !(c.is_ascii_digit() || c == '.' || c == ':')).next()?.parse().ok()
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
