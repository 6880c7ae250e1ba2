//! A request as an adapter hands it over, with its body as far as that could be read.

use std::{fmt, time::Duration};

use bytes::Bytes;

/// The largest request body that is read: 64 KiB.
pub const BODY_LIMIT: usize = 64 * 1024;

/// How long a body may take to arrive, from the end of the request's head on: a client that sends byte by byte must not keep a
/// connection for ever.
pub const BODY_TIMEOUT: Duration = Duration::from_secs(30);

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
