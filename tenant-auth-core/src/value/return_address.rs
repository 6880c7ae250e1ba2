//! The address to which a person returns after signing in (`next`). An address that anybody can choose is an open redirect
//! (CWE-601): a link to our own page would lead wherever its author wants. So a form is required here that every reader of URLs
//! takes for the same origin, and [`Tenant::return_address`](crate::caller::Tenant::return_address) judges that origin.

use std::{fmt, str::FromStr};

use serde::Serialize;
use url::Url;

use super::{Origin, Rejected, loopback::is_loopback, origin::is_read_alike};

/// An address of the product to which a person returns after signing in: https, or http for loopback; at most 2,048 characters, no
/// user name in it.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize)]
#[serde(transparent)]
pub struct ReturnAddress {
    text: String,
    #[serde(skip)]
    origin: Origin,
}

impl ReturnAddress {
    /// The longest address, in characters (code points).
    pub const LONGEST: usize = 2_048;

    /// Checks an address; it is kept as typed.
    ///
    /// # Errors
    /// [`Rejected`], saying what it must be.
    pub fn parse(text: &str) -> Result<Self, Rejected> {
        let origin = origin_of(text).ok_or_else(|| Rejected::because("must be an https URL (http only for loopback hosts)"))?;
        Ok(Self { text: text.to_owned(), origin })
    }

    /// The address.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The origin that its page has in a browser.
    pub fn origin(&self) -> &Origin {
        &self.origin
    }
}

/// The origin of an address of which all readers think alike.
fn origin_of(text: &str) -> Option<Origin> {
    if text.chars().count() > ReturnAddress::LONGEST || text.chars().any(|c| c.is_control() || c.is_whitespace()) {
        return None;
    }
    let url = Url::parse(text).ok()?;
    let is_secure = url.scheme() == "https" || (url.scheme() == "http" && is_loopback(&url));
    (is_secure && is_read_alike(text, &url)).then(|| Origin::of(&url))
}

impl FromStr for ReturnAddress {
    type Err = Rejected;
    fn from_str(text: &str) -> Result<Self, Rejected> {
        Self::parse(text)
    }
}

impl fmt::Display for ReturnAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

#[cfg(feature = "http")]
crate::schema::text_schema!(
    ReturnAddress,
    Text {
        means: "The address to return to after signing in, as it was asked for: https, or http for loopback.",
        max: Some(ReturnAddress::LONGEST),
        pattern: Some(r"^[^\s\u0000-\u001f\u007f-\u009f]+$"),
        example: Some("https://app.acme.example/reports?page=2"),
        ..Text::default()
    }
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_has_one_origin_for_every_reader() {
        for good in [
            "https://app.acme.example",
            "https://app.acme.example/reports?x=1&y=https://other.example#part",
            "HTTPS://APP.acme.example:443/a\\b@c",
            "http://localhost:3000/",
            "http://127.0.0.1:3000/?q",
            "https://bücher.example/ü",
        ] {
            assert_eq!(ReturnAddress::parse(good).map(|address| address.to_string()).as_deref(), Ok(good));
        }
        for bad in [
            "",
            "/reports",
            "//app.acme.example",
            "https:app.acme.example",
            "https:/app.acme.example",
            "https:///app.acme.example",
            "https:\\\\app.acme.example",
            "https://app.acme.example\\@evil.example",
            "https://app.acme.example@evil.example",
            "https://user:word@app.acme.example",
            "https://@app.acme.example",
            "http://app.acme.example",
            "javascript://app.acme.example/%0aalert(1)",
            "data:text/html,x",
            "ftp://app.acme.example",
            " https://app.acme.example",
            "https://app.acme.example/\n",
            "https://app.\tacme.example/",
            "https://",
        ] {
            assert!(ReturnAddress::parse(bad).is_err(), "{bad:?}");
        }
        let long = |extra: usize| format!("https://a.example/{}", "ü".repeat(ReturnAddress::LONGEST - 18 + extra));
        assert!(ReturnAddress::parse(&long(0)).is_ok() && ReturnAddress::parse(&long(1)).is_err());
    }
}
