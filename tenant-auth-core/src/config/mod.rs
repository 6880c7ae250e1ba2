//! The settings of the service, in groups. Every field has a default that is safe to run with; [`Config::check`] refuses values
//! that could not work or would not be safe.

#[cfg(feature = "service")]
mod check;
#[cfg(feature = "service")]
pub(crate) mod deployment;
#[cfg(feature = "service")]
mod error;
#[cfg(feature = "service")]
mod groups;
#[cfg(feature = "service")]
mod mail_templates;
#[cfg(feature = "service")]
mod product;
#[cfg(all(test, feature = "service"))]
mod tests;

#[cfg(feature = "service")]
pub(crate) use deployment::Config;
#[cfg(feature = "service")]
pub use error::{ConfigError, Setting, SetupError};
#[cfg(feature = "service")]
pub use groups::{Audit, Browser, LoginLimits, MailLinks, Memory, Network, Organizations, Passwords, Sessions, SignUp, Webhooks};
#[cfg(feature = "service")]
pub(crate) use mail_templates::rendered;
#[cfg(feature = "service")]
pub use mail_templates::{MAILS, MailTemplates, SHARED_VALUES};
#[cfg(feature = "service")]
pub use product::Product;

#[cfg(feature = "service")]
pub use crate::languages::Languages;

/// The `SameSite` attribute of the session cookies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SameSite {
    /// Sent on top-level navigation and same-site requests.
    #[default]
    Lax,
    /// Sent on same-site requests only.
    Strict,
    /// Sent always.
    None,
}

/// When `accessToken` and `refreshToken` stand in response bodies, where scripts of a browser could read them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum TokensInBody {
    /// Whenever no browser asks, that is when neither `Origin` nor `Sec-Fetch-Site` is present.
    #[default]
    NonBrowser,
    /// Always.
    Always,
}

/// The pages that mails link to.
#[derive(Debug, Clone, Copy)]
pub(crate) enum LinkedPage {
    Invite,
    Reset,
    Verify,
    ChangeEmail,
    /// Of no organization: the token alone.
    SignUp,
}
