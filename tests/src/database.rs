//! The database of one test: a copy of the run's template, removed when dropped. Templates are made once per engine: migrated, and
//! populated with the two demo organizations.

use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};

use tenant_auth_core::{Postgres, Sqlite, Store, StoreOptions};

use crate::{Engine, postgres::Cluster, scratch, template::Template};

/// Each app may open a few connections, so that parallel requests do run in parallel.
const OPTIONS: StoreOptions = StoreOptions::with_connections(4);

static COUNTER: AtomicU32 = AtomicU32::new(0);

/// One test's own database.
#[derive(Debug)]
pub struct Database {
    location: Location,
    template: &'static Template,
}

#[derive(Debug)]
enum Location {
    File { directory: tempfile::TempDir },
    Named { name: String },
}

impl Database {
    /// A fresh copy of the engine's template.
    pub fn create(engine: Engine) -> Self {
        let template = Template::of(engine);
        let location = match engine {
            Engine::Sqlite => {
                let directory = scratch::directory("test");
                std::fs::copy(template.source(), file(&directory)).expect("the template can be copied");
                Location::File { directory }
            }
            Engine::Postgres => {
                let name = format!("test_{}", COUNTER.fetch_add(1, Ordering::SeqCst));
                Cluster::shared().run(format!("CREATE DATABASE {name} TEMPLATE {} STRATEGY FILE_COPY", template.source()));
                Location::Named { name }
            }
        };
        Self { location, template }
    }

    /// What lies in it from the start.
    pub(crate) fn template(&self) -> &'static Template {
        self.template
    }

    /// Connects a store to it.
    pub async fn store(&self) -> Store {
        match &self.location {
            Location::File { directory } => Sqlite::open_with(&file(directory), OPTIONS).await.expect("SQLite opens").into(),
            Location::Named { name } => {
                Postgres::connect_with(&Cluster::shared().url(name), OPTIONS).await.expect("PostgreSQL answers").into()
            }
        }
    }

    /// The files of a SQLite database, its write-ahead log included.
    pub fn files(&self) -> Vec<PathBuf> {
        match &self.location {
            Location::File { directory } => std::fs::read_dir(directory.path())
                .expect("the directory is there")
                .map(|entry| entry.expect("an entry").path())
                .collect(),
            Location::Named { .. } => Vec::new(),
        }
    }

    /// The URL of a PostgreSQL database.
    pub fn url(&self) -> Option<String> {
        match &self.location {
            Location::File { .. } => None,
            Location::Named { name } => Some(Cluster::shared().url(name)),
        }
    }

    /// Takes a PostgreSQL database away from everybody connected, or gives it back: an outage, made to order.
    pub fn set_reachable(&self, reachable: bool) {
        let Location::Named { name } = &self.location else { panic!("only a PostgreSQL database can be out of reach") };
        Cluster::shared().run(format!("ALTER DATABASE {name} WITH ALLOW_CONNECTIONS {reachable}"));
        if !reachable {
            Cluster::shared().run(format!("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{name}'"));
        }
    }
}

fn file(directory: &tempfile::TempDir) -> String {
    directory.path().join("auth.db").display().to_string()
}

impl Drop for Database {
    fn drop(&mut self) {
        if let Location::Named { name } = &self.location {
            Cluster::shared().remove(name);
        }
    }
}
