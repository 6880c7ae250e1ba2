//! People as JSON, without their profile: it leaves the service only towards the person (`answers.rs`).

use serde::{Deserialize, Serialize};

use crate::{
    id::UserId,
    model::{AccountRole, User},
    value::{DisplayName, Email, stated},
};

/// A person.
// By hand, because a gate reads it from a remote service too.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "http", derive(utoipa::ToSchema), schema(as = User))]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct UserView {
    /// `usr_…`
    pub id: UserId,
    /// Shown to people.
    #[serde(deserialize_with = "stated")]
    pub name: DisplayName,
    /// As typed; compared lower-cased.
    #[serde(deserialize_with = "stated")]
    pub email: Email,
    /// Standing in the deployment.
    pub role: AccountRole,
    /// Whether the person proved that the address is theirs.
    pub is_email_verified: bool,
}

impl From<&User> for UserView {
    fn from(user: &User) -> Self {
        let User { id, name, email, role, is_email_verified, profile: _ } = user.clone();
        Self { id, name, email, role, is_email_verified }
    }
}
