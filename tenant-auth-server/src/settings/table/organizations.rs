//! Settings of organizations, and of the links in the mails to their members.

use tenant_auth_core::config::Setting;

use super::{Group, OPERATOR_ORG, Part};
use crate::settings::{
    parse::{self, put},
    row::{
        Default::{Is, Unset},
        Row, Shape,
    },
};

pub(super) const ORGANIZATIONS: Group = Group {
    title: "Organizations",
    part: Part::Service,
    rows: &[
        Row {
            name: "invite_ttl",
            default: Is("604800"),
            meaning: "Lifetime of an invite, in seconds.",
            must: parse::SECONDS,
            read: |to, text| put(&mut to.config.organizations.invite_ttl, parse::seconds(text)),
            core: Some(Setting::InviteTtl),
            ..Row::BLANK
        },
        Row {
            name: "api_keys_per_org",
            default: Is("20"),
            meaning: "API keys that one organization may have.",
            must: parse::COUNT,
            read: |to, text| put(&mut to.config.organizations.max_api_keys, parse::count(text)),
            ..Row::BLANK
        },
        Row {
            name: "webhooks_per_org",
            default: Is("10"),
            meaning: "Webhooks that one organization may have.",
            must: parse::COUNT,
            read: |to, text| put(&mut to.config.organizations.max_webhooks, parse::count(text)),
            ..Row::BLANK
        },
        OPERATOR_ORG,
        Row {
            name: "purge_after",
            default: Is("30"),
            meaning: "Days between the order to delete an organization and its removal, during which the order can be cancelled; 0: it \
                      is removed at once.",
            must: "a whole number from 0 to 3650",
            read: |to, text| put(&mut to.config.organizations.purge_after_days, parse::purge_days(text)),
            core: Some(Setting::PurgeAfter),
            ..Row::BLANK
        },
        Row {
            name: "sign_up",
            default: Is("closed"),
            meaning: "Whether anybody may make an organization by a link mailed to their address.",
            must: "closed or open",
            read: |to, text| put(&mut to.config.sign_up.is_open, parse::choice(text, &[("closed", false), ("open", true)])),
            ..Row::BLANK
        },
        Row {
            name: "sign_ups_per_day",
            default: Is("200"),
            meaning: "Organizations that sign-up makes in 24 hours, of all people together; twice as many links to sign up with, ten at least, are mailed in an hour.",
            must: parse::COUNT,
            read: |to, text| put(&mut to.config.sign_up.per_day, parse::count(text)),
            core: Some(Setting::SignUpsPerDay),
            ..Row::BLANK
        },
        Row {
            name: "reserved_slugs",
            shape: Shape::List,
            default: Unset("none"),
            meaning: "Slugs that sign-up gives to nobody, beside those that the service keeps for itself.",
            must: "slugs, separated by commas",
            read: |to, text| put(&mut to.config.sign_up.reserved_slugs, parse::slugs(text)),
            ..Row::BLANK
        },
    ],
};

pub(super) const MAIL_LINKS: Group = Group {
    title: "Links in mails",
    part: Part::Service,
    rows: &[
        Row {
            name: "invite_url",
            default: Unset("{public_url}/invite#org={slug}&token={token}"),
            meaning: "The page where an invite is accepted. {token} and {slug} are filled in.",
            must: parse::INVITE_LINK,
            read: |to, text| put(&mut to.config.mail_links.invite, parse::link(text).map(Some)),
            core: Some(Setting::InviteLink),
            ..Row::BLANK
        },
        Row {
            name: "reset_url",
            default: Unset("{public_url}/reset#org={slug}&token={token}"),
            meaning: "The page where a forgotten password is replaced. {token} and {slug} are filled in.",
            must: parse::RESET_LINK,
            read: |to, text| put(&mut to.config.mail_links.reset, parse::link(text).map(Some)),
            core: Some(Setting::ResetLink),
            ..Row::BLANK
        },
        Row {
            name: "verify_url",
            default: Unset("{public_url}/verify#org={slug}&token={token}"),
            meaning: "The page where a person verifies their address. {token} and {slug} are filled in.",
            must: parse::VERIFY_LINK,
            read: |to, text| put(&mut to.config.mail_links.verify, parse::link(text).map(Some)),
            core: Some(Setting::VerifyLink),
            ..Row::BLANK
        },
        Row {
            name: "change_email_url",
            default: Unset("{public_url}/change-email#org={slug}&token={token}"),
            meaning: "The page where a person confirms a new address. {token} and {slug} are filled in.",
            must: parse::CHANGE_EMAIL_LINK,
            read: |to, text| put(&mut to.config.mail_links.change_email, parse::link(text).map(Some)),
            core: Some(Setting::ChangeEmailLink),
            ..Row::BLANK
        },
        Row {
            name: "sign_up_url",
            default: Unset("{public_url}/sign-up#token={token}"),
            meaning: "The page where somebody makes an organization. {token} is filled in.",
            must: parse::SIGN_UP_LINK,
            read: |to, text| put(&mut to.config.mail_links.sign_up, parse::link(text).map(Some)),
            core: Some(Setting::SignUpLink),
            ..Row::BLANK
        },
    ],
};
