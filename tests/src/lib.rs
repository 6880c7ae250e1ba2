//! The conformance harness. Every scenario is told once, as a function over an [`App`],
//! and run on each cell of axum and actix-web × SQLite and PostgreSQL: through a real socket, with a client that can also be rude,
//! a clock that only moves when told to, and a database of its own. The product decides nothing here and the harness trusts
//! nothing: each response is held against the rules that all responses obey before a scenario sees it.
//!
//! # Running scenarios
//!
//! A name reads `adapter::engine::topic::sentence`, the topics are the folders of `tests/suite`, and any part of a name is a filter:
//!
//! ```sh
//! cargo test -p tenant-auth-conformance --test conformance -- auth::login            # one file, in each cell
//! cargo test -p tenant-auth-conformance --test conformance -- axum::sqlite::org::    # one folder, in the fastest cell
//! cargo test -p tenant-auth-conformance --test conformance -- a_wrong_password_is_401
//! cargo test -p tenant-auth-conformance --test conformance -- --list
//! ```
//!
//! # Writing your first scenario
//!
//! 1. Find the file by the route it is about: `POST /auth/login` is `tests/suite/auth/login.rs`.
//! 2. Write an `async fn(app: &App)` whose name is the sentence that must stay true, and put its name into the list at the top of
//!    the file. A function that was not listed is dead code, and the compiler says so.
//! 3. Let people act: `app.member().logged_in().await` is a member with a browser, `app.admin()` an org_admin, `app.backend()` a
//!    customer's backend with its API key, `app.anonymous()` a caller without a session. Each [`Caller`] has the verbs of people
//!    (`login`, `refresh`, `logout`) and of HTTP (`get`, `post`).
//! 4. Say what the answer must be: `.expect(200)`, `.expect_ok()` for its data, `.expect_error(…)` for a refusal. Headers, the
//!    envelope, cookies and the OpenAPI schema of each answer have been checked by then.
//! 5. Time stands still: `app.advance(seconds)` moves it, `app.tick()` lets the worker send what is due.
//!
//! ```ignore
//! async fn a_logout_ends_the_session(app: &App) {
//!     let member = app.member().logged_in().await;
//!     member.logout().await.expect(200);
//!     member.get("/org").await.expect_no_session();
//! }
//! ```
//!
//! A new file is a `mod` line in its folder's `mod.rs` and a `scenarios!` list; a test compares the lines with the files. A file
//! whose list begins with `on each database:` runs once on each database instead of once on each adapter, too: for races and
//! other scenarios in which the adapter does not matter. What several files need lies in `tests/suite/support`.

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
mod neighbours;
mod org;
mod ports;
mod postgres;
mod postgres_server;
mod process;
pub mod production;
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
pub use host::{CDN_CACHE_HEADERS, Host, ScriptedServer};
#[doc(hidden)]
pub use inventory;
pub use neighbours::Neighbours;
pub use org::Org;
pub use ports::free_port;
pub use postgres::{
    HeldConnection, as_postgres_administrator, as_postgres_user, empty_postgres, empty_postgres_of, hold_sql, run_sql,
};
pub use postgres_server::PostgresServer;
pub use process::Process;
pub use race::{Start, decided, rounds, together, together_until_decided};
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
