//! How a database is opened: [`StoreOptions`].

/// How a database is opened. `StoreOptions::default()` serves an ordinary program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct StoreOptions {
    /// The size of the connection pool: the most connections that this process opens, at least 1. With SQLite these are the readers;
    /// the one writer comes on top. With PostgreSQL one more comes on top where answers come from memory: that which looks for changes. 10 by default.
    pub connections: u32,
}

impl StoreOptions {
    /// The default options, with a pool of this size.
    pub const fn with_connections(connections: u32) -> Self {
        Self { connections }
    }
}

impl Default for StoreOptions {
    fn default() -> Self {
        Self { connections: 10 }
    }
}
