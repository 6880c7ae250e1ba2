//! What to measure and how long. The defaults finish within five minutes.

use std::{path::PathBuf, time::Duration};

use clap::{Parser, ValueEnum};

use crate::roles::Role;

/// Measures Tenant Auth on SQLite and PostgreSQL and prints the figures beside their goals.
#[derive(Debug, Clone, Parser)]
pub(crate) struct Options {
    /// What to measure.
    #[arg(value_enum, default_value_t = What::All)]
    pub(crate) what: What,

    /// Interleaved rounds; figures are their medians.
    #[arg(long, default_value_t = 3)]
    pub(crate) rounds: usize,

    /// How long one round lasts, about, in seconds. Logins take twice that: they are few, and their goals narrow.
    #[arg(long, default_value_t = 2.0)]
    pub(crate) seconds: f64,

    /// Keep-alive connections of the load.
    #[arg(long, default_value_t = 32)]
    pub(crate) connections: usize,

    /// Database connections of each service.
    #[arg(long, default_value_t = 10)]
    pub(crate) pool: u32,

    /// How many users the databases grow to, from 1,000.
    #[arg(long, default_value_t = 100_000)]
    pub(crate) users: u32,

    /// How many entries the audit log has whose pages are read.
    #[arg(long, default_value_t = 1_000_000)]
    pub(crate) entries: u32,

    /// Rounds of two admins removing each other, on each database.
    #[arg(long, default_value_t = 200)]
    pub(crate) races: u32,

    /// Leave the background worker out, which a deployment runs beside the requests.
    #[arg(long)]
    pub(crate) without_worker: bool,

    /// A former build of tenant-auth-server, to measure beside the one that lies beside this program (`program`).
    #[arg(long)]
    pub(crate) former: Option<PathBuf>,

    /// Which process of the benchmark this is; used by the program itself.
    #[arg(long, hide = true)]
    pub(crate) role: Option<Role>,
}

/// A group of figures.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum What {
    /// Everything but the audit log, which takes as long as its entries take to be written.
    All,
    /// POST /public/verify with nothing in memory and from memory, against a bare endpoint.
    Verify,
    /// The same from memory by the program itself, where it was built: `cargo build --release -p tenant-auth-server`.
    Program,
    /// A request from an adapter's hand into its hand, without sockets.
    Pipeline,
    /// Verify in the memory of a customer's backend.
    Remembering,
    /// Login against a bare hash; unknown addresses against wrong passwords.
    Login,
    /// Verify while logins take all the time that they get.
    Beside,
    /// Refresh against verify.
    Refresh,
    /// Lists of members, short and long.
    Members,
    /// Verify with few users and with many.
    Growth,
    /// Webhooks: how soon and at what cost events arrive, beside endpoints that hang and fail.
    Deliveries,
    /// The audit log: what its chain costs a change, and pages of a long one.
    Audit,
    /// Size, start and memory of the program, where it was built: `cargo build --release -p tenant-auth-server`.
    Footprint,
    /// Two admins removing each other.
    Races,
}

impl Options {
    pub(crate) fn round(&self) -> Duration {
        Duration::from_secs_f64(self.seconds)
    }
}
