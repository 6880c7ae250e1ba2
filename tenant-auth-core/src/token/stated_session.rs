//! The session that an access token states, read without a look at the signature: where to look for what is remembered of the token.
//! It is believed by nobody: what is found there is of the token only if it was verified as this very text.

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};

/// How much of a payload is decoded: each request comes here. The token of an issuer of more than a hundred characters is verified anew each
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

#[cfg(test)]
mod tests {
    use super::{super::claims::AccessClaims, *};

    const SESSION: &str = "ses_01kaz3vrm0f3k8m2p5q7000007";

    /// The session that a token with these claims states, written as the signer writes them.
    fn stated(issuer: &str) -> String {
        let claims = AccessClaims {
            iss: issuer.to_owned(),
            sub: SESSION.replace("ses", "usr"),
            aud: SESSION.replace("ses", "org"),
            sid: SESSION.to_owned(),
            generation: 1,
            jti: "a".to_owned(),
            amr: Vec::new(),
            auth_time: 1,
            iat: 1,
            nbf: 1,
            exp: 2,
        };
        let payload = serde_json::to_vec(&claims).expect("claims");
        let found = StatedSession::of(&format!("e30.{}.e30", URL_SAFE_NO_PAD.encode(payload))).expect("a payload");
        String::from_utf8(found.id().to_vec()).expect("text")
    }

    #[test]
    fn the_session_is_where_the_signer_writes_it() {
        assert_eq!(stated("https://auth.example.com"), SESSION);
        assert_eq!(stated(&format!("https://{}.example.com", "a".repeat(80))), SESSION, "100 characters");
    }

    #[test]
    fn where_it_cannot_be_told_nothing_is_stated() {
        assert_eq!(stated(&format!("https://{}.example.com", "a".repeat(200))), "");
        for none in ["", "e30", "e30.!.e30"] {
            assert!(StatedSession::of(none).is_none(), "{none}");
        }
        assert_eq!(StatedSession::of("e30.e30.e30").expect("a payload").id(), b"");
    }
}
