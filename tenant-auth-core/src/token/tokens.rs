//! The tokens as values: those that are issued, as text with their expiry, and those that were verified, decoded.

use crate::{
    id::{OrgId, SessionId, UserId},
    secret::SignedToken,
    time::Timestamp,
};

/// The access and refresh token of a session.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Tokens {
    /// Short-lived; sent with every request.
    pub access: SignedToken,
    /// Long-lived; only good for the next pair.
    pub refresh: SignedToken,
    /// When the access token expires.
    pub access_expires_at: Timestamp,
    /// When the refresh token expires.
    pub refresh_expires_at: Timestamp,
}

/// The partial token: issued after the first step of a login that needs a second factor.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct PartialToken {
    /// Exchanged for a session together with a code.
    pub token: SignedToken,
    /// When the partial token expires.
    pub expires_at: Timestamp,
}

/// The content of an access token whose signature and expiry were verified.
#[derive(Debug, Clone)]
pub(crate) struct AccessToken {
    pub(crate) user: UserId,
    pub(crate) org: OrgId,
    pub(crate) session: SessionId,
    pub(crate) generation: i64,
    pub(crate) expires_at: Timestamp,
}

/// The content of a refresh token whose signature and expiry were verified.
#[derive(Debug, Clone)]
pub(crate) struct RefreshToken {
    pub(crate) session: SessionId,
    pub(crate) generation: i64,
}
