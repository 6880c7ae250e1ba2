//! Why something came to its end, as events tell it.

use serde::Serialize;

/// Why a session was ended before its time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "http", derive(utoipa::ToSchema), schema(as = SessionEndReason))]
#[serde(rename_all = "snake_case")]
pub(crate) enum EndReason {
    /// Its owner logged out.
    Logout,
    /// Its owner ended it from another session.
    Ended,
    /// An org_admin ended it.
    Admin,
    /// Its owner is no longer a member.
    Removed,
    /// The password changed.
    Password,
    /// The address changed.
    Email,
    /// The second factor was put in force or removed.
    TwoFactor,
    /// The person had too many sessions, and this one was the oldest.
    Limit,
    /// A superseded refresh token was used again.
    Reuse,
    /// The operator ended it on the command line.
    Operator,
}

/// Why an API key was revoked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "http", derive(utoipa::ToSchema), schema(as = ApiKeyEndReason))]
#[serde(rename_all = "snake_case")]
pub(crate) enum RevokeReason {
    /// An org_admin revoked it.
    Revoked,
    /// Somebody found it in public and reported it.
    Leaked,
}

/// Whose passwords, second factors and recovery codes an exported organization's file holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "http", derive(utoipa::ToSchema), schema(as = ExportedCredentials))]
#[serde(rename_all = "snake_case")]
pub(crate) enum ExportedCredentials {
    /// Nobody's: the portable file.
    None,
    /// Those of the members who belong to no other organization.
    Own,
    /// Every member's.
    All,
}

/// Why the worker disabled a webhook.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "http", derive(utoipa::ToSchema), schema(as = WebhookEndReason))]
#[serde(rename_all = "snake_case")]
pub(crate) enum DisableReason {
    /// Every attempt of the last five days failed.
    Failing,
    /// The endpoint answered 410 Gone.
    Gone,
}
