//! Checks of values in a file that no type makes by itself. Each answer is the reason of a refusal.

use crate::{
    ports::ForeignHash,
    secret::Digest,
    store::Tx,
    time::{CLOCKS_DIFFER, Timestamp},
};

/// A hash of ours: Argon2id, no dearer than a login may be.
pub(super) fn expect_native(phc: &str) -> Result<(), String> {
    if !phc.starts_with("$argon2id$v=19$") {
        return Err("a password's hash is not one of ours".to_owned());
    }
    ForeignHash::parse(phc).map(drop).map_err(|rejected| format!("a password's hash {rejected}"))
}

/// A time that has been.
pub(super) fn past(time: Timestamp, tx: &Tx) -> Result<Timestamp, String> {
    if time > tx.now().plus(CLOCKS_DIFFER) { Err("a time of it is in the future".to_owned()) } else { Ok(time) }
}

/// What a terminal may be shown of a text in the file.
pub(super) fn printable(text: &str) -> String {
    text.chars().filter(|c| c.is_ascii_graphic()).take(64).collect()
}

/// A SHA-256 digest in lower-case hexadecimal.
pub(super) fn digest(text: &str) -> Result<Digest, String> {
    let is_digest = text.len() == 64 && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    if is_digest { Ok(Digest::from_stored(text.to_owned())) } else { Err("a digest of it is malformed".to_owned()) }
}
