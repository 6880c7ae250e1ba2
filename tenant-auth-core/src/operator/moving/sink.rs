//! Where an export goes: as it is, or sealed.

use tokio::io::{AsyncWrite, AsyncWriteExt};

use super::sealed_file::SealedWriter;

pub(super) enum Sink<W> {
    Plain(W),
    Sealed(SealedWriter<W>),
}

impl<W: AsyncWrite + Unpin> Sink<W> {
    pub(super) async fn write(&mut self, bytes: &[u8]) -> std::io::Result<()> {
        match self {
            Self::Plain(sink) => sink.write_all(bytes).await,
            Self::Sealed(sink) => sink.write(bytes).await,
        }
    }

    pub(super) async fn finish(self) -> std::io::Result<()> {
        match self {
            Self::Plain(mut sink) => sink.flush().await,
            Self::Sealed(sink) => sink.finish().await?.flush().await,
        }
    }
}
