//! The access token that was found genuine for a remembered session, and what was last told of both, as bytes ready to be sent. A
//! generation's token is always the same text, so there is one of a session; whatever is asked about another text is verified.

use std::{
    fmt,
    sync::{Arc, Weak},
};

use sha2::{Digest, Sha256};

use super::bytes;
use crate::{time::Timestamp, token::Signer};

/// SHA-256 of a token's whole text, signature included: nothing but that very text is the token that was verified. It stands in the
/// text's place, which is fifteen times as long.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct TextDigest([u8; 32]);

impl TextDigest {
    pub(super) fn of(text: &str) -> Self {
        Self(Sha256::digest(text.as_bytes()).into())
    }
}

/// A token whose signature was verified. It is of its session's generation, user and organization.
#[derive(Clone)]
pub(super) struct KeptToken {
    pub(super) digest: TextDigest,
    /// The signer that verified it: with other keys it counts for nothing.
    pub(super) signer: Weak<Signer>,
    pub(super) expires_at: Timestamp,
    /// What was told of the token and of this very session.
    pub(super) told: Option<Arc<[u8]>>,
}

impl KeptToken {
    /// What it holds beyond its own size.
    pub(super) fn bytes(&self) -> usize {
        self.told.as_ref().map_or(0, |told| bytes::COUNTS + told.len())
    }

    pub(super) fn is(&self, digest: TextDigest, signer: &Arc<Signer>) -> bool {
        self.digest == digest && std::ptr::eq(self.signer.as_ptr(), Arc::as_ptr(signer))
    }
}

/// Without what was told: it says who somebody is.
impl fmt::Debug for KeptToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KeptToken").field("expires_at", &self.expires_at).finish_non_exhaustive()
    }
}
