//! The command `migrate`: creates or updates the tables. `serve` does the same by itself; this command lets a job without the
//! master key do it first.

use serde_json::json;
use tenant_auth_core::{Store, StoreOptions};

use super::report::Format;
use crate::{
    database_mark::DatabaseMark,
    failure::Failure,
    logging,
    settings::{self, Input, LogFormat},
};

pub(super) async fn run(input: &Input, format: &Format) -> Result<(), Failure> {
    let database = settings::for_migrate(input)?;
    logging::start("warn", LogFormat::Text);
    let mark = DatabaseMark::of(&database)?;
    let store =
        Store::open_with(&database.url, StoreOptions::with_connections(database.connections)).await.map_err(Failure::of_opening)?;
    store.migrate().await?;
    mark.keep();
    store.close().await;
    format.print(&json!({ "migrated": true }), "The database is up to date.")
}
