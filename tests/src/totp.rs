//! An authenticator app (TOTP): RFC 4226 and RFC 6238 by hand, sharing no line with the product.

use aws_lc_rs::hmac;

/// Seconds a code lasts.
pub const STEP: u64 = 30;

/// RFC 4226 with HMAC-SHA-1 and six digits.
pub fn code(secret: &[u8], counter: u64) -> String {
    let key = hmac::Key::new(hmac::HMAC_SHA1_FOR_LEGACY_USE_ONLY, secret);
    let tag = hmac::sign(&key, &counter.to_be_bytes());
    let offset = usize::from(tag.as_ref()[19] & 15);
    let word: [u8; 4] = tag.as_ref()[offset..offset + 4].try_into().expect("four bytes");
    format!("{:06}", (u32::from_be_bytes(word) & 0x7fff_ffff) % 1_000_000)
}

/// RFC 4648 without padding.
pub fn from_base32(text: &str) -> Vec<u8> {
    let (mut bytes, mut held, mut bits) = (Vec::new(), 0u32, 0);
    for character in text.bytes() {
        let value = match character {
            b'A'..=b'Z' => character - b'A',
            b'2'..=b'7' => character - b'2' + 26,
            _ => panic!("not base 32: {text}"),
        };
        (held, bits) = ((held << 5 | u32::from(value)) & 0xffff, bits + 5);
        if bits >= 8 {
            bits -= 8;
            bytes.push(u8::try_from(held >> bits & 0xff).expect("eight bits"));
        }
    }
    bytes
}
