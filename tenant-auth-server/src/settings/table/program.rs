//! Settings of the program around the service: its database, keys, listeners, mail server and log.

use std::path::Path;

use tenant_auth_core::{MasterKeys, config::Setting};

use super::{Group, Part};
use crate::settings::{
    parse::{self, put},
    row::{
        Default::{Is, Required, Unset},
        Disclosure, Fault, Row, Shape,
    },
    values::LogFormat,
};

pub(crate) const DATABASE_URL: Row = Row {
    name: "database_url",
    default: Required("give sqlite:/var/lib/tenant-auth/tenant-auth.db or postgres://user:password@host/database"),
    meaning: "Where the data is kept: a SQLite file, or a PostgreSQL database, which several servers may share.",
    must: "a URL that starts with sqlite: or postgres:",
    read: |to, text| put(&mut to.database_url, parse::database_url(text).map(Some)),
    disclosure: Disclosure::UrlWithoutSecrets,
    core: Some(Setting::DatabaseUrl),
    ..Row::BLANK
};

pub(in crate::settings) const MASTER_KEY: Row = Row {
    name: "master_key",
    shape: Shape::List,
    default: Required("give base64 of 32 random bytes, made with: openssl rand -base64 32"),
    meaning: "The keys that protect what is sealed in the database: the first key seals, every key opens. Losing them loses signing \
              keys, second factors, webhook secrets and waiting mails.",
    must: "standard base64 of 32 random bytes, or several such keys; not a sample, and not all bytes equal",
    read: |to, text| put(&mut to.master_keys, master_keys(text).map(Some)),
    disclosure: Disclosure::Hidden,
    ..Row::BLANK
};

pub(in crate::settings) const MASTER_KEY_FILE: Row = Row {
    name: "master_key_file",
    default: Unset("the keys are given in master_key"),
    meaning: "A file that holds the master keys, one on each line: a mounted secret, in place of master_key.",
    must: "the path of a readable file with master keys; not given together with master_key",
    read: |to, path| {
        let keys = (to.read_file)(Path::new(path));
        let keys = keys.map_err(|error| Fault::Instead(format!("names {path}, which cannot be read: {error}")));
        // One key a line is as good as commas.
        let keys = keys.and_then(|text| {
            let text = String::from_utf8(text).map_err(|_| Fault::Instead(format!("names {path}, which is no text")))?;
            MasterKeys::parse(&text.trim().replace('\n', ","))
                .map_err(|error| Fault::Instead(format!("names {path}, whose key {error}")))
        });
        put(&mut to.master_keys, keys.map(Some))
    },
    ..Row::BLANK
};

pub(in crate::settings) const SMTP_URL: Row = Row {
    name: "smtp_url",
    default: Unset("mail waits in the outbox until it is set"),
    meaning: "The SMTP server that sends mail. smtp:// requires STARTTLS, except on loopback; smtps:// is TLS from the start.",
    must: "smtp://[user:password@]host[:port] or smtps://…",
    read: |to, text| put(&mut to.smtp_url, parse::smtp_url(text).map(Some)),
    disclosure: Disclosure::UrlWithoutSecrets,
    ..Row::BLANK
};

pub(in crate::settings) const MAIL_FROM: Row = Row {
    name: "mail_from",
    default: Unset("no-reply@ the host of public_url"),
    meaning: "The sender of mails. An international domain is sent in its ASCII form.",
    must: "an address such as 'Acme <no-reply@example.com>'",
    read: |to, text| put(&mut to.mail_from, parse::sender(text).map(Some)),
    ..Row::BLANK
};

pub(crate) const SQLITE_MUST_EXIST: Row = Row {
    name: "sqlite_must_exist",
    shape: Shape::Switch,
    default: Is("false"),
    meaning: "Whether a SQLite file that is not there is refused rather than made. Give true once there is one: a volume that \
              was not mounted is then a refusal to start, and not an empty service.",
    must: "one of: true, false",
    read: |to, text| put(&mut to.sqlite_must_exist, parse::switch(text)),
    ..Row::BLANK
};

pub(crate) const LISTEN: Row = Row {
    name: "listen",
    default: Is("127.0.0.1:8080"),
    meaning: "The address and port at which the server answers; a reverse proxy with TLS stands in front.",
    must: "an address and a port such as 127.0.0.1:8080 or [::]:8080",
    read: |to, text| put(&mut to.listen, parse::socket(text)),
    ..Row::BLANK
};

pub(crate) const METRICS_LISTEN: Row = Row {
    name: "metrics_listen",
    default: Is("127.0.0.1:9464"),
    meaning: "The address and port at which Prometheus fetches /metrics; none turns the metrics off.",
    must: "an address and a port such as 127.0.0.1:9464, or none",
    read: |to, text| put(&mut to.metrics_listen, parse::socket_or_none(text)),
    ..Row::BLANK
};

pub(crate) const CONNECTIONS: Row = Row {
    name: "connections",
    default: Is("8192"),
    meaning: "The most connections of clients at once; fewer where the limit of open files allows fewer.",
    must: parse::COUNT,
    read: |to, text| put(&mut to.connections, parse::count(text)),
    ..Row::BLANK
};

pub(crate) const OTLP_ENDPOINT: Row = Row {
    name: "otlp_endpoint",
    default: Unset("no traces are sent"),
    meaning: "The OpenTelemetry collector that takes traces, with OTLP over HTTP, at /v1/traces below this URL. For a program that was \
              built with the feature otlp; any other refuses the setting.",
    must: "http:// or https://, a host, and a port or a path if need be; without user name, password and query",
    read: |to, text| put(&mut to.otlp_endpoint, parse::otlp_endpoint(text).map(Some)),
    // Refused where it has one, and shown all the same.
    disclosure: Disclosure::UrlWithoutSecrets,
    ..Row::BLANK
};

pub(in crate::settings) const DRAIN_NOTICE: Row = Row {
    name: "drain_notice",
    default: Is("5"),
    meaning: "For how many seconds a server that was told to stop goes on answering while /health/ready says 503, so that load \
              balancers know before the port closes.",
    must: "a whole number of seconds from 0 to 300",
    read: |to, text| put(&mut to.drain_notice, parse::notice(text)),
    ..Row::BLANK
};

pub(super) const DATABASE: Group = Group {
    title: "Database",
    part: Part::Database,
    rows: &[
        DATABASE_URL,
        Row {
            name: "database_connections",
            default: Is("10"),
            meaning: "The most connections of one process to the database in its pool. One more comes on top: the writer of SQLite, and on \
                      PostgreSQL, where `MEMORY` is not 0, the one that looks for changes. `org export --close` opens two at least.",
            must: parse::COUNT,
            read: |to, text| put(&mut to.database_connections, parse::count(text)),
            ..Row::BLANK
        },
        SQLITE_MUST_EXIST,
    ],
};

pub(super) const MASTER_KEYS: Group = Group { title: "Master keys", part: Part::MasterKeys, rows: &[MASTER_KEY, MASTER_KEY_FILE] };

pub(super) const LISTENERS: Group =
    Group { title: "Listeners", part: Part::Server, rows: &[LISTEN, METRICS_LISTEN, CONNECTIONS, DRAIN_NOTICE] };

pub(super) const MAIL: Group = Group { title: "Mail", part: Part::Server, rows: &[SMTP_URL, MAIL_FROM] };

pub(super) const LOG: Group = Group {
    title: "Log",
    part: Part::Server,
    rows: &[
        Row {
            name: "log",
            default: Is("info,sqlx=warn"),
            meaning: "Which log lines are written: a level for all of them, then levels for modules.",
            must: "a log filter such as info or info,tenant_auth=debug: levels, and modules with a level",
            read: |to, text| put(&mut to.log_filter, parse::log_filter(text)),
            ..Row::BLANK
        },
        Row {
            name: "log_format",
            default: Is("text"),
            meaning: "How a log line looks: text for people, or json with one object on each line.",
            must: "one of: text, json",
            read: |to, text| put(&mut to.log_format, parse::choice(text, &[("text", LogFormat::Text), ("json", LogFormat::Json)])),
            ..Row::BLANK
        },
    ],
};

pub(super) const TRACES: Group = Group { title: "Traces", part: Part::Server, rows: &[OTLP_ENDPOINT] };

fn master_keys(list: &str) -> Result<MasterKeys, Fault> {
    MasterKeys::parse(list).map_err(|error| Fault::Instead(error.to_string()))
}
