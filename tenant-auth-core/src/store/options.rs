//! How a database is opened: [`StoreOptions`].

use crate::config::{ConfigError, Setting};

/// How a database is opened. `StoreOptions::default()` serves an ordinary program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct StoreOptions {
    /// The size of the connection pool: the most connections that this process opens, at least 1. With SQLite these are the readers;
    /// the one writer comes on top. With PostgreSQL one more comes on top where answers come from memory: that which looks for changes. 10 by default.
    pub connections: u32,
    /// Whether a database that is not there is created: a file of SQLite, or, where the user may, a database of PostgreSQL. Where it is not,
    /// opening is refused with [`SetupError::Config`](crate::config::SetupError::Config). `true` by default.
    pub create: bool,
}

impl StoreOptions {
    /// The default options, with a pool of this size.
    pub const fn with_connections(connections: u32) -> Self {
        Self { connections, create: true }
    }

    /// The same for a database that must be there.
    #[must_use]
    pub const fn existing(self) -> Self {
        Self { create: false, ..self }
    }
}

/// The refusal of a database that is not there.
pub(super) fn absent() -> ConfigError {
    ConfigError::new(Setting::DatabaseUrl, "names a database that is not there, and should be: nothing was created")
}

impl Default for StoreOptions {
    fn default() -> Self {
        Self::with_connections(10)
    }
}
