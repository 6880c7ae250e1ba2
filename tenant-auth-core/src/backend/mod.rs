//! Server to server: what a customer's backend asks with an API key, and the keys themselves.

mod api_keys;
mod key_uses;
mod users;
mod verify;

pub(crate) use api_keys::create_key;
pub use api_keys::{CreatedApiKey, NewApiKey};
pub(crate) use key_uses::KeyUses;
#[cfg(feature = "http")]
pub(crate) use verify::key_id_of;
pub use verify::{Asking, Identity, Verification};
