//! The enums of the model: roles, statuses, methods, scopes. Each variant is a fixed text in the database and in JSON.

use std::borrow::Cow;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};

/// An enum whose variants are texts in the database and in JSON.
macro_rules! text_enum {
    ($(#[$attribute:meta])* $name:ident: $means:literal { $($(#[$vdoc:meta])* $variant:ident = $text:literal,)* }) => {
        #[doc = $means]
        $(#[$attribute])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum $name { $($(#[$vdoc])* $variant,)* }

        #[cfg(feature = "http")]
        crate::schema::text_schema!($name, Text { means: $means, words: Some($name::WORDS), ..Text::default() });

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.as_str())
            }
        }

        // serde's derive would also take `{"word": null}`, and report a number as broken JSON.
        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = <Cow<'de, str>>::deserialize(deserializer)?;
                Self::parse(&text).ok_or_else(|| D::Error::custom(format!("must be one of: {}", Self::WORDS.join(", "))))
            }
        }

        impl $name {
            /// Every text there is.
            pub(crate) const WORDS: &[&str] = &[$($text),*];

            /// The text in the API and the database.
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $text,)* }
            }

            /// Reads what [`Self::as_str`] wrote.
            pub fn parse(text: &str) -> Option<Self> {
                match text { $($text => Some(Self::$variant),)* _ => None }
            }
        }
    };
}

text_enum! {
    AccountRole: "A person's standing in the deployment; `admin` is an operator." {
        /// Everybody.
        User = "user",
        /// An operator of the deployment.
        Admin = "admin",
    }
}

text_enum! {
    Role: "A person's role in the organization." {
        /// May see the organization and its members.
        Member = "member",
        /// May use every management operation.
        OrgAdmin = "org_admin",
    }
}

text_enum! {
    #[derive(Default)]
    SortOrder: "Which entries of a list come first: `asc`, the oldest; `desc`, the latest." {
        /// The oldest first.
        #[default]
        Ascending = "asc",
        /// The latest first.
        Descending = "desc",
    }
}

text_enum! {
    Status: "Whether a membership or an organization is in use." {
        /// In use.
        Active = "active",
        /// Closed until reactivated.
        Suspended = "suspended",
    }
}

text_enum! {
    #[non_exhaustive]
    AuthMethod: "How a person proved who they are (RFC 8176, and `invite`)." {
        /// By password.
        Password = "pwd",
        /// By a one-time code.
        Otp = "otp",
        /// By the link of an invitation mail.
        Invite = "invite",
    }
}

text_enum! {
    #[non_exhaustive]
    Scope: "What an API key may do; `proxy` states a person's address in `X-Client-IP` on `/auth/*`." {
        /// `POST /public/verify`.
        Verify = "verify",
        /// `GET /public/users/…`.
        UsersRead = "users:read",
        /// `GET /public/members…`.
        MembersRead = "members:read",
        /// `GET /public/events`.
        EventsRead = "events:read",
        /// State the person's address in `X-Client-IP` on `/auth/*`.
        Proxy = "proxy",
    }
}

text_enum! {
    #[non_exhaustive]
    DeploymentScope: "What a deployment key may do, in any organization." {
        /// `POST /public/verify` and `GET /public/changes`.
        Verify = "verify",
        /// `GET /public/users/…`.
        UsersRead = "users:read",
        /// `GET /public/members…`.
        MembersRead = "members:read",
        /// `GET /public/events`.
        EventsRead = "events:read",
        /// `/admin/organizations`.
        Organizations = "organizations",
        /// What an org_admin may do.
        Admin = "admin",
    }
}

impl DeploymentScope {
    /// What it allows on `/public/*`, as the scope of an API key. Never [`Scope::Proxy`], which steers whom failed logins are counted
    /// against.
    pub(crate) const fn of_backend(self) -> Option<Scope> {
        match self {
            Self::Verify => Some(Scope::Verify),
            Self::UsersRead => Some(Scope::UsersRead),
            Self::MembersRead => Some(Scope::MembersRead),
            Self::EventsRead => Some(Scope::EventsRead),
            Self::Organizations | Self::Admin => None,
        }
    }
}

text_enum! {
    #[non_exhaustive]
    MailStatus: "How far a mail has come." {
        /// Waiting in the outbox.
        Queued = "queued",
        /// Accepted by the mail server.
        Sent = "sent",
        /// Refused for good, or given up.
        Failed = "failed",
    }
}

text_enum! {
    WebhookStatus: "A disabled webhook gets nothing." {
        /// The webhook gets deliveries.
        Active = "active",
        /// No deliveries, until an org_admin enables the webhook again.
        Disabled = "disabled",
    }
}

text_enum! {
    DeliveryStatus: "How far a delivery has come." {
        /// Waiting for its next attempt.
        Pending = "pending",
        /// Answered with 2xx.
        Succeeded = "succeeded",
        /// Given up after the last attempt.
        Failed = "failed",
        /// The webhook was disabled first.
        Cancelled = "cancelled",
    }
}

text_enum! {
    DeliveryError: "Why the last attempt failed; `status` is an answer other than 2xx." {
        /// The URL leads where deliveries may not go.
        Blocked = "blocked",
        /// No connection, or it broke off.
        Unreachable = "unreachable",
        /// No answer in time.
        Timeout = "timeout",
        /// TLS could not be agreed, or the certificate is not good.
        Tls = "tls",
        /// An answer other than 2xx.
        Status = "status",
    }
}
