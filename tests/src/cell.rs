//! The matrix of the suite: frameworks × databases.

use std::fmt;

/// The framework that carries the bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Adapter {
    /// `tenant-auth-axum`
    Axum,
    /// `tenant-auth-actix`
    Actix,
}

/// The database behind the store.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Engine {
    /// A file of its own.
    Sqlite,
    /// A database of its own in the run's cluster.
    Postgres,
}

/// One combination of the two.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Cell {
    /// Who serves.
    pub adapter: Adapter,
    /// Who keeps.
    pub engine: Engine,
}

impl Adapter {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Axum, Self::Actix];
}

impl Cell {
    /// All four.
    pub const ALL: [Self; 4] = [
        Self { adapter: Adapter::Axum, engine: Engine::Sqlite },
        Self { adapter: Adapter::Axum, engine: Engine::Postgres },
        Self { adapter: Adapter::Actix, engine: Engine::Sqlite },
        Self { adapter: Adapter::Actix, engine: Engine::Postgres },
    ];
}

impl fmt::Display for Adapter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Axum => "axum",
            Self::Actix => "actix",
        })
    }
}

impl fmt::Display for Cell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let engine = match self.engine {
            Engine::Sqlite => "sqlite",
            Engine::Postgres => "postgres",
        };
        write!(f, "{}::{engine}", self.adapter)
    }
}
