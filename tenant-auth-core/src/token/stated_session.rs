//! The session that an access token states, read without a look at the signature: where to look for what is remembered of the token.
//! It is believed by nobody: what is found there is of the token only if it was verified as this very text.

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};

/// How much of a payload is decoded: each request comes here. A token of an issuer of more than eighty characters is verified anew each
/// time.
const ROOM: usize = 240;

/// The beginning of a token's payload, on the stack.
pub(crate) struct StatedSession {
    payload: [u8; ROOM],
    length: usize,
}

impl StatedSession {
    pub(crate) fn of(token: &str) -> Option<Self> {
        let mut payload = [0; ROOM];
        let text = token.split('.').nth(1)?.as_bytes();
        let length = URL_SAFE_NO_PAD.decode_slice(text.get(..ROOM / 3 * 4).unwrap_or(text), &mut payload).ok()?;
        Some(Self { payload, length })
    }

    /// The fourth claim, in the order in which [`AccessClaims`](super::claims::AccessClaims) are written; empty where that is no session.
    pub(crate) fn id(&self) -> &[u8] {
        let mut between_quotes = self.payload[..self.length].split(|byte| *byte == b'"').skip(13);
        let is_session = between_quotes.next() == Some(b"sid");
        between_quotes.nth(1).filter(|_| is_session).unwrap_or_default()
    }
}
