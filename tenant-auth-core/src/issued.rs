//! Authentication tags (MAC) on keys and links: the text of each API key and of each mailed link ends in a tag that only this
//! service can make. By its tag a used, revoked or expired one is told from a guess although no row of it is left.
//!
//! The tag opens nothing: what a key or a link may do is found by its digest, as before.

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use subtle::ConstantTimeEq;

use crate::sealed::{MasterKeys, mac};

/// HMAC-SHA256 cut to 128 bits (RFC 2104, section 5), as URL-safe base64.
const TAG_BYTES: usize = 16;
const TAG_CHARS: usize = 22;

impl MasterKeys {
    /// The text with its tag at the end, made with the first master key.
    pub(crate) fn with_tag(&self, mut text: String) -> String {
        let tag = self.tag_keys().next().map(|key| tag(key, text.as_bytes()));
        text.extend(tag);
        text
    }

    /// Whether this service made the text, under any of the master keys.
    pub(crate) fn made(&self, text: &str) -> bool {
        let Some((text, presented)) = text.len().checked_sub(TAG_CHARS).and_then(|end| text.split_at_checked(end)) else {
            return false;
        };
        self.tag_keys().any(|key| tag(key, text.as_bytes()).as_bytes().ct_eq(presented.as_bytes()).into())
    }
}

fn tag(key: &[u8; 32], text: &[u8]) -> String {
    URL_SAFE_NO_PAD.encode(&mac(key, text)[..TAG_BYTES])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ports::OsEntropy, secret::random_text};

    fn keys(list: &str) -> MasterKeys {
        MasterKeys::parse(list).expect("well-formed keys")
    }

    #[test]
    fn what_was_made_here_is_known_and_nothing_else() {
        let (here, elsewhere) = (keys(&MasterKeys::generate_text()), keys(&MasterKeys::generate_text()));
        let text = random_text(&OsEntropy);
        let made = here.with_tag(text.clone());
        assert_eq!(made.len(), text.len() + TAG_CHARS);
        assert!(here.made(&made));
        assert!(!elsewhere.made(&made), "another deployment's");
        let (mut longer, shorter) = (made.clone(), &made[..made.len() - 1]);
        longer.push('A');
        let exchanged = format!("{}{}", random_text(&OsEntropy), &made[text.len()..]);
        for guess in ["", "🦀", &"🦀".repeat(30), &text, &longer, shorter, &exchanged, &made.to_uppercase()] {
            assert!(!here.made(guess), "{guess}");
        }
    }

    #[test]
    fn a_replaced_master_key_still_tells_what_it_made() {
        let (old, new) = (MasterKeys::generate_text(), MasterKeys::generate_text());
        let made = keys(&old).with_tag(random_text(&OsEntropy));
        let both = keys(&format!("{new},{old}"));
        assert!(both.made(&made));
        assert!(keys(&new).made(&both.with_tag(random_text(&OsEntropy))), "the first makes new ones");
    }
}
