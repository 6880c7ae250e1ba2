//! A child process that runs beside a test: its address is read from what it prints, waiting has a deadline, and dropping it ends
//! it.

use std::{
    io::{BufRead, BufReader, Read},
    net::SocketAddr,
    process::{Child, Command, Stdio},
    sync::mpsc::{Receiver, channel},
    time::{Duration, Instant},
};

const DEADLINE: Duration = Duration::from_secs(60);

/// The program.
#[derive(Debug)]
pub struct Process {
    child: Child,
    /// What it printed until it was ready.
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
        let mut process = Self { child, printed: String::new(), address: SocketAddr::from(([0, 0, 0, 0], 0)) };
        let deadline = Instant::now() + DEADLINE;
        loop {
            let Ok(line) = lines.recv_timeout(deadline.saturating_duration_since(Instant::now())) else {
                panic!("it did not become ready: {}", process.printed);
            };
            if let Some(address) = address_in(&line) {
                process.address = address;
            }
            process.printed.push_str(&line);
            process.printed.push('\n');
            if line.contains(ready) {
                return process;
            }
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
