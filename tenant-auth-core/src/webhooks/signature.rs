//! Webhook signatures: HMAC-SHA256 as Standard Webhooks 1.0.0 defines it, with our own prefix before the secret. Receivers in Rust
//! check them with [`verify_webhook`]; receivers elsewhere take any Standard Webhooks library and replace `whs_` by that library's
//! prefix.

use std::{fmt, time::Duration};

use base64::{Engine, engine::general_purpose::STANDARD};
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use zeroize::Zeroizing;

use crate::{ports::Entropy, time::Timestamp};

const PREFIX: &str = "whs_";
const SCHEME: &str = "v1,";
/// The fewest key bytes a secret may have (Standard Webhooks asks for 24 to 64).
const FEWEST_BYTES: usize = 24;
const MOST_BYTES: usize = 64;

/// A webhook's signing secret: `whs_` and padded standard base64 of 32 random bytes. Shown once; never printed.
#[derive(Clone)]
pub struct SigningSecret(Zeroizing<Vec<u8>>);

/// Why the signature of a delivery was refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SignatureError {
    /// The secret is no `whs_` and base64 of 24 to 64 bytes.
    #[error("the signing secret must be whs_ followed by padded standard base64")]
    MalformedSecret,
    /// `webhook-timestamp` is no number, or too far from now.
    #[error("the delivery's timestamp is missing, malformed or too far from now")]
    Timestamp,
    /// No signature was made with the secret.
    #[error("none of the delivery's signatures is this secret's")]
    Mismatch,
}

/// The three signature headers of a delivery, as they arrived.
#[derive(Debug, Clone, Copy)]
pub struct SignedHeaders<'a> {
    /// `webhook-id`: the same for every attempt, so that a receiver can recognise repetitions.
    pub id: &'a str,
    /// `webhook-timestamp`: seconds since the Unix epoch.
    pub timestamp: &'a str,
    /// `webhook-signature`: one signature per live secret, separated by spaces.
    pub signature: &'a str,
}

/// Checks that a delivery was signed with `secret`, within `tolerance` of `now`, over exactly these bytes. Signatures are compared
/// in constant time.
///
/// ```
/// use std::time::Duration;
/// use tenant_auth_core::{Timestamp, webhooks::{SignatureError, SignedHeaders, SigningSecret, verify_webhook}};
///
/// # fn main() -> Result<(), SignatureError> {
/// let secret = SigningSecret::parse("whs_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=")?;
/// let headers = SignedHeaders { id: "evt_1", timestamp: "1700000000", signature: "v1,bm90IHRoZSBvbmU=" };
/// let now = Timestamp::from_millis(1_700_000_000_000);
/// let answer = verify_webhook(&secret, headers, b"{}", now, Duration::from_secs(300));
/// assert_eq!(answer, Err(SignatureError::Mismatch));
/// # Ok(()) }
/// ```
///
/// # Errors
/// [`SignatureError`]; answer such a delivery with 400.
pub fn verify_webhook(
    secret: &SigningSecret,
    headers: SignedHeaders<'_>,
    body: &[u8],
    now: Timestamp,
    tolerance: Duration,
) -> Result<(), SignatureError> {
    let seconds: i64 = headers.timestamp.parse().map_err(|_| SignatureError::Timestamp)?;
    let tolerance = i64::try_from(tolerance.as_secs()).unwrap_or(i64::MAX);
    if (now.millis() / 1_000).saturating_sub(seconds).saturating_abs() > tolerance {
        return Err(SignatureError::Timestamp);
    }
    let ours = secret.mac(headers.id, headers.timestamp, body);
    let is_ours = |signature: &str| {
        let theirs = signature.strip_prefix(SCHEME).and_then(|text| STANDARD.decode(text).ok());
        theirs.is_some_and(|theirs| ours.clone().verify_slice(&theirs).is_ok())
    };
    if headers.signature.split(' ').any(is_ours) { Ok(()) } else { Err(SignatureError::Mismatch) }
}

impl SigningSecret {
    pub(crate) fn generate(entropy: &dyn Entropy) -> Self {
        let mut bytes = Zeroizing::new(vec![0u8; 32]);
        entropy.fill(&mut bytes);
        Self(bytes)
    }

    /// Parses a secret in the form in which it was shown.
    ///
    /// # Errors
    /// [`SignatureError::MalformedSecret`].
    pub fn parse(text: &str) -> Result<Self, SignatureError> {
        let encoded = text.strip_prefix(PREFIX).ok_or(SignatureError::MalformedSecret)?;
        let bytes = STANDARD.decode(encoded).map(Zeroizing::new).map_err(|_| SignatureError::MalformedSecret)?;
        if (FEWEST_BYTES..=MOST_BYTES).contains(&bytes.len()) { Ok(Self(bytes)) } else { Err(SignatureError::MalformedSecret) }
    }

    /// The secret in clear. The service shows it once, when it is created.
    pub fn expose(&self) -> Zeroizing<String> {
        Zeroizing::new(format!("{PREFIX}{}", STANDARD.encode(&*self.0)))
    }

    /// The signature of a message, as it stands in `webhook-signature`.
    pub(crate) fn sign(&self, id: &str, timestamp: &str, body: &[u8]) -> String {
        format!("{SCHEME}{}", STANDARD.encode(self.mac(id, timestamp, body).finalize().into_bytes()))
    }

    fn mac(&self, id: &str, timestamp: &str, body: &[u8]) -> Hmac<Sha256> {
        // A key shorter than the hash's block is padded with zeros (RFC 2104); no secret is longer than a block.
        let mut block = Zeroizing::new([0u8; 64]);
        block[..self.0.len()].copy_from_slice(&self.0);
        let mut mac = Hmac::<Sha256>::new((&*block).into());
        for part in [id.as_bytes(), b".", timestamp.as_bytes(), b".", body] {
            mac.update(part);
        }
        mac
    }
}

impl fmt::Debug for SigningSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[redacted]")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ports::OsEntropy;

    const NOW: Timestamp = Timestamp::from_millis(1_614_265_330_000);
    const TOLERANCE: Duration = Duration::from_secs(300);

    /// The example of the Standard Webhooks specification.
    #[test]
    fn the_standards_own_example_is_signed_alike() {
        let secret = SigningSecret::parse("whs_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw").expect("well formed");
        let signature = secret.sign("msg_p5jXN8AQM9LWM0D4loKWxJek", "1614265330", br#"{"test": 2432232314}"#);
        assert_eq!(signature, "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
    }

    #[test]
    fn a_delivery_is_believed_with_either_secret_and_with_no_change() {
        let (old, new) = (SigningSecret::generate(&OsEntropy), SigningSecret::generate(&OsEntropy));
        let signature = format!("{} {}", new.sign("evt_1", "1614265330", b"{}"), old.sign("evt_1", "1614265330", b"{}"));
        let headers = SignedHeaders { id: "evt_1", timestamp: "1614265330", signature: &signature };
        for secret in [&old, &new] {
            assert_eq!(verify_webhook(secret, headers, b"{}", NOW, TOLERANCE), Ok(()));
            assert_eq!(verify_webhook(secret, headers, b"{ }", NOW, TOLERANCE), Err(SignatureError::Mismatch));
            let other = SignedHeaders { id: "evt_2", ..headers };
            assert_eq!(verify_webhook(secret, other, b"{}", NOW, TOLERANCE), Err(SignatureError::Mismatch));
        }
        let stranger = SigningSecret::generate(&OsEntropy);
        assert_eq!(verify_webhook(&stranger, headers, b"{}", NOW, TOLERANCE), Err(SignatureError::Mismatch));
        for timestamp in ["", "soon", "1614265029", "1614265631", "9223372036854775807", "-9223372036854775808"] {
            let headers = SignedHeaders { timestamp, ..headers };
            assert_eq!(verify_webhook(&new, headers, b"{}", NOW, TOLERANCE), Err(SignatureError::Timestamp), "{timestamp}");
        }
    }

    #[test]
    fn secrets_are_read_as_they_are_shown_and_never_printed() {
        let secret = SigningSecret::generate(&OsEntropy);
        let shown = secret.expose();
        assert!(shown.starts_with("whs_") && shown.len() == 48, "32 bytes, padded");
        assert_eq!(*SigningSecret::parse(&shown).expect("as shown").expose(), *shown);
        assert_eq!(format!("{secret:?}"), "[redacted]");
        for text in ["", "whs_", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "whs_AAAA", "whs_!!!!"] {
            assert!(SigningSecret::parse(text).is_err(), "{text}");
        }
    }
}
