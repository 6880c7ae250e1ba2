//! Settings of what is remembered.

use tenant_auth_core::config::Setting;

use super::{Group, Part};
use crate::settings::{
    parse::{self, put},
    row::{Default::Is, Row},
};

pub(crate) const FRESHNESS: Row = Row {
    name: "freshness",
    default: Is("100"),
    meaning: "Milliseconds that a look for changes of other processes counts. Whatever ends or narrows a right is answered a \
              quarter more than that after it is done, so that no process honours the right any more.",
    must: "a whole number from 20 to 1000",
    read: |to, text| put(&mut to.config.memory.freshness, parse::freshness(text)),
    core: Some(Setting::Freshness),
    ..Row::BLANK
};

pub(super) const MEMORY: Group = Group {
    title: "Memory",
    part: Part::Service,
    rows: &[
        Row {
            name: "memory",
            default: Is("64"),
            meaning: "MiB for what the server remembers of sessions, keys and organizations, so that it judges callers without the \
                      database; 0 turns it off.",
            must: "a whole number from 0 to 65536",
            read: |to, text| put(&mut to.config.memory.mebibytes, parse::mebibytes(text)),
            core: Some(Setting::Memory),
            ..Row::BLANK
        },
        FRESHNESS,
    ],
};
