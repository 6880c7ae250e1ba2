//! `next`: where a person wants to return after signing in. Whether it is allowed is judged by the organization; an answer without it
//! says that it is not, and the person is signed in all the same (behaviour.md, B221).

use serde::Deserialize;

use crate::{
    schema,
    value::{Rejected, ReturnAddress},
};

/// The address that a request names. Any text that is no longer than an address may be.
#[derive(Deserialize)]
#[serde(try_from = "String")]
pub(crate) struct AskedAddress(String);

impl AskedAddress {
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for AskedAddress {
    type Error = Rejected;
    fn try_from(text: String) -> Result<Self, Rejected> {
        if text.chars().count() > ReturnAddress::LONGEST {
            return Err(Rejected::because(format!("must be at most {} characters", ReturnAddress::LONGEST)));
        }
        Ok(Self(text))
    }
}

schema::text_schema!(
    AskedAddress,
    Text {
        means: "Where to return after signing in: an absolute URL, https or http for loopback, of the public URL's origin, the \
                organization's application, one of its allowed origins or one of the operator's. Left out of the answer otherwise.",
        max: Some(ReturnAddress::LONGEST),
        example: Some("https://app.acme.example/reports?page=2"),
        ..Text::default()
    }
);
