//! Numbers and texts one after another in one allocation, each as short as it is (varints): a form for what is kept in
//! great numbers and looked at seldom. It is read by the code that wrote it, in the same order, and never leaves the process.

/// What was written.
pub(super) struct Packer {
    bytes: Vec<u8>,
    before: i64,
}

impl Packer {
    pub(super) fn new() -> Self {
        Self { bytes: Vec::with_capacity(256), before: 0 }
    }

    /// As the difference to the number before: times of one session lie near each other.
    pub(super) fn number(&mut self, number: i64) {
        let difference = number.wrapping_sub(self.before);
        self.before = number;
        // The sign last, so that small differences of either direction are short (zigzag).
        self.varint(((difference << 1) ^ (difference >> 63)).cast_unsigned());
    }

    pub(super) fn count(&mut self, count: usize) {
        self.varint(count as u64);
    }

    pub(super) fn text(&mut self, text: &str) {
        self.count(text.len());
        self.bytes.extend_from_slice(text.as_bytes());
    }

    pub(super) fn optional(&mut self, text: Option<&str>) {
        self.bytes.push(u8::from(text.is_some()));
        if let Some(text) = text {
            self.text(text);
        }
    }

    /// One of these words, by its place among them.
    pub(super) fn word(&mut self, words: &[&str], word: &str) {
        let place = words.iter().position(|known| *known == word);
        self.count(place.unwrap_or(words.len()));
    }

    pub(super) fn done(self) -> Box<[u8]> {
        self.bytes.into()
    }

    fn varint(&mut self, mut rest: u64) {
        while rest >= 0x80 {
            self.bytes.push(rest.to_le_bytes()[0] | 0x80); // seven bits, and that there are more
            rest >>= 7;
        }
        self.bytes.push(rest.to_le_bytes()[0]);
    }
}

/// Reads it. `None` where something else was written.
#[derive(Debug, Clone)]
pub(super) struct Unpacker<'a> {
    rest: &'a [u8],
    before: i64,
}

impl<'a> Unpacker<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes, before: 0 }
    }

    pub(super) fn number(&mut self) -> Option<i64> {
        let written = self.varint()?;
        let difference = (written >> 1).cast_signed() ^ -(written & 1).cast_signed();
        self.before = self.before.wrapping_add(difference);
        Some(self.before)
    }

    pub(super) fn count(&mut self) -> Option<usize> {
        usize::try_from(self.varint()?).ok()
    }

    pub(super) fn bytes(&mut self) -> Option<&'a [u8]> {
        let length = self.count()?;
        let (bytes, rest) = self.rest.split_at_checked(length)?;
        self.rest = rest;
        Some(bytes)
    }

    pub(super) fn text(&mut self) -> Option<&'a str> {
        std::str::from_utf8(self.bytes()?).ok()
    }

    pub(super) fn optional(&mut self) -> Option<Option<&'a str>> {
        let (is_some, rest) = self.rest.split_first()?;
        self.rest = rest;
        if *is_some == 1 { self.text().map(Some) } else { Some(None) }
    }

    pub(super) fn word(&mut self, words: &[&'static str]) -> Option<&'static str> {
        words.get(self.count()?).copied()
    }

    fn varint(&mut self) -> Option<u64> {
        let mut number = 0;
        for place in 0..10 {
            let (byte, rest) = self.rest.split_first()?;
            self.rest = rest;
            number |= u64::from(byte & 0x7f) << (7 * place);
            if byte & 0x80 == 0 {
                return Some(number);
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_packed_is_read_again() {
        let numbers = [0, 1, -1, 63, -64, 1_764_085_488_123, 1_764_085_488_124, i64::MAX, i64::MIN, 0];
        let long = "x".repeat(20_000);
        let mut packer = Packer::new();
        numbers.iter().for_each(|number| packer.number(*number));
        ["", "Ada", "Zoë", &long].iter().for_each(|text| packer.text(text));
        [None, Some(""), Some("+49")].iter().for_each(|text| packer.optional(*text));
        let bytes = packer.done();
        let mut unpacker = Unpacker::new(&bytes);
        assert_eq!(numbers.map(|_| unpacker.number()), numbers.map(Some));
        assert_eq!([(); 4].map(|()| unpacker.text()), ["", "Ada", "Zoë", &long].map(Some));
        assert_eq!([(); 3].map(|()| unpacker.optional()), [None, Some(""), Some("+49")].map(Some));
        assert_eq!((unpacker.number(), unpacker.text(), unpacker.optional()), (None, None, None));
    }
}
