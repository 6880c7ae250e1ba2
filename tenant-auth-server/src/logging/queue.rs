//! The queue of log lines, and the thread that writes them to stderr. A reader of the log that stands still (a journal on a disk that
//! hangs, a container's runtime) makes a write wait without an end, and no request waits for that: what finds no room is lost, and
//! counted (behaviour.md, B286). A command that does one thing has no thread and writes where it stands.

use std::{
    io::{self, Write},
    sync::{
        OnceLock,
        atomic::{AtomicU64, AtomicUsize, Ordering},
        mpsc::{Receiver, Sender, channel},
    },
    thread,
    time::{Duration, Instant},
};

/// The most bytes of lines that wait for the log's reader: some thousands of lines.
const ROOM: usize = 1 << 20;
/// How long the start and the end of a server, and a panic, wait for lines that are not written yet.
pub(super) const PATIENCE: Duration = Duration::from_secs(2);
/// Between two looks at whether they are.
const PAUSE: Duration = Duration::from_millis(1);

static QUEUE: OnceLock<Sender<Vec<u8>>> = OnceLock::new();
static WAITING: AtomicUsize = AtomicUsize::new(0);
static LOST: AtomicU64 = AtomicU64::new(0);

/// Starts the thread; lines go through it from now on. Where the system has no thread left, they are written where they come from.
pub(super) fn begin() {
    let (sender, lines) = channel();
    if thread::Builder::new().name("log".to_owned()).spawn(move || write_on(&lines)).is_ok() {
        // An error means that there is a queue already; the new thread ends with its sender.
        let _ = QUEUE.set(sender);
    }
}

/// How many log lines could not be written, because the volume is full or whoever reads them is gone or stands still.
pub(crate) fn lost_lines() -> u64 {
    LOST.load(Ordering::Relaxed)
}

/// Waits until what was logged is written, for a bounded time: its reader may stand still for longer than anybody waits for a stop.
pub(super) fn flush() {
    let until = Instant::now() + PATIENCE;
    while WAITING.load(Ordering::Acquire) > 0 && Instant::now() < until {
        thread::sleep(PAUSE);
    }
}

/// A writer of log lines, of which each comes as one write. A line that cannot be written is lost, without further effect.
pub(super) struct Lines;

impl Write for Lines {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        match QUEUE.get() {
            Some(queue) => enqueue(queue, line),
            None => write(line),
        }
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn enqueue(queue: &Sender<Vec<u8>>, line: &[u8]) {
    let waiting = WAITING.fetch_add(line.len(), Ordering::AcqRel);
    if waiting + line.len() > ROOM || queue.send(line.to_vec()).is_err() {
        WAITING.fetch_sub(line.len(), Ordering::AcqRel);
        lose();
    }
}

fn write_on(lines: &Receiver<Vec<u8>>) {
    for line in lines {
        write(&line);
        WAITING.fetch_sub(line.len(), Ordering::AcqRel);
    }
}

fn write(line: &[u8]) {
    if io::stderr().write_all(line).is_err() {
        lose();
    }
}

fn lose() {
    LOST.fetch_add(1, Ordering::Relaxed);
}
