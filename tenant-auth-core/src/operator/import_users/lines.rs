//! The lines of an import, read with bounded memory: of a line that is too long, no more than a row may have is kept.

use std::io;

use tokio::io::{AsyncBufRead, AsyncBufReadExt};

/// The most bytes of a row.
pub(super) const MAX_ROW: usize = 64 * 1024;

pub(super) struct Lines<R> {
    source: R,
    number: u64,
    bytes: u64,
}

/// A line that is not blank.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Line {
    /// Counted from 1, blank lines included.
    pub(super) number: u64,
    /// `None` when the line is too long for a row.
    pub(super) row: Option<Vec<u8>>,
}

impl<R: AsyncBufRead + Unpin> Lines<R> {
    pub(super) fn of(source: R) -> Self {
        Self { source, number: 0, bytes: 0 }
    }

    /// How many bytes were read so far.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The next line that is not blank.
    ///
    /// # Errors
    /// The source's.
    pub(super) async fn next(&mut self) -> io::Result<Option<Line>> {
        loop {
            let Some(row) = self.read().await? else { return Ok(None) };
            self.number += 1;
            let is_blank = row.as_ref().is_some_and(|row| row.trim_ascii().is_empty());
            if !is_blank {
                return Ok(Some(Line { number: self.number, row }));
            }
        }
    }

    /// The next line with its end; within it `None` when it is too long.
    async fn read(&mut self) -> io::Result<Option<Option<Vec<u8>>>> {
        let (mut kept, mut any) = (Some(Vec::new()), false);
        loop {
            let ready = self.source.fill_buf().await?;
            if ready.is_empty() {
                return Ok(any.then_some(kept));
            }
            any = true;
            let end = ready.iter().position(|byte| *byte == b'\n');
            let part = &ready[..end.unwrap_or(ready.len())];
            kept = kept.filter(|kept| kept.len() + part.len() <= MAX_ROW);
            if let Some(kept) = &mut kept {
                kept.extend_from_slice(part);
            }
            let taken = part.len() + usize::from(end.is_some());
            self.source.consume(taken);
            self.bytes += taken as u64;
            if end.is_some() {
                return Ok(Some(kept));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn lines_are_counted_and_long_ones_are_not_kept() {
        let text = format!("one\n\n{}\n{}\n  \r\nlast", "x".repeat(MAX_ROW), "y".repeat(MAX_ROW + 1));
        let mut lines = Lines::of(tokio::io::BufReader::with_capacity(100, text.as_bytes()));
        let mut seen = Vec::new();
        while let Some(line) = lines.next().await.expect("memory can be read") {
            seen.push((line.number, line.row.map(|row| row.len())));
        }
        assert_eq!(seen, [(1, Some(3)), (3, Some(MAX_ROW)), (4, None), (6, Some(4))]);
        assert_eq!(lines.bytes(), text.len() as u64);
    }
}
