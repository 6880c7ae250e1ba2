//! The server-to-server API: what a customer's backend asks with an API key, and the keys themselves.

mod api_keys;
pub(crate) mod changes;
mod cursor;
mod deployment;
mod key_lookup;
mod key_uses;
mod leaked;
mod presented_key;
#[cfg(feature = "http")]
mod told_before;
mod users;
pub(crate) mod verify;

pub use crate::caller::DeploymentBackend;
pub(crate) use api_keys::LONGEST_OVERLAP;
pub use api_keys::{CreatedApiKey, NewApiKey};
pub(crate) use key_uses::KeyUses;
#[cfg(feature = "http")]
pub(crate) use presented_key::PresentedKey;
#[cfg(feature = "http")]
pub(crate) use verify::{AskedAbout, TokenQuery, Verification};
