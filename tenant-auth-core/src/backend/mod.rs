//! Server to server: what a customer's backend asks with an API key, and the keys themselves.

mod api_keys;
mod key_uses;
mod users;
mod verify;

pub(crate) use api_keys::create_key;
pub use api_keys::{CreatedApiKey, NewApiKey};
pub(crate) use key_uses::KeyUses;
pub use verify::{Asking, Identity, Verification};
