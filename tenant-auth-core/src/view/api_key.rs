//! API keys as JSON.

use super::view;
use crate::{
    id::{ApiKeyId, UserId},
    model::{ApiKey, Scope},
    time::Timestamp,
    value::DisplayName,
};

view! {
    /// An API key, without its secret.
    pub ApiKeyView of ApiKey as ApiKey {
        /// `key_…`
        id: ApiKeyId,
        /// Given by its maker.
        name: DisplayName,
        /// How the key's text begins.
        prefix: String,
        /// How it ends.
        last_four: String,
        /// What it may do.
        scopes: Vec<Scope>,
        /// Its maker; none when the operator's command line made it.
        created_by: Option<UserId>,
        /// When it was made.
        created_at: Timestamp,
        /// When it dies by itself.
        expires_at: Option<Timestamp>,
        /// When it was last used, within a minute.
        last_used_at: Option<Timestamp>,
    }
}
