//! Settings of the audit log.

use tenant_auth_core::config::Setting;

use super::{Group, Part};
use crate::settings::{
    parse::{self, put},
    row::{Default::Is, Row},
};

pub(super) const AUDIT: Group = Group {
    title: "Audit log",
    part: Part::Service,
    rows: &[
        Row {
            name: "audit_retention",
            default: Is("400"),
            meaning: "Days after which an event is removed from the audit log and the feed; 0: never.",
            must: "a whole number from 0 to 36500",
            read: |to, text| put(&mut to.config.audit.retention_days, parse::days(text)),
            core: Some(Setting::AuditRetention),
            ..Row::BLANK
        },
        Row {
            name: "audit_context_retention",
            default: Is("90"),
            meaning: "Days after which the address, the `User-Agent` and the session of an entry's request are wiped; 0: they are never \
                      written.",
            must: "a whole number from 0 to 36500",
            read: |to, text| put(&mut to.config.audit.context_days, parse::days(text)),
            core: Some(Setting::AuditContextRetention),
            ..Row::BLANK
        },
    ],
};
