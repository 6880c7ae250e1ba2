//! Everything the figures need and do not measure: databases with people in them, and the servers in front of them. All of it is
//! made for one run and gone after it.

mod cluster;
mod database;
mod filler;
mod people;
pub(crate) mod requests;
pub(crate) mod service;
mod subscribers;

use std::{collections::HashMap, rc::Rc};

use tempfile::TempDir;
use tenant_auth_core::MasterKeys;

use crate::{Failure, child::Child, cpu::Watched, load::Target, options::Options, report::Report, roles::Role};
use cluster::Cluster;
pub(crate) use database::{Database, Engine, Raw};
pub(crate) use people::{PASSWORD, People};
pub(crate) use subscribers::Subscribers;

/// How many people there are where their number does not matter.
const FEW: u32 = 1_000;

/// A server's default, in MiB.
pub(crate) const MEMORY: u32 = 64;

/// The run's own places.
#[derive(Debug)]
pub(crate) struct Stage {
    pub(crate) options: Options,
    /// Seals what is in the databases.
    pub(crate) master_key: String,
    people: HashMap<(Engine, u32), Rc<People>>,
    /// Before the directory its databases are in.
    cluster: Option<Cluster>,
    directory: TempDir,
}

/// A server under test.
#[derive(Debug)]
pub(crate) struct Served {
    pub(crate) target: Target,
    _child: Child,
}

impl Stage {
    /// Makes the places; PostgreSQL only where it is installed.
    pub(crate) async fn set_up(options: &Options, report: &mut Report) -> Result<Self, Failure> {
        let cluster = Cluster::start().await?;
        match &cluster {
            Some(cluster) => report.note(&format!("{}, its default settings (fsync on), Unix socket", cluster.version)),
            None => report.note("PostgreSQL is not installed: its figures are missing"),
        }
        Ok(Self {
            options: options.clone(),
            master_key: MasterKeys::generate_text(),
            people: HashMap::new(),
            cluster,
            directory: tempfile::Builder::new().prefix("tenant-auth-benchmark-").tempdir()?,
        })
    }

    /// The databases there are.
    pub(crate) fn engines(&self) -> Vec<Engine> {
        if self.cluster.is_some() { vec![Engine::Sqlite, Engine::Postgres] } else { vec![Engine::Sqlite] }
    }

    /// A database with a thousand people.
    pub(crate) async fn few(&mut self, engine: Engine) -> Result<Rc<People>, Failure> {
        self.people(engine, FEW).await
    }

    /// A database with as many people as the run is to grow to.
    pub(crate) async fn many(&mut self, engine: Engine) -> Result<Rc<People>, Failure> {
        self.people(engine, self.options.users).await
    }

    /// A database with a thousand people in one organization.
    pub(crate) async fn crowd(&self, engine: Engine) -> Result<People, Failure> {
        People::settle(self.database(engine, "crowd").await?, &self.master_key, FEW, 1).await
    }

    /// Made by the first who asks, in organizations of a hundred and more.
    async fn people(&mut self, engine: Engine, users: u32) -> Result<Rc<People>, Failure> {
        if let Some(people) = self.people.get(&(engine, users)) {
            return Ok(Rc::clone(people));
        }
        let database = self.database(engine, &format!("people_{users}")).await?;
        let people = Rc::new(People::settle(database, &self.master_key, users, (users / 100).clamp(10, 1_000)).await?);
        self.people.insert((engine, users), Rc::clone(&people));
        Ok(people)
    }

    /// An empty database.
    pub(crate) async fn database(&self, engine: Engine, name: &str) -> Result<Database, Failure> {
        let url = match (engine, &self.cluster) {
            (Engine::Sqlite, _) => format!("sqlite:{}", self.directory.path().join(name).with_extension("db").display()),
            (Engine::Postgres, Some(cluster)) => cluster.create(name).await?,
            (Engine::Postgres, None) => return Err("PostgreSQL is not installed".into()),
        };
        Ok(Database { engine, url })
    }

    /// The service on a database. It remembers nothing, so that each question is asked of the database.
    pub(crate) fn serve(&self, database: &Database) -> Result<Served, Failure> {
        self.serve_with(database, true, 0)
    }

    /// The service, which answers from memory what it may.
    pub(crate) fn serve_remembering(&self, database: &Database) -> Result<Served, Failure> {
        self.serve_with(database, true, MEMORY)
    }

    /// The same on both cores.
    pub(crate) fn serve_on_both(&self, database: &Database) -> Result<Served, Failure> {
        Served::start(Role::Roomy, &self.told(database, true, MEMORY), self.postmaster(database.engine))
    }

    /// The service, to which every password is right at once.
    pub(crate) fn serve_without_hash(&self, database: &Database) -> Result<Served, Failure> {
        self.serve_with(database, false, 0)
    }

    fn serve_with(&self, database: &Database, with_hash: bool, memory: u32) -> Result<Served, Failure> {
        Served::start(Role::Service, &self.told(database, with_hash, memory), self.postmaster(database.engine))
    }

    fn told(&self, database: &Database, with_hash: bool, memory: u32) -> service::Told {
        service::Told {
            database: database.url.clone(),
            master_key: self.master_key.clone(),
            connections: self.options.pool,
            with_worker: !self.options.without_worker,
            with_hash,
            memory,
        }
    }

    /// The first of the database's processes, where it has its own.
    pub(crate) fn postmaster(&self, engine: Engine) -> Option<u32> {
        match engine {
            Engine::Sqlite => None,
            Engine::Postgres => self.cluster.as_ref().map(|cluster| cluster.postmaster),
        }
    }
}

impl Served {
    /// Starts a role that answers HTTP and says where.
    pub(crate) fn start(role: Role, told: &impl serde::Serialize, postmaster: Option<u32>) -> Result<Self, Failure> {
        let mut child = Child::start(role, told)?;
        let target = Target { address: child.hear()?, watched: Watched { server: child.id(), postmaster } };
        Ok(Self { target, _child: child })
    }
}
