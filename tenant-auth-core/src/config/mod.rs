//! The settings of the service, in groups. Every field has a default that is safe to run with; [`Config::check`] refuses values
//! that could not work or would not be safe.

mod check;
pub(crate) mod deployment;
mod error;
mod groups;
mod mail_templates;
mod product;
#[cfg(test)]
mod tests;

pub(crate) use deployment::Config;
pub use error::{ConfigError, Setting, SetupError};
pub use groups::{Audit, Browser, LoginLimits, MailLinks, Memory, Network, Organizations, Passwords, Sessions, SignUp, Webhooks};
pub(crate) use mail_templates::rendered;
pub use mail_templates::{MAILS, MailTemplates, SHARED_VALUES};
pub use product::Product;

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
