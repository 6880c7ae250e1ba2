//! The conformance harness. Every scenario is told once, as a function over an [`App`],
//! and run on each cell of axum and actix-web × SQLite and PostgreSQL: through a real socket, with a client that can also be rude,
//! a clock that only moves when told to, and a database of its own. The product decides nothing here and the harness trusts
//! nothing: each response is held against the rules that all responses obey before a scenario sees it.

mod app;
pub mod browser;
mod caller;
mod cell;
mod cookies;
mod database;
mod doubles;
mod host;
pub mod jwt;
pub mod logs;
mod org;
mod postgres;
mod process;
pub mod promises;
mod race;
pub mod receiver;
mod request;
mod response;
pub mod routes;
mod runner;
mod scenario;
mod scratch;
mod server;
mod setup;
pub mod smtp;
mod template;
pub mod totp;
mod universal;
mod verbs;
pub mod walks;
mod wire;

pub use app::App;
pub use caller::{Caller, Person};
pub use cell::{Adapter, Cell, Engine};
pub use cookies::{Cookie, CookieRules};
pub use database::Database;
pub use doubles::{BusyHasher, GatedHasher, GatedResolver, PanickingHasher};
pub use host::{Host, ScriptedServer};
#[doc(hidden)]
pub use inventory;
pub use org::Org;
pub use postgres::{as_postgres_administrator, empty_postgres, run_sql};
pub use process::Process;
pub use race::{Start, rounds, together};
pub use request::Request;
pub use response::{Response, id_of, shape};
pub use runner::{main, stop};
pub use scenario::{Cells, Run, Scenario};
pub use server::{HOST_404, HOST_ASSET, HOST_PAGE, HOST_TEXT};
pub use setup::{HOOKS, Setup};
pub use wire::{Raw, exchange};

/// The path under which every route lies.
pub const BASE: &str = "/api/v1";
/// The public URL of the service under test: https, so that its cookies are `Secure`; the socket itself is plain.
pub const PUBLIC_URL: &str = "https://auth.example.com";
/// A password that every rule accepts; everybody's, unless a scenario says otherwise.
pub const PASSWORD: &str = "mauve-otter-plinth-42";
