//! Validated values. Each type's constructor is the only way to make one, so code that has an [`Email`] or a [`Slug`] need not
//! check it again. The rules are the section "Values" of `behaviour.md`.

mod appearance;
mod email;
mod language;
mod loopback;
mod metadata;
mod names;
mod network;
mod origin;
#[cfg(feature = "service")]
pub(crate) mod password;
mod profile;
mod return_address;
mod search_text;
mod slug;
mod webhook_url;

pub use appearance::{Colour, Logo, SupportUrl};
pub use email::Email;
pub use language::Language;
pub use loopback::{is_loopback, is_loopback_for_secrets};
pub use metadata::Metadata;
pub use names::{Description, DisplayName};
pub use network::Network;
#[cfg(feature = "http")]
pub(crate) use network::canonical as canonical_network;
#[cfg(feature = "service")]
pub(crate) use network::parsed as parsed_network;
pub(crate) use network::refuse_everybody;
pub use origin::{AppUrl, Origin};
pub use profile::{Bio, Phone};
pub use return_address::ReturnAddress;
pub use search_text::SearchText;
pub use slug::{Plan, Slug};
pub use webhook_url::WebhookUrl;

pub use crate::time::MalformedTime;

/// The rejection of a text: what it must be instead, to be read after the field's name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Rejected(pub(crate) String);

impl Rejected {
    pub(crate) fn because(reason: impl Into<String>) -> Self {
        Self(reason.into())
    }
}

/// `Deserialize`, `FromStr`, `Serialize` (as the text) and the schema of a checked text value.
macro_rules! text_value {
    ($name:ident, $text:expr) => {
        #[cfg(feature = "http")]
        $crate::schema::text_schema!($name, $text);
        impl std::str::FromStr for $name {
            type Err = $crate::value::Rejected;
            fn from_str(text: &str) -> Result<Self, Self::Err> {
                Self::parse(text)
            }
        }
        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = <std::borrow::Cow<'de, str>>::deserialize(deserializer)?;
                Self::parse(&text).map_err(serde::de::Error::custom)
            }
        }
        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.as_str())
            }
        }
        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.as_str())
            }
        }
        impl $crate::value::Stated for $name {
            fn stated(text: String) -> Self {
                Self(text)
            }
        }
        impl $name {
            /// Reads a text that this type wrote to our own database, without checking it again.
            pub(crate) fn from_stored(text: String) -> Self {
                Self(text)
            }
        }
    };
}
pub(crate) use text_value;

/// A value that another service states, which checked it when it came in.
pub(crate) trait Stated {
    /// Takes it as it is.
    fn stated(text: String) -> Self;
}

/// Reads a value as it is stated: a newer service's rules are not second-guessed by an older gate.
pub(crate) fn stated<'de, D: serde::Deserializer<'de>, T: Stated>(deserializer: D) -> Result<T, D::Error> {
    <String as serde::Deserialize>::deserialize(deserializer).map(T::stated)
}
