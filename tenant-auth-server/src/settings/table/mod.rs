//! The table of all settings, one row each, in groups. What a settings file may hold, which environment variables are ours, how
//! a value is read and refused, `tenant-auth-server settings`, the reference and the example file all follow these rows: nothing else
//! repeats a name, a default or a meaning.
//!
//! To add a setting, add its row to the group where people would look for it, and the field that `read` fills: in `Config`, or in
//! [`Values`](super::values::Values) and [`Server`](super::Server) for what concerns the program alone. Then refresh the kept
//! documents, as the failing test says. `guides/architecture.md` of the core walks through both.

mod access;
mod audit;
mod memory;
mod organizations;
mod product;
mod program;
mod sessions;
mod webhooks;

use tenant_auth_core::config::Setting;

use super::row::Row;

pub(crate) use access::{OPERATOR_ORG, PUBLIC_URL};
pub(crate) use memory::FRESHNESS;
#[cfg(feature = "otlp")]
pub(crate) use program::OTLP_ENDPOINT;
pub(crate) use program::{CONNECTIONS, DATABASE_URL, LISTEN, METRICS_LISTEN, SQLITE_MUST_EXIST};
pub(super) use webhooks::WEBHOOK_ALLOW_PRIVATE_NETWORKS;
pub(super) use {
    access::{COOKIE_DOMAIN, TRUSTED_PROXIES},
    program::{DRAIN_NOTICE, MAIL_FROM, MASTER_KEY, MASTER_KEY_FILE, SMTP_URL},
    sessions::{ARGON2, REFRESH_TOKEN_TTL},
};

/// Settings that belong together.
#[derive(Debug)]
pub(super) struct Group {
    /// The heading.
    pub(super) title: &'static str,
    /// Which commands read the group.
    pub(super) part: Part,
    /// The settings, in the order in which they are explained.
    pub(super) rows: &'static [Row],
}

/// What a command needs of the settings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    /// The database; every command.
    Database,
    /// The master keys; every command that opens the service.
    MasterKeys,
    /// How the service behaves; every command that opens the service.
    Service,
    /// Listeners, mail and log; `serve` alone.
    Server,
}

/// Every group, in the order in which the documents show it.
pub(super) const GROUPS: &[Group] = &[
    program::DATABASE,
    program::MASTER_KEYS,
    access::ADDRESS,
    program::LISTENERS,
    program::MAIL,
    program::LOG,
    program::TRACES,
    organizations::MAIL_LINKS,
    product::PRODUCT,
    sessions::SESSIONS,
    sessions::LOGIN,
    sessions::PASSWORDS,
    access::BROWSER,
    organizations::ORGANIZATIONS,
    webhooks::WEBHOOKS,
    memory::MEMORY,
    audit::AUDIT,
];

/// Every setting.
pub(super) fn rows() -> impl Iterator<Item = &'static Row> {
    GROUPS.iter().flat_map(|group| group.rows)
}

/// Settings of the program that have no effect on `dev`: all but those it listens and logs by, so that a new one is not forgotten.
pub(super) fn rows_without_effect_on_dev() -> impl Iterator<Item = &'static Row> {
    let groups = GROUPS.iter().filter(|group| group.part != Part::Service && group.title != program::LOG.title);
    let heeded = [LISTEN.name, CONNECTIONS.name, DRAIN_NOTICE.name];
    groups.flat_map(|group| group.rows).filter(move |row| !heeded.contains(&row.name))
}

/// The setting with this key in a settings file.
pub(super) fn by_key(key: &str) -> Option<&'static Row> {
    rows().find(|row| row.name == key)
}

/// The setting with this environment variable.
pub(super) fn by_variable(variable: &str) -> Option<&'static Row> {
    rows().find(|row| row.variable() == variable)
}

/// The setting that the core calls this.
pub(super) fn by_core(setting: Setting) -> Option<&'static Row> {
    rows().find(|row| row.core == Some(setting))
}

/// The setting whose name is closest to this one, for "did you mean".
pub(super) fn nearest(name: &str) -> Option<&'static Row> {
    let name = name.to_ascii_lowercase();
    let likeness = |row: &Row| strsim::damerau_levenshtein(row.name, &name);
    let row = rows().min_by_key(|row| likeness(row))?;
    // A third of the letters may be wrong: more is another word.
    (likeness(row) * 3 <= row.name.len()).then_some(row)
}
