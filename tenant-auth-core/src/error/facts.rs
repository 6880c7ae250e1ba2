//! What errors speak of: the kinds of things that may be missing or too many, and the rules that a value may break.

/// A kind of thing that an operation looks for or limits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Thing {
    /// An account, which belongs to the deployment and to no organization.
    Account,
    /// A member of the organization.
    Member,
    /// An invite of the organization.
    Invite,
    /// A session of the member.
    Session,
    /// An API key of the organization.
    ApiKey,
    /// A deployment key.
    DeploymentKey,
    /// A webhook of the organization.
    Webhook,
    /// A delivery to a webhook.
    Delivery,
}

impl Thing {
    /// The word for one of them.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Account => "account",
            Self::Member => "member",
            Self::Invite => "invite",
            Self::Session => "session",
            Self::ApiKey => "API key",
            Self::DeploymentKey => "deployment key",
            Self::Webhook => "webhook",
            Self::Delivery => "delivery",
        }
    }

    /// The word for several of them.
    pub(super) const fn plural(self) -> &'static str {
        match self {
            Self::Account => "accounts",
            Self::Member => "members",
            Self::Invite => "invites",
            Self::Session => "sessions",
            Self::ApiKey => "API keys",
            Self::DeploymentKey => "deployment keys",
            Self::Webhook => "webhooks",
            Self::Delivery => "deliveries",
        }
    }

    /// The sentence that there is none.
    pub(super) const fn absence(self) -> &'static str {
        match self {
            Self::Account => "There is no such account.",
            Self::Member => "There is no such member in this organization.",
            Self::Invite => "There is no such invite in this organization.",
            Self::Session => "There is no such session in this organization.",
            Self::ApiKey => "There is no such API key in this organization.",
            Self::DeploymentKey => "There is no such deployment key.",
            Self::Webhook => "There is no such webhook in this organization.",
            Self::Delivery => "There is no such delivery in this organization.",
        }
    }
}

impl std::fmt::Display for Thing {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The rule that a value breaks.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InvalidValue {
    /// The number of entries of a page is out of range.
    #[error("A page has 1 to 1000 entries.")]
    PageLimit,
    /// The cursor is none that a page of this list came with.
    #[error("The cursor is none of this list's. Pass on the cursor of the page before.")]
    PageCursor,
    /// A new account needs a name.
    #[error("A new account needs a name.")]
    NameRequired,
    /// A new account needs a password.
    #[error("A new account needs a password.")]
    PasswordRequired,
    /// A second factor is in force and no code was given.
    #[error("Two-factor authentication is enabled: a code is required.")]
    CodeRequired,
    /// More allowed origins than an organization may have.
    #[error("An organization has at most {most} allowed origins.")]
    TooManyOrigins {
        /// How many there may be.
        most: usize,
    },
    /// A key needs a scope.
    #[error("A key needs at least one scope.")]
    NoScopes,
    /// The end of a new key has passed.
    #[error("The end of a key must be in the future.")]
    ExpiryPassed,
    /// The end of a range of times is before its beginning.
    #[error("The end of a range must not be before its beginning.")]
    RangeReversed,
    /// The overlap of a rotation is too long.
    #[error("The overlap of a rotation is at most {} seconds.", .longest.as_secs())]
    OverlapTooLong {
        /// The longest there is.
        longest: std::time::Duration,
    },
    /// Deliveries may not go to this URL. Every rule has the same words, so that nobody learns from them which one refused.
    #[error("The URL of a webhook {rule}.")]
    WebhookUrl {
        /// What it must be, to be read after its name.
        rule: String,
    },
}
