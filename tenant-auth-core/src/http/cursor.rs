//! Cursors as texts: `nextCursor` of an answer and `?cursor=` of a request. The text is opaque to callers; base64 keeps it free of
//! characters that a URL would change.

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};

use crate::{page::Cursor, time::Timestamp};

/// The longest id; nothing longer is looked up.
const LONGEST_ID: usize = 64;

/// The text of a cursor.
pub(super) fn to_text(cursor: &Cursor) -> String {
    URL_SAFE_NO_PAD.encode(format!("{}.{}", cursor.time.millis(), cursor.id))
}

/// Reads what [`to_text`] wrote.
pub(super) fn from_text(text: &str) -> Option<Cursor> {
    let text = String::from_utf8(URL_SAFE_NO_PAD.decode(text).ok()?).ok()?;
    let (time, id) = text.split_once('.')?;
    let is_id = id.len() <= LONGEST_ID && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    let time = Timestamp::from_millis(time.parse().ok()?);
    is_id.then(|| Cursor { time, id: id.to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_comes_back_from_its_text() {
        let cursor = Cursor { time: Timestamp::from_millis(1_800_000_000_123), id: "usr_01kaz3vrm0f3k8m2p5q7r9s1t4".to_owned() };
        assert_eq!(from_text(&to_text(&cursor)), Some(cursor));
    }

    #[test]
    fn what_is_no_cursor_is_refused() {
        for text in ["", "!", "AAAA", "MS4nOyBEUk9Q"] {
            assert_eq!(from_text(text), None, "{text}");
        }
    }
}
