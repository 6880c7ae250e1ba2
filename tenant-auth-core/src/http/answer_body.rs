//! The body of an answer: whole, or for files of any length a stream that is written while the client reads.

use bytes::Bytes;

#[cfg(feature = "service")]
use super::body_stream::BodyStream;

/// The body of an answer.
#[derive(Debug)]
#[non_exhaustive]
pub enum AnswerBody {
    /// All of it.
    Whole(Bytes),
    /// Part by part. An error says that the rest will not come: the connection is to be broken then, so that nobody takes the part for
    /// the whole.
    #[cfg(feature = "service")]
    Stream(BodyStream),
}

impl AnswerBody {
    /// The bytes of a body that is whole; a stream has none yet.
    pub fn into_bytes(self) -> Bytes {
        match self {
            Self::Whole(bytes) => bytes,
            #[cfg(feature = "service")]
            Self::Stream(_) => Bytes::new(),
        }
    }
}

impl From<Bytes> for AnswerBody {
    fn from(bytes: Bytes) -> Self {
        Self::Whole(bytes)
    }
}

impl From<Vec<u8>> for AnswerBody {
    fn from(bytes: Vec<u8>) -> Self {
        Self::Whole(bytes.into())
    }
}

impl From<String> for AnswerBody {
    fn from(text: String) -> Self {
        Self::Whole(text.into())
    }
}
