//! Session tokens: access, refresh and partial tokens, JWTs signed with Ed25519 (behaviour.md, B31 and B32). A token is an
//! assertion, never the truth: its reader compares its generation with the session's row. Access tokens are signed by keys that the
//! JWKS shows; refresh tokens by keys that are never published.
//!
//! A generation's tokens are computed from the session's row alone, so that two refreshes within the reuse grace get the same
//! tokens (refresh token rotation: `account/refresh.rs`).

mod audit_key;
mod claims;
mod signer;
mod signing_key;
mod stated_session;
mod tokens;

pub use audit_key::AuditKeySet;
pub(crate) use audit_key::{AuditKeyPair, BadSignature, KeyEnds, PublicAuditKey};
pub(crate) use signer::Signer;
pub(crate) use signing_key::{KeyPair, KeyPurpose};
pub(crate) use stated_session::StatedSession;
pub(crate) use tokens::{AccessToken, RefreshToken};
pub use tokens::{PartialToken, Tokens};
