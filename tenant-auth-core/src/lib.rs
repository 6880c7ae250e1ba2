//! Multi-tenant authentication as a library: organizations with members, roles, invites and API keys; people who log in with a
//! password; and the answer to "who is this, and may they?".
//!
//! A [`TenantAuth`] is built once from a store, master keys and a [`Config`]. Everything else happens inside one organization, a
//! [`Tenant`], and needs a right, which is a value: a [`Member`], an [`OrgAdmin`] or a [`Backend`] exists only for a caller who was
//! checked.
//!
//! ```no_run
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! use tenant_auth_core::{Config, Credentials, Login, MasterKeys, Sqlite, TenantAuth, Verification};
//!
//! let auth = TenantAuth::builder()
//!     .store(Sqlite::open("auth.db").await?)
//!     .master_keys(MasterKeys::parse(&std::env::var("MASTER_KEY")?)?)
//!     .config(Config::new("https://auth.example.com".parse()?))
//!     .build()
//!     .await?;
//!
//! let acme = auth.tenant(&"acme".parse()?).await?;
//! let credentials = Credentials { email: "ada@example.com".parse()?, password: "mauve-otter-plinth".into(), client: Default::default() };
//! if let Login::Session(opened) = acme.login(credentials).await? {
//!     let Verification::Valid(principal) = acme.verify(opened.tokens.access.expose()).await? else { return Ok(()) };
//!     println!("{} is {:?}", principal.user.email, principal.membership.role);
//! }
//! # Ok(()) }
//! ```
//!
//! The root has what a program names on the way from nothing to a session; the rest lies in modules by what it is about:
//! [`account`], [`org`], [`backend`], [`webhooks`] and [`operator`] have what their operations take and give, [`model`] what there is,
//! [`view`] the same as JSON, [`value`], [`id`] and [`secret`] what it is made of, [`ports`] what a host may put in place of what is
//! shipped.
//!
//! # Features
//!
//! | Feature | Brings | Costs |
//! |---|---|---|
//! | `sqlite` (default) | the service, on `Sqlite` | SQLite, compiled from C, sqlx, and what hashes, signs and seals |
//! | `postgres` | the service, on `Postgres` | the same without SQLite: where no other database is wanted, with `default-features = false` |
//! | `http` | `http`: the route table, a framework-neutral service, the gate before a host's own routes, the OpenAPI document | `cookie`, `matchit`, `utoipa` |
//! | `panel` | `http::Pages`: the admin panel and the pages that mails link to; with `http` | 184 KB of files in the program |
//! | `remote` | `http::RemoteVerifier`: a gate that asks a deployed server; with `http` | `reqwest` with rustls |
//! | `smtp` | `ports::SmtpMailer`; without it, mails need a mailer of the host's | `lettre` with rustls |
//! | `webhooks` | `ports::HttpSender`; without it, deliveries need a sender of the host's | `reqwest` with rustls |
//! | `testing` | `testing`: a service ready to log in to, and doubles of the ports; not for programs that people use | `tempfile` |
//!
//! A database brings the service, and everything else that is listed here with it, but `http` and `remote`: with `default-features = false`
//! and `remote` a host that asks a deployed server compiles no database, and finds here the gate, [`Principal`], and the values these
//! speak of. The feature `service` is what the databases have in common, and is not chosen by itself. The crates `tenant-auth-axum` and `tenant-auth-actix` mount `http` in an application. The guides,
//! from nothing to a protected page, lie in `guides/`: deploy, embed, call.

#![cfg_attr(docsrs, feature(doc_cfg))]
#![warn(unnameable_types)]
// A host of `remote` alone has the values and the facts of the whole service, of which its gate speaks few.
#![cfg_attr(not(feature = "service"), expect(dead_code, unused_imports, reason = "the service alone makes use of it"))]

#[cfg(all(feature = "service", not(any(feature = "sqlite", feature = "postgres"))))]
compile_error!("enable at least one of the features `sqlite` and `postgres`, of which each brings the service");

#[cfg(feature = "service")]
pub mod account;
#[cfg(feature = "service")]
pub mod audit;
#[cfg(feature = "service")]
mod audit_keys;
#[cfg(feature = "service")]
pub mod backend;
#[cfg(feature = "service")]
mod bounded;
#[cfg(all(feature = "service", feature = "http"))]
mod budget;
#[cfg(feature = "service")]
mod builder;
#[cfg(feature = "service")]
mod caller;
#[cfg(feature = "service")]
mod clock_watch;
pub mod config;
mod deadline;
pub mod error;
#[cfg(feature = "service")]
mod event;
#[cfg(feature = "service")]
pub mod feed;
mod hex;
#[cfg(feature = "http")]
pub mod http;
pub mod id;
#[cfg(all(feature = "service", feature = "http"))]
mod in_flight;
#[cfg(feature = "service")]
mod issued;
mod key_text;
#[cfg(feature = "service")]
mod keys;
#[cfg(feature = "service")]
mod languages;
#[cfg(feature = "service")]
mod mail;
mod memory;
#[cfg(feature = "service")]
mod metrics;
pub mod model;
#[cfg(any(feature = "service", feature = "remote"))]
mod one_task;
#[cfg(feature = "service")]
pub mod operator;
#[cfg(feature = "service")]
pub mod org;
#[cfg(feature = "service")]
mod page;
pub mod ports;
mod principal;
#[cfg(feature = "service")]
mod readiness;
#[cfg(feature = "http")]
mod schema;
pub mod scope;
#[cfg(feature = "service")]
mod sealed;
pub mod secret;
#[cfg(feature = "service")]
mod service;
#[cfg(feature = "service")]
mod store;
#[cfg(all(feature = "testing", feature = "sqlite"))]
pub mod testing;
#[cfg(feature = "service")]
mod throttle;
mod time;
#[cfg(feature = "service")]
mod token;
#[cfg(feature = "service")]
mod turns;
#[cfg(all(feature = "service", feature = "http"))]
mod unsent;
pub mod value;
pub mod view;
pub mod webhooks;
#[cfg(feature = "service")]
mod worker;

/// The three ways to use it, each from nothing to a protected page; what else a host meets; what the service does, decision by decision;
/// and how it is built.
#[cfg(all(doc, not(doctest)))]
pub mod guides {
    // A link on GitHub leads to a file, here to a module. Of two definitions of a name the first counts.
    #[doc = "[behaviour.md]: behaviour\n[B1]: behaviour#b1\n[B4]: behaviour#b4\n[B20]: behaviour#b20\n[B29]: behaviour#b29\n[B149]: behaviour#b149\n[B303]: behaviour#b303\n[B304]: behaviour#b304\n[B310]: behaviour#b310\n[settings.md]: https://github.com/tenant-auth/tenant-auth/blob/main/tenant-auth-server/guides/settings.md\n"]
    #[doc = include_str!("../guides/architecture.md")]
    pub mod architecture {}
    #[doc = "[B167]: behaviour#b167\n[B175]: behaviour#b175\n[B176]: behaviour#b176\n[B177]: behaviour#b177\n[B179]: behaviour#b179\n[B293]: behaviour#b293\n"]
    #[doc = include_str!("../guides/audit.md")]
    pub mod audit {}
    #[doc = include_str!("../guides/backends.md")]
    pub mod backends {}
    #[doc = include_str!("../guides/behaviour.md")]
    pub mod behaviour {}
    #[doc = "[B171]: behaviour#b171\n[B221]: behaviour#b221\n[deployment key]: deploy#one-key-for-every-organization\n[embed.md]: embed\n"]
    #[doc = include_str!("../guides/browsers.md")]
    pub mod browsers {}
    #[doc = include_str!("../guides/call.md")]
    pub mod call {}
    #[doc = include_str!("../guides/clients.md")]
    pub mod clients {}
    #[doc = "[backends.md]: backends\n[browsers.md]: browsers\n[embed.md]: embed\n[operations.md]: https://github.com/tenant-auth/tenant-auth/blob/main/tenant-auth-server/guides/operations.md\n[remember.md]: remember\n[settings.md]: https://github.com/tenant-auth/tenant-auth/blob/main/tenant-auth-server/guides/settings.md\n"]
    #[doc = include_str!("../guides/deploy.md")]
    pub mod deploy {}
    #[doc = "[deployment key]: deploy#one-key-for-every-organization\n[events.md]: events\n[operations.md]: https://github.com/tenant-auth/tenant-auth/blob/main/tenant-auth-server/guides/operations.md\n"]
    #[doc = include_str!("../guides/embed.md")]
    pub mod embed {}
    #[doc = "[B163]: behaviour#b163\n[B290]: behaviour#b290\n[embed.md]: embed\n"]
    #[doc = include_str!("../guides/events.md")]
    pub mod events {}
    #[doc = "[browsers.md]: browsers\n[B230]: behaviour#b230\n[B231]: behaviour#b231\n[B232]: behaviour#b232\n[B233]: behaviour#b233\n[B246]: behaviour#b246\n[B247]: behaviour#b247\n[B256]: behaviour#b256\n[B266]: behaviour#b266\n"]
    #[doc = include_str!("../guides/panel.md")]
    pub mod panel {}
    #[doc = "[B156]: behaviour#b156\n[deployment key]: deploy#one-key-for-every-organization\n"]
    #[doc = include_str!("../guides/remember.md")]
    pub mod remember {}
    #[doc = "[SECURITY.md]: https://github.com/tenant-auth/tenant-auth/blob/main/.github/SECURITY.md\n[operations.md]: https://github.com/tenant-auth/tenant-auth/blob/main/tenant-auth-server/guides/operations.md\n"]
    #[doc = include_str!("../guides/security.md")]
    pub mod security {}
    #[doc = "[B142]: behaviour#b142\n[B196]: behaviour#b196\n[B197]: behaviour#b197\n[B198]: behaviour#b198\n[B199]: behaviour#b199\n[B200]: behaviour#b200\n[B201]: behaviour#b201\n[B202]: behaviour#b202\n[B267]: behaviour#b267\n[B302]: behaviour#b302\n"]
    #[doc = include_str!("../guides/sign-up.md")]
    pub mod sign_up {}
    #[doc = "[B100]: behaviour#b100\n[audit.md]: audit\n[events.md]: events\n[settings.md]: https://github.com/tenant-auth/tenant-auth/blob/main/tenant-auth-server/guides/settings.md\n"]
    #[doc = include_str!("../guides/webhooks.md")]
    pub mod webhooks {}
}

pub use error::operation::Error;
pub use principal::{Principal, PrincipalMembership, PrincipalOrg, PrincipalSession};
#[cfg(feature = "postgres")]
pub use store::Postgres;
#[cfg(feature = "sqlite")]
pub use store::Sqlite;
pub use time::Timestamp;
#[cfg(feature = "service")]
pub use {
    account::login::{Credentials, Login},
    backend::verify::Verification,
    builder::{BuildError, Builder},
    caller::{Backend, Client, Member, OrgAdmin, Tenant},
    config::deployment::Config,
    page::{Cursor, List, Page},
    sealed::{MasterKeyError, MasterKeys},
    service::TenantAuth,
    store::{SchemaError, Store, StoreOptions},
    token::Tokens,
    worker::Worker,
};
