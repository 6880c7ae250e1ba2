//! The SQL: every query of the service, one file per table or topic. `$n` parameters, TEXT ids, times in milliseconds, no `now()`,
//! no `FOR UPDATE`: only what both engines understand alike.

pub(super) mod api_keys;
pub(super) mod changes;
pub(super) mod deliveries;
pub(super) mod events;
pub(super) mod invites;
pub(super) mod links;
pub(super) mod mails;
pub(super) mod members;
pub(super) mod organizations;
pub(super) mod pending_logins;
pub(super) mod probe;
pub(super) mod sealed;
pub(super) mod second_factors;
pub(super) mod sessions;
pub(super) mod signing_keys;
pub(super) mod standing;
pub(super) mod sweep;
pub(super) mod throttles;
pub(super) mod users;
mod waiting;
pub(super) mod webhooks;

use crate::error::Error;

/// A stored value that this version cannot read: the row was changed by hand, or by another version.
fn corrupt(what: &'static str) -> Error {
    Error::internal(format!("unreadable {what} in the database"))
}
