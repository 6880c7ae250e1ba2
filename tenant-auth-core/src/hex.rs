//! Hexadecimal: bytes as lower-case digits. Without the formatting machinery, which takes as long as a hash: each request with an API key
//! comes here.

const DIGITS: [u8; 16] = *b"0123456789abcdef";

pub(crate) fn of(bytes: &[u8]) -> String {
    let digits = bytes.iter().flat_map(|byte| [byte >> 4, byte & 15]);
    digits.map(|digit| char::from(DIGITS[usize::from(digit)])).collect()
}

#[cfg(test)]
mod tests {
    #[test]
    fn each_byte_is_two_digits() {
        assert_eq!(super::of(&[0, 9, 0xa5, 0xff]), "0009a5ff");
    }
}
