//! Whatever ends or narrows a right: once it is acknowledged, no server of the deployment answers by what was before. The scenarios
//! of these files are the rows of one table, each with the changes it makes, as the core names them.

mod accounts;
mod keys;
mod members;
mod organizations;
mod sessions;

use std::collections::BTreeSet;

use tenant_auth_conformance::{App, scenarios};
use tenant_auth_core::testing::change_log::narrowing_changes;

/// Lists the scenarios of a file, each with the changes it makes.
macro_rules! rows {
    ($($scenario:ident: $($change:ident)+;)*) => {
        tenant_auth_conformance::scenarios![on each database: $($scenario,)*];
        /// The changes that the scenarios of this file make.
        pub(super) const CHANGES: &[&str] = &[$($(stringify!($change),)+)*];
    };
}
use rows;

scenarios![on each database: every_narrowing_change_is_proved];

/// A change that ends or narrows a right and that no scenario makes, or a name that is no such change any more.
async fn every_narrowing_change_is_proved(_: &App) {
    let proved = [sessions::CHANGES, members::CHANGES, accounts::CHANGES, organizations::CHANGES, keys::CHANGES].concat();
    assert_eq!(BTreeSet::from_iter(proved), BTreeSet::from_iter(narrowing_changes()));
}
