//! The server-to-server API: what a customer's backend asks with an API key, and the keys themselves.

mod api_keys;
pub(crate) mod changes;
mod cursor;
mod key_uses;
mod users;
pub(crate) mod verify;

pub use api_keys::{CreatedApiKey, NewApiKey};
pub(crate) use api_keys::{KeyMaker, create_key};
pub(crate) use key_uses::KeyUses;
#[cfg(feature = "http")]
pub(crate) use verify::{AskedAbout, PresentedKey, TokenQuery, Verification};
