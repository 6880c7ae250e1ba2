//! A request as an adapter hands it over, with its body as far as that could be read.

use std::{fmt, time::Duration};

use bytes::Bytes;

/// The largest request body that is read: 64 KiB.
pub const BODY_LIMIT: usize = 64 * 1024;

/// How long a body may take to arrive, from the end of the request's head on: a client that sends byte by byte must not keep a
/// connection for ever.
pub const BODY_TIMEOUT: Duration = Duration::from_secs(30);

/// How long a body may take whose head says that it is too large. It is waited for only because a client that sends without reading
/// would find its connection cut in the place of an answer.
const PATIENCE_WITH_TOO_LARGE: Duration = Duration::from_secs(1);

/// A request's body, as an adapter could read it.
#[derive(Clone)]
#[non_exhaustive]
pub enum Body {
    /// All of it.
    Complete(Bytes),
    /// More than [`BODY_LIMIT`]; the answer is decided in its turn.
    TooLarge,
    /// Not whole within [`BODY_TIMEOUT`]; the answer is decided in its turn, and the connection is to be closed after it.
    TimedOut,
    /// The client stopped in the middle.
    Broken,
}

impl Body {
    /// How long an adapter waits for a body, from the end of the request's head on. `announced`: its length in bytes, where the head
    /// says it.
    pub fn patience(announced: Option<u64>) -> Duration {
        if is_too_large(announced) { PATIENCE_WITH_TOO_LARGE } else { BODY_TIMEOUT }
    }

    /// What a body is that was not whole after [`Body::patience`]. The connection is to be closed after the answer.
    pub fn late(announced: Option<u64>) -> Self {
        if is_too_large(announced) { Self::TooLarge } else { Self::TimedOut }
    }
}

fn is_too_large(announced: Option<u64>) -> bool {
    announced.is_some_and(|bytes| bytes > BODY_LIMIT as u64)
}

/// A request as adapters hand it over; the URI holds the full path, never one shortened by a router.
pub type Request = ::http::Request<Body>;

/// Without the bytes: passwords and tokens come in bodies.
impl fmt::Debug for Body {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Complete(bytes) => write!(f, "Complete({} bytes)", bytes.len()),
            Self::TooLarge => f.write_str("TooLarge"),
            Self::TimedOut => f.write_str("TimedOut"),
            Self::Broken => f.write_str("Broken"),
        }
    }
}
