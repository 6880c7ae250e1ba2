//! The enums of the model: roles, statuses, methods, scopes. Each variant is a fixed text in the database and in JSON.

use std::{borrow::Cow, fmt};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};

use crate::value::Rejected;

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

        impl std::str::FromStr for $name {
            type Err = Rejected;

            /// Judges as the API does.
            fn from_str(text: &str) -> Result<Self, Rejected> {
                Self::parse(text).ok_or_else(|| Rejected::because(format!("must be one of: {}", Self::WORDS.join(", "))))
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(self.as_str())
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

#[cfg(test)]
mod tests {
    use super::{AuthMethod, DeploymentScope, Role, Scope, Status};
    use crate::{
        id::{ApiKeyId, KeyId, UserId},
        model::EventKind,
        value::{Email, Metadata},
    };

    /// What a host reads from a text or from its own JSON is judged as the API judges it.
    #[test]
    fn a_text_is_judged_alike_wherever_it_is_read() {
        fn alike<T>(texts: &[&str])
        where
            T: std::str::FromStr + serde::de::DeserializeOwned + serde::Serialize + PartialEq + std::fmt::Debug,
        {
            for text in texts {
                let (read, wire) = (text.parse::<T>().ok(), serde_json::from_value::<T>((*text).into()).ok());
                assert_eq!(read, wire, "{text}");
                if let Some(read) = read {
                    assert_eq!(serde_json::to_value(&read).expect("JSON"), *text);
                }
            }
        }
        alike::<Role>(&["member", "org_admin", "Member", "admin", ""]);
        alike::<Status>(&["active", "suspended", " active"]);
        alike::<Scope>(&["verify", "users:read", "organizations"]);
        alike::<DeploymentScope>(&["organizations", "proxy"]);
        alike::<AuthMethod>(&["pwd", "otp", "sms"]);
        alike::<EventKind>(&["member.joined", "api_key.revoked", "member.*", "*", "member.left"]);
        alike::<UserId>(&["usr_01kaz3vrm0f3k8m2p5q7r9s1t4", "org_01kaz3vrm0f3k8m2p5q7r9s1t4", "usr_"]);
        alike::<crate::Timestamp>(&["2026-11-20T08:21:00.123Z", "tomorrow"]);
        assert_eq!(Role::OrgAdmin.to_string(), "org_admin");
        assert_eq!(EventKind::MemberJoined.to_string(), "member.joined");
    }

    /// A host keeps them in maps, in columns and in its own JSON.
    #[test]
    fn a_host_can_keep_each_of_them_wherever_it_likes() {
        use crate::{Timestamp, id, model, value};

        fn keeps<T>()
        where
            T: Clone
                + Eq
                + std::hash::Hash
                + std::str::FromStr
                + std::fmt::Display
                + serde::Serialize
                + serde::de::DeserializeOwned,
        {
        }
        macro_rules! keeps {
            ($($kind:ty),* $(,)?) => { $(keeps::<$kind>();)* };
        }
        keeps!(
            id::UserId,
            id::MembershipId,
            id::OrgId,
            id::InviteId,
            id::SessionId,
            id::ApiKeyId,
            id::DeploymentKeyId,
            id::WebhookId
        );
        keeps!(id::EventId, id::DeliveryId, id::KeyId, Timestamp, EventKind);
        keeps!(Role, Status, AuthMethod, Scope, DeploymentScope, model::AccountRole, model::SortOrder, model::MailStatus);
        keeps!(model::WebhookStatus, model::DeliveryStatus, model::DeliveryError);
        keeps!(Email, Metadata, value::DisplayName, value::Slug, value::Plan, value::Bio, value::Phone, value::Description);
        keeps!(value::AppUrl, value::Origin, value::Network, value::Language, value::WebhookUrl);
    }

    #[test]
    fn what_is_equal_has_one_hash() {
        use std::hash::{BuildHasher, RandomState};
        let hasher = RandomState::new();
        let [typed, folded]: [Email; 2] = ["Ada@Example.com", "ada@example.COM"].map(|text| text.parse().expect("an address"));
        assert!(typed == folded && hasher.hash_one(&typed) == hasher.hash_one(&folded));
        let [spaced, dense]: [Metadata; 2] = ["{ \"a\" : 1 }", "{\"a\":1}"].map(|text| text.parse().expect("an object"));
        assert!(spaced == dense && hasher.hash_one(&spaced) == hasher.hash_one(&dense));
        assert!("[]".parse::<Metadata>().is_err());
        let key: KeyId = "key_01kaz3vrm0f3k8m2p5q7r9s1t4".parse().expect("an id");
        assert!(matches!(&key, KeyId::ApiKey(id) if *id == "key_01kaz3vrm0f3k8m2p5q7r9s1t4".parse::<ApiKeyId>().expect("an id")));
        assert!(matches!("dpk_01kaz3vrm0f3k8m2p5q7r9s1t4".parse(), Ok(KeyId::DeploymentKey(_))));
    }
}
