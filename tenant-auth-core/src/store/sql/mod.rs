//! The SQL: every query of the service, one file per table or topic. `$n` parameters, TEXT ids, times in milliseconds, no `now()`,
//! no `FOR UPDATE`: only what both engines understand alike.

pub(super) mod api_keys;
pub(super) mod audit;
pub(super) mod audit_exports;
pub(super) mod audit_keys;
pub(super) mod changes;
pub(super) mod checkpoints;
pub(super) mod deliveries;
pub(super) mod delivery_batches;
pub(super) mod delivery_queue;
pub(super) mod deployment_keys;
pub(super) mod deployment_log;
pub(super) mod erasing;
pub(super) mod event_chain;
pub(super) mod event_feed;
pub(super) mod event_sweep;
pub(super) mod event_writing;
pub(super) mod events;
pub(super) mod exports;
mod found;
pub(super) mod imports;
pub(super) mod invites;
pub(super) mod links;
pub(super) mod live_session;
pub(super) mod logins;
pub(super) mod lookups;
pub(super) mod mail_queue;
pub(super) mod mails;
pub(super) mod members;
pub(super) mod opening;
pub(super) mod organizations;
pub(super) mod pending_logins;
pub(super) mod person;
pub(super) mod probe;
pub(super) mod removals;
pub(super) mod removed;
pub(super) mod reservations;
pub(super) mod rotation;
pub(super) mod sealed;
pub(super) mod second_factors;
pub(super) mod sessions;
pub(super) mod sign_ups;
pub(super) mod signing_keys;
pub(super) mod sweep;
pub(super) mod tallies;
pub(super) mod throttles;
pub(super) mod users;
mod waiting;
pub(super) mod webhooks;
pub(super) mod without_organization;

use crate::error::Error;

/// A stored value that this version cannot read: the row was changed by hand, or by another version.
#[derive(Debug, thiserror::Error)]
#[error("the row '{row}' of {table} holds no {column} that this version knows")]
struct CorruptRow {
    table: &'static str,
    column: &'static str,
    row: String,
}

/// The row of `table` with the id `row` cannot be read because of its `column`. The value is not told: it may be anything.
fn corrupt(table: &'static str, column: &'static str, row: impl AsRef<str>) -> Error {
    Error::internal(CorruptRow { table, column, row: row.as_ref().to_owned() })
}
