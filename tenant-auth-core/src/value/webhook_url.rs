//! The URL of a webhook, checked as far as no operator's setting matters (`webhooks/target` does the rest). It is stored in the
//! normal form of the URL standard, so that the text that is judged, shown and called is the same.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use url::{Host, Url};

use super::Rejected;

/// Bytes, before and after normalisation.
const LONGEST: usize = 2_048;

/// An absolute http or https URL with a host and neither user name, password nor fragment. Whether it may be called is another
/// question, which `webhooks/target` judges.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct WebhookUrl(Url);

#[cfg(feature = "http")]
crate::schema::text_schema!(
    WebhookUrl,
    Text {
        means: "Where deliveries are sent: https on port 443 or 8443 of a host in the public internet, no user name or fragment in it. \
                Where a deployment allows private networks: http and any port too.",
        max: Some(LONGEST),
        pattern: Some(r"^[^\s\u0000-\u001f\u007f-\u009f]+$"),
        example: Some("https://hooks.acme.example/tenant-auth"),
        ..Text::default()
    }
);

impl WebhookUrl {
    /// Reads a URL and normalises it.
    ///
    /// # Errors
    /// [`Rejected`], saying what it must be.
    pub fn parse(text: &str) -> Result<Self, Rejected> {
        let reject =
            || Rejected::because("must be an http or https URL without user name, password or fragment, at most 2048 bytes long");
        // The URL standard would silently drop tabs and line ends, and a fragment is never sent: the intended URL is unclear.
        if text.len() > LONGEST || text.chars().any(|c| c.is_control() || c.is_whitespace()) {
            return Err(reject());
        }
        let url = Url::parse(text).map_err(|_| reject())?;
        let has_credentials = !url.username().is_empty() || url.password().is_some();
        let is_callable = matches!(url.scheme(), "http" | "https") && url.has_host() && url.port() != Some(0);
        if !is_callable || has_credentials || url.fragment().is_some() || url.as_str().len() > LONGEST {
            return Err(reject());
        }
        Ok(Self(url))
    }

    /// The normalised URL.
    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }

    /// The URL as the sender takes it.
    pub(crate) fn to_url(&self) -> Url {
        self.0.clone()
    }

    /// The host: a name, or an address in normal form.
    pub(crate) fn host(&self) -> Host<&str> {
        self.0.host().unwrap_or(Host::Domain("")) // `parse` let none without a host in
    }

    /// The port, the scheme's when the URL names none.
    pub(crate) fn port(&self) -> u16 {
        self.0.port_or_known_default().unwrap_or(0) // both schemes have one
    }

    pub(crate) fn is_https(&self) -> bool {
        self.0.scheme() == "https"
    }
}

impl fmt::Debug for WebhookUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("WebhookUrl([redacted])") // many services put the credential into the path
    }
}

impl fmt::Display for WebhookUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for WebhookUrl {
    type Err = Rejected;

    fn from_str(text: &str) -> Result<Self, Rejected> {
        Self::parse(text)
    }
}

impl Serialize for WebhookUrl {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for WebhookUrl {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::parse(&std::borrow::Cow::<'de, str>::deserialize(deserializer)?).map_err(serde::de::Error::custom)
    }
}
