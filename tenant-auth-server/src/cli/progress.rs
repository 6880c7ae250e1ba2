//! The progress of a command that takes minutes, on stderr: a bar that is drawn over on a terminal, and now and then a line anywhere
//! else, such as in the log of a job, and where lines are JSON.

use std::{
    io::{IsTerminal, Write},
    time::{Duration, Instant},
};

use crate::logging;

const CELLS: u64 = 30;
/// How often a bar is drawn.
const DRAWN_EVERY: Duration = Duration::from_millis(100);
/// How often a line is written where there is no terminal.
const TOLD_EVERY: Duration = Duration::from_secs(10);

pub(super) struct Progress {
    /// How much there is to do; 0 where nobody knows.
    whole: u64,
    is_bar: bool,
    last: Option<Instant>,
}

impl Progress {
    pub(super) fn of(whole: u64) -> Self {
        Self { whole, is_bar: std::io::stderr().is_terminal() && !logging::speaks_json(), last: None }
    }

    /// So much is done; `text` says what that is.
    pub(super) fn show(&mut self, done: u64, text: &str) {
        let every = if self.is_bar { DRAWN_EVERY } else { TOLD_EVERY };
        let now = Instant::now();
        // Nobody needs a line about what is over in a moment.
        let is_due = self.last.map_or(self.is_bar, |last| now.duration_since(last) >= every);
        if self.last.is_none() || is_due {
            self.last = Some(now);
        }
        match (is_due, self.is_bar) {
            (true, true) => draw(&bar(done, self.whole, text)),
            (true, false) => logging::remark(text),
            (false, _) => {}
        }
    }

    /// So many of something are done.
    pub(super) fn show_of(&mut self, done: u64, whole: u64, what: &str) {
        self.whole = whole;
        self.show(done, &format!("{done} of {whole} {what}"));
    }

    /// A line that stays, above the bar.
    pub(super) fn say(&mut self, line: &str) {
        if self.is_bar {
            draw("");
        }
        logging::remark(line);
    }

    /// Takes the bar away.
    pub(super) fn end(self) {
        if self.is_bar {
            draw("");
        }
    }
}

/// Draws over what was drawn. A terminal that is gone ends no import.
fn draw(text: &str) {
    let mut stderr = std::io::stderr().lock();
    let _ = write!(stderr, "\r\x1b[2K{text}").and_then(|()| stderr.flush());
}

fn bar(done: u64, whole: u64, text: &str) -> String {
    let done = done.min(whole);
    let cells = done.saturating_mul(CELLS).checked_div(whole).unwrap_or(0);
    let percent = done.saturating_mul(100).checked_div(whole).unwrap_or(0);
    let (full, rest) = ("#".repeat(cells as usize), ".".repeat((CELLS - cells) as usize));
    format!("[{full}{rest}] {percent:>3} %  {text}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bar_shows_how_far_it_is() {
        assert_eq!(bar(0, 200, "0 rows"), format!("[{}]   0 %  0 rows", ".".repeat(30)));
        assert_eq!(bar(100, 200, "7 rows"), format!("[{}{}]  50 %  7 rows", "#".repeat(15), ".".repeat(15)));
        assert_eq!(bar(200, 200, "9 rows"), format!("[{}] 100 %  9 rows", "#".repeat(30)));
        assert!(bar(5, 0, "").contains("  0 %"), "nobody knows how much there is");
        assert!(bar(9, 3, "").contains("100 %"), "a file that grows");
    }
}
