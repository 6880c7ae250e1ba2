//! The schema's history, per engine: the same versions, tables and columns (a test compares them). Released files never change.

use sqlx::{
    SqlSafeStr,
    migrate::{MigrateError, Migration, MigrationType, Migrator},
};

use crate::error::Error;

/// Version, name, SQL.
pub(super) type Step = (i64, &'static str, &'static str);

#[cfg(feature = "sqlite")]
pub(super) const SQLITE: &[Step] = &[
    (1, "initial", include_str!("../../migrations/sqlite/0001_initial.sql")),
    (2, "account_safety", include_str!("../../migrations/sqlite/0002_account_safety.sql")),
    (3, "webhooks", include_str!("../../migrations/sqlite/0003_webhooks.sql")),
];

#[cfg(feature = "postgres")]
pub(super) const POSTGRES: &[Step] = &[
    (1, "initial", include_str!("../../migrations/postgres/0001_initial.sql")),
    (2, "account_safety", include_str!("../../migrations/postgres/0002_account_safety.sql")),
    (3, "webhooks", include_str!("../../migrations/postgres/0003_webhooks.sql")),
];

/// Keeps its book in a table of our prefix: the host application may use sqlx's own.
pub(super) fn migrator(steps: &[Step]) -> Migrator {
    let migrations = steps
        .iter()
        .map(|(version, name, sql)| Migration::new(*version, (*name).into(), MigrationType::Simple, sql.into_sql_str(), false))
        .collect();
    let mut migrator = Migrator::with_migrations(migrations);
    migrator.dangerous_set_table_name("tenant_auth_migrations");
    migrator
}

pub(super) fn failure(error: MigrateError) -> Error {
    match error {
        MigrateError::Execute(error) => super::failure::of(error),
        other => Error::internal(other),
    }
}
