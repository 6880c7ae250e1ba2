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
//!     .store(Sqlite::open("auth.db", 8).await?)
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
//! The feature `http` adds the route table, a framework-neutral HTTP service and the [`Gate`](http::Gate) before a host's own routes;
//! the crates `tenant-auth-axum` and `tenant-auth-actix` mount them. The feature `remote` adds a gate that asks a deployed server, and
//! `testing` a service for a host's own tests. The guides, from nothing to a protected page, lie in `guides/`: deploy, embed, call.

#![cfg_attr(not(feature = "http"), expect(dead_code, reason = "some of what the HTTP layer asks for is asked by nothing else"))]

#[cfg(not(any(feature = "sqlite", feature = "postgres")))]
compile_error!("enable at least one of the features `sqlite` and `postgres`");

mod account;
mod backend;
mod bounded;
mod builder;
mod caller;
pub mod config;
pub mod error;
mod event;
#[cfg(feature = "http")]
pub mod http;
mod id;
mod keys;
mod mail;
mod metrics;
mod model;
mod operator;
mod org;
mod page;
pub mod ports;
mod principal;
mod readiness;
#[cfg(feature = "http")]
mod schema;
pub mod scope;
mod sealed;
mod secret;
mod service;
mod store;
#[cfg(all(feature = "testing", feature = "sqlite"))]
pub mod testing;
mod throttle;
mod time;
mod token;
mod value;
mod webhooks;
mod worker;

/// The three ways to use it, each from nothing to a protected page; what it does, decision by decision; and how it is built.
#[cfg(all(doc, not(doctest)))]
pub mod guides {
    #[doc = include_str!("../guides/architecture.md")]
    pub mod architecture {}
    #[doc = include_str!("../guides/behaviour.md")]
    pub mod behaviour {}
    #[doc = include_str!("../guides/call.md")]
    pub mod call {}
    #[doc = include_str!("../guides/deploy.md")]
    pub mod deploy {}
    #[doc = include_str!("../guides/embed.md")]
    pub mod embed {}
}

pub use account::{
    AddressProof, Credentials, Leaving, Login, NewEmail, NewPassword, Opened, ProfileUpdate, RecoveryCodes, SecondFactorSetup,
    SecondFactorStatus, WaitingLogin,
};
pub use backend::{CreatedApiKey, NewApiKey, Verification};
pub use builder::{BuildError, Builder};
pub use caller::{Backend, Client, Member, OrgAdmin, Tenant};
pub use config::{Config, ConfigError, SameSite, SetupError, TokensInBody};
pub use error::Error;
#[cfg(feature = "remote")]
pub use http::RemoteVerifier;
pub use id::{
    ApiKeyId, ApiKeyKind, DeliveryId, DeliveryKind, EventId, EventIdKind, Id, InviteId, InviteKind, Kind, MalformedId,
    MembershipId, MembershipKind, OrgId, OrgKind, SessionId, SessionKind, UserId, UserKind, WebhookId, WebhookKind,
};
pub use model::{
    AccountRole, ApiKey, AuthMethod, Delivery, DeliveryError, DeliveryStatus, EventKind, EventSelection, Invite, InviteSummary,
    MailStatus, MemberEntry, Membership, Organization, Profile, Role, Scope, Session, SessionSummary, Status, User, Webhook,
    WebhookStatus,
};
pub use operator::{CreatedUser, DeploymentAdmin, Invited, NewOrganization, NewUser, Operator, OrganizationChange, SessionsOf};
pub use org::{InvitePreview, OrganizationUpdate, Patch, Registration};
pub use page::{List, Page};
pub use principal::{Principal, PrincipalMembership, PrincipalOrg, PrincipalSession};
pub use sealed::{MasterKeyError, MasterKeys};
pub use secret::{ApiKeyText, Digest, LinkToken, Password, Secret, SignedToken, StoredPassword};
pub use service::TenantAuth;
#[cfg(feature = "postgres")]
pub use store::Postgres;
#[cfg(feature = "sqlite")]
pub use store::Sqlite;
pub use store::{SchemaError, Store};
pub use time::Timestamp;
pub use token::{PartialToken, Tokens};
pub use value::{AppUrl, Bio, Description, DisplayName, Email, Metadata, Origin, Phone, Plan, Rejected, Slug, WebhookUrl};
pub use webhooks::{CreatedWebhook, NewWebhook, SignatureError, SignedHeaders, SigningSecret, WebhookUpdate, verify_webhook};
pub use worker::Worker;
