//! The body of a long answer, written while its client reads.

use std::{
    fmt,
    net::IpAddr,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    task::{Context, Poll, ready},
};

use bytes::Bytes;
use futures_core::Stream;
use tokio::io::{AsyncRead, DuplexStream, ReadBuf};

use crate::{budget::Permit, error::Error, unsent::Unsent};

/// How many bytes are handed on at once.
const CHUNK: usize = 16 * 1024;
/// How many bytes wait for the client.
const WAITING: usize = 64 * 1024;
/// How many bytes a body has in memory at most, with what its writer has read ahead: an audit file a page of entries.
const MOST_IN_MEMORY: usize = (2 << 20) + 2 * WAITING;

/// A body that is written while it is sent.
pub struct BodyStream {
    pipe: DuplexStream,
    is_whole: Arc<AtomicBool>,
    is_over: bool,
    /// What its writer has in memory meanwhile, of the bound on answers that wait.
    held: Option<Permit>,
}

/// The end that is written to.
pub(crate) struct BodyWriter {
    pub(crate) pipe: DuplexStream,
    is_whole: Arc<AtomicBool>,
}

/// A body that ended before it was whole.
#[derive(Debug, Clone, Copy, thiserror::Error)]
#[error("the answer ended before it was whole")]
pub struct BrokenBody;

impl BodyStream {
    /// The two ends of a body. It is broken unless [`BodyWriter::end`] was called.
    pub(crate) fn new() -> (BodyWriter, Self) {
        let (here, there) = tokio::io::duplex(WAITING);
        let is_whole = Arc::new(AtomicBool::new(false));
        (BodyWriter { pipe: here, is_whole: Arc::clone(&is_whole) }, Self { pipe: there, is_whole, is_over: false, held: None })
    }

    /// Counts what the body has in memory at most, until it was sent or its connection has ended.
    ///
    /// # Errors
    /// [`Error::Unavailable`] when the answers that wait for the client's network would be more than what they leave free.
    pub(crate) fn counted(self, unsent: &Unsent, client: Option<IpAddr>) -> Result<Self, Error> {
        Ok(Self { held: Some(unsent.hold(MOST_IN_MEMORY, client)?), ..self })
    }
}

impl BodyWriter {
    /// Says that all was written.
    pub(crate) fn end(self) {
        self.is_whole.store(true, Ordering::Release);
    }
}

impl Stream for BodyStream {
    type Item = Result<Bytes, BrokenBody>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        if self.is_over {
            return Poll::Ready(None);
        }
        let mut chunk = vec![0; CHUNK];
        let mut buffer = ReadBuf::new(&mut chunk);
        let read = ready!(Pin::new(&mut self.pipe).poll_read(context, &mut buffer));
        let filled = buffer.filled().len();
        if read.is_ok() && filled > 0 {
            chunk.truncate(filled);
            return Poll::Ready(Some(Ok(chunk.into())));
        }
        (self.is_over, self.held) = (true, None);
        let is_whole = read.is_ok() && self.is_whole.load(Ordering::Acquire);
        Poll::Ready((!is_whole).then_some(Err(BrokenBody)))
    }
}

/// Without what is in it.
impl fmt::Debug for BodyStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BodyStream").field("is_over", &self.is_over).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::{future::poll_fn, pin::pin};

    use tokio::io::AsyncWriteExt;

    use super::*;

    async fn all(stream: BodyStream) -> (Vec<u8>, bool) {
        let (mut stream, mut bytes) = (pin!(stream), Vec::new());
        loop {
            match poll_fn(|context| stream.as_mut().poll_next(context)).await {
                Some(Ok(chunk)) => bytes.extend_from_slice(&chunk),
                Some(Err(BrokenBody)) => return (bytes, false),
                None => return (bytes, true),
            }
        }
    }

    #[tokio::test]
    async fn a_body_is_whole_only_when_its_writer_says_so() {
        for ends in [true, false] {
            let (mut writer, stream) = BodyStream::new();
            let writing = tokio::spawn(async move {
                writer.pipe.write_all(&[7; 3 * WAITING]).await.expect("it is read");
                if ends {
                    writer.end();
                }
            });
            let (bytes, is_whole) = all(stream).await;
            assert_eq!((bytes.len(), is_whole), (3 * WAITING, ends));
            writing.await.expect("it is written");
        }
    }

    #[tokio::test]
    async fn the_writer_learns_that_nobody_reads() {
        let (mut writer, stream) = BodyStream::new();
        drop(stream);
        assert!(writer.pipe.write_all(&[7]).await.is_err());
    }
}
