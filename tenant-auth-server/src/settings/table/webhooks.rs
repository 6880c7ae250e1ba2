//! Settings of webhook deliveries.

use tenant_auth_core::config::Setting;

use super::{Group, Part};
use crate::settings::{
    parse::{self, put},
    row::{Default::Is, Row, Shape},
};

pub(crate) const WEBHOOK_ALLOW_PRIVATE_NETWORKS: Row = Row {
    name: "webhook_allow_private_networks",
    shape: Shape::Switch,
    default: Is("false"),
    meaning: "Whether deliveries may also go to private and loopback addresses, over http and to any port. true switches the \
              protection against SSRF off: for development and closed networks.",
    must: "one of: true, false",
    read: |to, text| put(&mut to.config.webhooks.allow_private_networks, parse::switch(text)),
    ..Row::BLANK
};

pub(super) const WEBHOOKS: Group = Group {
    title: "Webhooks",
    part: Part::Service,
    rows: &[
        Row {
            name: "webhook_ports",
            shape: Shape::List,
            default: Is("443,8443"),
            meaning: "The ports that deliveries may go to.",
            must: "a list of ports from 1 to 65535",
            read: |to, text| put(&mut to.config.webhooks.ports, parse::ports(text)),
            ..Row::BLANK
        },
        WEBHOOK_ALLOW_PRIVATE_NETWORKS,
        Row {
            name: "webhook_timeout",
            default: Is("15"),
            meaning: "Seconds that one attempt of a delivery may take.",
            must: "a whole number of seconds from 1 to 30",
            read: |to, text| put(&mut to.config.webhooks.timeout, parse::attempt(text)),
            core: Some(Setting::WebhookTimeout),
            ..Row::BLANK
        },
        Row {
            name: "webhook_retry_schedule",
            shape: Shape::List,
            default: Is("5,300,1800,7200,18000,36000,50400,72000,86400"),
            meaning: "Seconds to wait before each retry of a failed delivery, each varied by 15 %; the first attempt is made at once.",
            must: "a list of whole numbers of seconds from 0 to 604800 (7 days), in all less than 26 days",
            read: |to, text| put(&mut to.config.webhooks.retry_schedule, parse::waits(text)),
            core: Some(Setting::WebhookRetrySchedule),
            ..Row::BLANK
        },
    ],
};
