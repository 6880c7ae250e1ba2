//! The schemas of the domain's own values: ids, checked texts, words, times. Each says exactly what the type's parser takes, as
//! far as JSON Schema can; where it cannot (case, white space around an address, a URL's host), it says what comes out.

use std::{borrow::Cow, collections::BTreeSet};

use utoipa::{
    PartialSchema, ToSchema,
    openapi::{
        ArrayBuilder, KnownFormat, ObjectBuilder, RefOr, Schema, SchemaFormat,
        schema::{AdditionalProperties, SchemaType, Type},
    },
};

use crate::{
    id::{
        ApiKeyKind, DeliveryKind, EventIdKind, Id, InviteKind, Kind, MembershipKind, OrgKind, SessionKind, UserKind, WebhookKind,
    },
    model::{
        AccountRole, AuthMethod, DeliveryError, DeliveryStatus, EventKind, EventSelection, MailStatus, Role, Scope, Status,
        WebhookStatus,
    },
    secret::LinkToken,
    time::Timestamp,
    value::{AppUrl, Bio, Description, DisplayName, Email, Metadata, Origin, Phone, Plan, Slug, WebhookUrl},
};

/// A text: what it means, how long it is in code points, what it looks like, and one that is right.
#[derive(Default)]
struct Text {
    means: &'static str,
    min: Option<usize>,
    max: Option<usize>,
    pattern: Option<&'static str>,
    format: Option<KnownFormat>,
    example: Option<&'static str>,
}

impl From<Text> for RefOr<Schema> {
    fn from(text: Text) -> Self {
        string(text.means)
            .min_length(text.min)
            .max_length(text.max)
            .pattern(text.pattern)
            .format(text.format.map(SchemaFormat::KnownFormat))
            .examples(text.example)
            .into()
    }
}

fn string(means: &str) -> ObjectBuilder {
    ObjectBuilder::new().schema_type(SchemaType::Type(Type::String)).description(Some(means))
}

macro_rules! texts {
    ($($type:ty, $name:literal: $text:expr;)*) => { $(
        impl PartialSchema for $type {
            fn schema() -> RefOr<Schema> {
                $text.into()
            }
        }
        impl ToSchema for $type {
            fn name() -> Cow<'static, str> {
                $name.into()
            }
        }
    )* };
}

texts! {
    Email, "Email": Text {
        means: "An email address: ASCII local part, IDNA domain; compared without case.",
        max: Some(254),
        // Labels of the domain may not begin or end with a hyphen, and the last one is no number.
        pattern: Some(concat!(
            r"^[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+(\.[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+)*@([A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?\.)*",
            r"([A-Za-z]|[A-Za-z0-9][A-Za-z0-9-]*[A-Za-z]|[A-Za-z][A-Za-z0-9-]*[0-9]|[0-9][A-Za-z0-9-]*[A-Za-z-][A-Za-z0-9-]*[0-9])$",
        )),
        format: Some(KnownFormat::Email),
        example: Some("ada@acme.example"),
        ..Text::default()
    };
    DisplayName, "DisplayName": Text {
        means: "A name, without control or text-direction characters; white space around it is dropped.",
        min: Some(1),
        max: Some(100),
        // Anything but control and text-direction characters, at least one of them no white space.
        pattern: Some(concat!(
            r"^[^\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]*",
            r"[^\u0000-\u0020\u007f-\u00a0\u061c\u1680\u2000-\u200a\u200e\u200f\u2028-\u202f\u205f\u2066-\u2069\u3000]",
            r"[^\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]*$",
        )),
        example: Some("Ada Lovelace"),
        ..Text::default()
    };
    Slug, "Slug": Text {
        means: "An organization's name in `X-Org-Slug`.",
        min: Some(2),
        max: Some(63),
        pattern: Some("^[a-z0-9]+(-[a-z0-9]+)*$"),
        example: Some("acme"),
        ..Text::default()
    };
    Plan, "Plan": Text {
        means: "An organization's plan; not interpreted by the service.",
        min: Some(1),
        max: Some(32),
        pattern: Some("^[a-z0-9_-]+$"),
        example: Some("free"),
        ..Text::default()
    };
    Bio, "Bio": Text {
        means: "A person's own words.",
        max: Some(1_000),
        pattern: Some(r"^[^\u0000]*$"),
        example: Some("Wrote the first program."),
        ..Text::default()
    };
    Phone, "Phone": Text {
        means: "A telephone number as typed.",
        max: Some(32),
        pattern: Some(r"^[^\u0000]*$"),
        example: Some("+44 20 7946 0000"),
        ..Text::default()
    };
    AppUrl, "AppUrl": Text {
        means: "The URL of the customer's application: https, or http for loopback; at most 2,048 bytes, no user name in it.",
        max: Some(2_048),
        pattern: Some(r"^[^\s\u0000-\u001f\u007f-\u009f]+$"),
        example: Some("https://app.acme.example/start"),
        ..Text::default()
    };
    Origin, "Origin": Text {
        means: "A browser origin: https, or http for loopback; no path, query or fragment.",
        max: Some(2_048),
        pattern: Some(r"^[^\s\u0000-\u001f\u007f-\u009f]+$"),
        example: Some("https://app.acme.example"),
        ..Text::default()
    };
    Timestamp, "Timestamp": Text {
        means: "A time in UTC, with milliseconds.",
        pattern: Some(r"^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{3}Z$"),
        format: Some(KnownFormat::DateTime),
        example: Some("2026-11-20T08:21:00.123Z"),
        ..Text::default()
    };
    Description, "Description": Text {
        means: "What something is for, without control or text-direction characters; may be empty.",
        max: Some(200),
        pattern: Some(r"^[^\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]*$"),
        example: Some("Tells the billing system who joined"),
        ..Text::default()
    };
    WebhookUrl, "WebhookUrl": Text {
        means: "Where deliveries are sent: https on port 443 or 8443 of a host in the public internet, no user name or fragment in it. \
                Where a deployment allows private networks: http and any port too.",
        max: Some(2_048),
        pattern: Some(r"^[^\s\u0000-\u001f\u007f-\u009f]+$"),
        example: Some("https://hooks.acme.example/tenant-auth"),
        ..Text::default()
    };
    LinkToken, "LinkToken": Text {
        means: "The token out of a mail's link.",
        min: Some(1),
        example: Some("q3Zl0cW9yZ2FuaXphdGlvbnMgYXJlIG5vdCBzZWNyZXQ"),
        ..Text::default()
    };
}

macro_rules! words {
    ($($type:ty, $name:literal: $means:literal;)*) => { texts! { $(
        $type, $name: string($means).enum_values(Some(<$type>::WORDS.iter().copied()));
    )* } };
}

words! {
    AccountRole, "AccountRole": "A person's standing in the deployment; `admin` is an operator.";
    Role, "Role": "A person's role in the organization.";
    Status, "Status": "Whether a membership or an organization is in use.";
    AuthMethod, "AuthMethod": "How a person proved who they are (RFC 8176, and `invite`).";
    Scope, "Scope": "What an API key may do; `proxy` states a person's address in `X-Client-IP` on `/auth/*`.";
    MailStatus, "MailStatus": "How far a mail has come.";
    WebhookStatus, "WebhookStatus": "A disabled webhook gets nothing.";
    DeliveryStatus, "DeliveryStatus": "How far a delivery has come.";
    DeliveryError, "DeliveryError": "Why the last attempt failed; `status` is an answer other than 2xx.";
}

/// The name of an id's kind; its pattern follows from the prefix.
trait Named: Kind {
    const NAME: &'static str;
    const PATTERN: &'static str;
    const EXAMPLE: &'static str;
}

macro_rules! ids {
    ($($kind:ty, $name:literal, $prefix:literal;)*) => { $(
        impl Named for $kind {
            const NAME: &'static str = $name;
            const PATTERN: &'static str = concat!("^", $prefix, "[0-9a-hjkmnp-tv-z]{26}$");
            const EXAMPLE: &'static str = concat!($prefix, "01kaz3vrm0f3k8m2p5q7r9s1t4");
        }
    )* };
}

ids! {
    UserKind, "UserId", "usr_";
    MembershipKind, "MembershipId", "mem_";
    OrgKind, "OrgId", "org_";
    InviteKind, "InviteId", "inv_";
    SessionKind, "SessionId", "ses_";
    ApiKeyKind, "ApiKeyId", "key_";
    WebhookKind, "WebhookId", "whk_";
    EventIdKind, "EventId", "evt_";
    DeliveryKind, "DeliveryId", "dlv_";
}

impl<K: Named> PartialSchema for Id<K> {
    fn schema() -> RefOr<Schema> {
        let means = "An id: its prefix, and 26 characters that sort by time of creation.";
        Text { means, pattern: Some(K::PATTERN), example: Some(K::EXAMPLE), ..Text::default() }.into()
    }
}

impl<K: Named> ToSchema for Id<K> {
    fn name() -> Cow<'static, str> {
        K::NAME.into()
    }
}

impl PartialSchema for EventSelection {
    fn schema() -> RefOr<Schema> {
        let kinds = EventKind::ALL.iter().map(|kind| kind.as_str());
        let groups: BTreeSet<String> = kinds.clone().filter_map(|kind| Some(format!("{}.*", kind.split_once('.')?.0))).collect();
        let patterns: Vec<String> = ["*".to_owned()].into_iter().chain(groups).chain(kinds.map(str::to_owned)).collect();
        ArrayBuilder::new()
            .items(string("A kind of event, all kinds of a group, or all.").enum_values(Some(patterns)))
            .min_items(Some(1))
            .description(Some("Which events a webhook gets."))
            .into()
    }
}

impl ToSchema for EventSelection {
    fn name() -> Cow<'static, str> {
        "EventSelection".into()
    }
}

impl PartialSchema for Metadata {
    fn schema() -> RefOr<Schema> {
        ObjectBuilder::new()
            .schema_type(SchemaType::Type(Type::Object))
            .description(Some(
                "The customer's own JSON object, returned equal to what was sent: at most 16 KiB and 32 levels, no key twice, \
                 numbers finite as a double, no NUL.",
            ))
            .additional_properties(Some(AdditionalProperties::FreeForm(true)))
            .examples([serde_json::json!({ "department": "engineering" })])
            .into()
    }
}

impl ToSchema for Metadata {}
