//! Cursors as texts: `nextCursor` of an answer and `?cursor=` of a request. The text is opaque to callers; base64 keeps it free of
//! characters that a URL would change.

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};

use crate::{
    page::{Cursor, ListId, Position},
    time::Timestamp,
};

/// The longest id; nothing longer is looked up.
const LONGEST_ID: usize = 64;

/// The text of a cursor.
pub(super) fn to_text(cursor: &Cursor) -> String {
    let Cursor { position: Position { time, id }, list } = cursor;
    URL_SAFE_NO_PAD.encode(format!("{}.{id}.{:x}", time.millis(), list.0))
}

/// Reads what [`to_text`] wrote.
pub(super) fn from_text(text: &str) -> Option<Cursor> {
    let text = String::from_utf8(URL_SAFE_NO_PAD.decode(text).ok()?).ok()?;
    let mut parts = text.split('.');
    let (time, id, list) = (parts.next()?, parts.next()?, parts.next()?);
    let is_id = id.len() <= LONGEST_ID && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    if !is_id || parts.next().is_some() {
        return None;
    }
    let position = Position { time: Timestamp::from_millis(time.parse().ok()?), id: id.to_owned() };
    Some(Cursor { position, list: ListId(u64::from_str_radix(list, 16).ok()?) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_comes_back_from_its_text() {
        let position =
            Position { time: Timestamp::from_millis(1_800_000_000_123), id: "usr_01kaz3vrm0f3k8m2p5q7r9s1t4".to_owned() };
        let cursor = Cursor { position, list: ListId(u64::MAX) };
        assert_eq!(from_text(&to_text(&cursor)), Some(cursor));
    }

    #[test]
    fn what_is_no_cursor_is_refused() {
        for text in ["", "!", "AAAA", "MS4nOyBEUk9Q", "MS51c3JfMQ", "MS51c3JfMS54eHg"] {
            assert_eq!(from_text(text), None, "{text}");
        }
    }
}
