//! What a product looks like on hosted pages and in mails: its logo, its accent colour and where it gives support. Operators state
//! them; a logo is judged by its content, because pages and mails of ours show it.

use std::{fmt, str::FromStr, sync::Arc};

use serde::Serialize;
use url::Url;

use super::Rejected;

const MOST_BYTES: usize = 2_048;

/// A logo: a PNG, JPEG, WebP or SVG file of at most 64 KiB. Which of them it is is told by its content, never by a name.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Logo {
    content_type: &'static str,
    bytes: Arc<[u8]>,
}

impl Logo {
    /// The largest file, in bytes.
    pub const LARGEST: usize = 64 * 1024;

    /// Judges the content of a file.
    ///
    /// # Errors
    /// [`Rejected`], saying what the file must be.
    pub fn parse(content: impl Into<Vec<u8>>) -> Result<Self, Rejected> {
        let bytes: Vec<u8> = content.into();
        if bytes.len() > Self::LARGEST {
            return Err(Rejected::because(format!("must have at most {} bytes", Self::LARGEST)));
        }
        let content_type = content_type_of(&bytes).ok_or_else(|| Rejected::because("must be a PNG, JPEG, WebP or SVG file"))?;
        Ok(Self { content_type, bytes: bytes.into() })
    }

    /// Its media type, such as `image/png`.
    pub fn content_type(&self) -> &'static str {
        self.content_type
    }

    /// The file.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes
    }
}

impl fmt::Debug for Logo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Logo({}, {} bytes)", self.content_type, self.bytes.len())
    }
}

/// The media type by the first bytes (WHATWG MIME Sniffing, 6.1), and of an SVG by its first element.
fn content_type_of(bytes: &[u8]) -> Option<&'static str> {
    match bytes {
        [0x89, b'P', b'N', b'G', b'\r', b'\n', 0x1a, b'\n', ..] => Some("image/png"),
        [0xff, 0xd8, 0xff, ..] => Some("image/jpeg"),
        [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => Some("image/webp"),
        _ => is_svg(str::from_utf8(bytes).ok()?).then_some("image/svg+xml"),
    }
}

/// Whether the first element is `svg`; before it there may be an XML declaration, comments and a document type.
fn is_svg(text: &str) -> bool {
    let mut rest = text.trim_start_matches('\u{feff}').trim_start();
    loop {
        let after = match rest {
            _ if rest.starts_with("<?") => rest.split_once("?>").map(|(_, after)| after),
            _ if rest.starts_with("<!--") => rest.split_once("-->").map(|(_, after)| after),
            _ if rest.starts_with("<!DOCTYPE") => after_document_type(rest),
            _ => break,
        };
        let Some(after) = after else { return false };
        rest = after.trim_start();
    }
    rest.strip_prefix("<svg").is_some_and(|after| after.starts_with(|c: char| c.is_ascii_whitespace() || c == '>' || c == '/'))
}

/// What comes after a document type. It may have declarations in brackets, each with a `>` of its own: drawing programs write those of
/// their namespaces. Nothing here expands them, and browsers load nothing for them.
fn after_document_type(text: &str) -> Option<&str> {
    let (_, rest) = text.split_at(text.find(['[', '>'])?);
    let end = if rest.starts_with('[') { rest.split_once(']')?.1.trim_start() } else { rest };
    end.strip_prefix('>')
}

/// A colour: `#` and six hexadecimal digits, red, green and blue.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Colour([u8; 3]);

impl Colour {
    /// Parses `#rrggbb`.
    ///
    /// # Errors
    /// [`Rejected`], saying what it must be.
    pub fn parse(text: &str) -> Result<Self, Rejected> {
        let digits = text.strip_prefix('#').filter(|digits| digits.len() == 6 && digits.bytes().all(|b| b.is_ascii_hexdigit()));
        let number = digits.and_then(|digits| u32::from_str_radix(digits, 16).ok());
        let [_, red, green, blue] = number.ok_or_else(|| Rejected::because("must be a colour such as #1f4bd8"))?.to_be_bytes();
        Ok(Self([red, green, blue]))
    }

    /// A colour of the code's own.
    pub(crate) const fn of(parts: [u8; 3]) -> Self {
        Self(parts)
    }

    /// Black or white, whichever contrasts more as text on this background (WCAG 2.2, contrast ratio).
    #[must_use]
    pub fn text(self) -> Self {
        let light = self.luminance();
        let (white, black) = (1.05 / (light + 0.05), (light + 0.05) / 0.05);
        if white >= black { Self([0xff; 3]) } else { Self([0; 3]) }
    }

    /// The relative luminance, from 0 (black) to 1 (white).
    fn luminance(self) -> f64 {
        let linear = self.0.map(|part| {
            let part = f64::from(part) / 255.0;
            if part <= 0.04045 { part / 12.92 } else { ((part + 0.055) / 1.055).powf(2.4) }
        });
        0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
    }
}

impl fmt::Display for Colour {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [red, green, blue] = self.0;
        write!(f, "#{red:02x}{green:02x}{blue:02x}")
    }
}

impl FromStr for Colour {
    type Err = Rejected;
    fn from_str(text: &str) -> Result<Self, Rejected> {
        Self::parse(text)
    }
}

/// Where people of the product find help: an https page, or an address as `mailto:`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize)]
#[serde(transparent)]
pub struct SupportUrl(String);

impl SupportUrl {
    /// Checks a URL; it is kept as typed.
    ///
    /// # Errors
    /// [`Rejected`], saying what it must be.
    pub fn parse(text: &str) -> Result<Self, Rejected> {
        let is_text = text.len() <= MOST_BYTES && !text.chars().any(|c| c.is_control() || c.is_whitespace());
        let is_usable = |url: &Url| match url.scheme() {
            "https" => url.host_str().is_some_and(|host| !host.is_empty()) && url.username().is_empty() && url.password().is_none(),
            "mailto" => url.path().split_once('@').is_some_and(|(person, domain)| !person.is_empty() && !domain.is_empty()),
            _ => false,
        };
        let url = Url::parse(text).ok().filter(|url| is_text && is_usable(url));
        url.map(|_| Self(text.to_owned())).ok_or_else(|| Rejected::because("must be an https or a mailto URL"))
    }

    /// The URL.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for SupportUrl {
    type Err = Rejected;
    fn from_str(text: &str) -> Result<Self, Rejected> {
        Self::parse(text)
    }
}

impl fmt::Display for SupportUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(content: &[u8]) -> Option<&'static str> {
        Logo::parse(content).ok().map(|logo| logo.content_type())
    }

    #[test]
    fn a_logo_is_what_its_content_is() {
        assert_eq!(kind(b"\x89PNG\r\n\x1a\n...."), Some("image/png"));
        assert_eq!(kind(b"\xff\xd8\xff\xe0...."), Some("image/jpeg"));
        assert_eq!(kind(b"RIFF\0\0\0\0WEBPVP8 "), Some("image/webp"));
        for svg in [
            "<svg xmlns='http://www.w3.org/2000/svg'/>",
            "\u{feff}<?xml version='1.0'?>\n<!-- a > b -->\n<!DOCTYPE svg>\n<svg>",
            "<!DOCTYPE svg PUBLIC '-//W3C//DTD SVG 1.1//EN' 'svg11.dtd' [\n<!ENTITY ns_svg 'http://www.w3.org/2000/svg'>\n] >\n<svg/>",
            "<!DOCTYPE svg><svg id='a[0]'/>",
            "<svg/>",
        ] {
            assert_eq!(kind(svg.as_bytes()), Some("image/svg+xml"), "{svg}");
        }
        for other in
            ["", "<html><svg></svg></html>", "<svgx>", "<!-- <svg>", "GIF89a", "RIFF\0\0\0\0WAVE", "svg", "PNG", "<script>"]
        {
            assert_eq!(kind(other.as_bytes()), None, "{other}");
        }
        for open in ["<!DOCTYPE svg", "<!DOCTYPE svg [<!ENTITY a 'b'>", "<!DOCTYPE svg [] <svg/>", "<!DOCTYPE svg []><html>"] {
            assert_eq!(kind(open.as_bytes()), None, "{open}");
        }
        assert_eq!(kind(b"\xfe\xfe<svg>"), None, "no UTF-8");
        let png = |size: usize| [b"\x89PNG\r\n\x1a\n".to_vec(), vec![0; size - 8]].concat();
        assert!(kind(&png(Logo::LARGEST)).is_some() && kind(&png(Logo::LARGEST + 1)).is_none());
    }

    #[test]
    fn text_on_a_colour_is_readable() {
        let text = |colour: &str| Colour::parse(colour).map(|colour| colour.text().to_string()).expect("a colour");
        for (dark, light) in [("#000000", "#ffffff"), ("#1f4bd8", "#ffff00"), ("#B3261E", "#7fd7a3"), ("#757575", "#777777")] {
            assert_eq!((text(dark).as_str(), text(light).as_str()), ("#ffffff", "#000000"));
        }
        for bad in ["", "#", "1f4bd8", "#1f4bd", "#1f4bd80", "#1f4bdg", "red", "#+12345", " #1f4bd8"] {
            assert!(Colour::parse(bad).is_err(), "{bad:?}");
        }
        assert_eq!(Colour::parse("#A0B1C2").expect("a colour").to_string(), "#a0b1c2");
    }

    #[test]
    fn support_is_a_page_or_an_address() {
        for good in ["https://help.example.com/?a=b#c", "mailto:help@example.com", "mailto:help@example.com?subject=Help"] {
            assert_eq!(SupportUrl::parse(good).map(|url| url.to_string()).as_deref(), Ok(good));
        }
        for bad in [
            "",
            "help@example.com",
            "http://help.example.com",
            "https://",
            "https://u:p@example.com",
            "mailto:",
            "mailto:help",
            "mailto:@x",
            "javascript:alert(1)",
            "https://a b",
        ] {
            assert!(SupportUrl::parse(bad).is_err(), "{bad:?}");
        }
    }
}
