//! Settings of sessions, logins and passwords.

use tenant_auth_core::{config::Setting, secret::Pepper};

use super::{Group, Part};
use crate::settings::{
    parse::{self, put},
    row::{
        Default::{Is, Unset},
        Disclosure, Row, Shape,
    },
};

pub(in crate::settings) const REFRESH_TOKEN_TTL: Row = Row {
    name: "refresh_token_ttl",
    default: Is("604800"),
    meaning: "Lifetime of a refresh token, in seconds: a session that is not used for this long cannot go on.",
    must: parse::SECONDS,
    read: |to, text| put(&mut to.config.sessions.refresh_token_ttl, parse::seconds(text)),
    core: Some(Setting::RefreshTokenTtl),
    ..Row::BLANK
};

pub(in crate::settings) const ARGON2: Row = Row {
    name: "argon2",
    shape: Shape::List,
    default: Is("19456,2,1"),
    meaning: "The cost of one password hash: memory in KiB, passes, lanes. A password whose hash was cheaper is hashed anew at \
              its next login.",
    must: "memory in KiB, passes and lanes, such as 19456,2,1 (at least 8 KiB a lane, at most 4194304 KiB)",
    read: |to, text| put(&mut to.config.passwords.argon2, parse::argon2(text)),
    core: Some(Setting::Argon2),
    ..Row::BLANK
};

pub(super) const SESSIONS: Group = Group {
    title: "Sessions and tokens",
    part: Part::Service,
    rows: &[
        Row {
            name: "access_token_ttl",
            default: Is("900"),
            meaning: "Lifetime of an access token, in seconds.",
            must: parse::SECONDS,
            read: |to, text| put(&mut to.config.sessions.access_token_ttl, parse::seconds(text)),
            core: Some(Setting::AccessTokenTtl),
            ..Row::BLANK
        },
        REFRESH_TOKEN_TTL,
        Row {
            name: "session_ttl",
            default: Is("2592000"),
            meaning: "Lifetime of a session, in seconds from its login; use does not extend it.",
            must: parse::SECONDS,
            read: |to, text| put(&mut to.config.sessions.ttl, parse::seconds(text)),
            core: Some(Setting::SessionTtl),
            ..Row::BLANK
        },
        Row {
            name: "refresh_grace",
            default: Is("30"),
            meaning: "Seconds for which a superseded refresh token is still honoured, because parallel tabs and lost replies present it.",
            must: "a whole number of seconds from 0 to 60",
            read: |to, text| put(&mut to.config.sessions.refresh_grace, parse::grace(text)),
            core: Some(Setting::RefreshGrace),
            ..Row::BLANK
        },
        Row {
            name: "sessions_per_user",
            default: Is("20"),
            meaning: "Sessions that one person may have in one organization; one more login ends the oldest.",
            must: parse::COUNT,
            read: |to, text| put(&mut to.config.sessions.max_per_user, parse::count(text)),
            core: Some(Setting::SessionsPerUser),
            ..Row::BLANK
        },
    ],
};

pub(super) const LOGIN: Group = Group {
    title: "Login",
    part: Part::Service,
    rows: &[
        Row {
            name: "login_max_failures",
            default: Is("5"),
            meaning: "Failed logins to one account from one address before that address is blocked from the account.",
            must: parse::COUNT,
            read: |to, text| put(&mut to.config.login.max_failures, parse::count(text)),
            core: Some(Setting::LoginMaxFailures),
            ..Row::BLANK
        },
        Row {
            name: "login_window",
            default: Is("900"),
            meaning: "Seconds within which failures from one address are counted; after a wait as long as this or longer, from its end on.",
            must: parse::SECONDS,
            read: |to, text| put(&mut to.config.login.window, parse::seconds(text)),
            core: Some(Setting::LoginWindow),
            ..Row::BLANK
        },
        Row {
            name: "login_max_failures_per_ip",
            default: Is("50"),
            meaning: "Failed logins from one address (IPv6: one /64) within login_window, over all accounts.",
            must: parse::COUNT,
            read: |to, text| put(&mut to.config.login.max_failures_per_ip, parse::count(text)),
            core: Some(Setting::LoginMaxFailuresPerIp),
            ..Row::BLANK
        },
        Row {
            name: "login_max_failures_per_account",
            default: Is("100"),
            meaning: "Failed logins to one account within an hour, over all addresses.",
            must: parse::COUNT,
            read: |to, text| put(&mut to.config.login.max_failures_per_account, parse::count(text)),
            core: Some(Setting::LoginMaxFailuresPerAccount),
            ..Row::BLANK
        },
        Row {
            name: "partial_token_ttl",
            default: Is("300"),
            meaning: "Seconds that the second step of a login may take.",
            must: parse::SECONDS,
            read: |to, text| put(&mut to.config.login.partial_token_ttl, parse::seconds(text)),
            core: Some(Setting::PartialTokenTtl),
            ..Row::BLANK
        },
    ],
};

pub(super) const PASSWORDS: Group = Group {
    title: "Passwords",
    part: Part::Service,
    rows: &[
        Row {
            name: "password_min_score",
            default: Is("1"),
            meaning: "The least zxcvbn score of a new password, from 0 (guessed at once) to 4 (very hard to guess).",
            must: "a whole number from 0 to 4",
            read: |to, text| put(&mut to.config.passwords.min_score, parse::score(text)),
            core: Some(Setting::PasswordMinScore),
            ..Row::BLANK
        },
        Row {
            name: "password_pepper",
            shape: Shape::Verbatim,
            default: Unset("no pepper"),
            meaning: "A secret mixed into every password hash, used byte for byte: the first pepper hashes, every pepper verifies, and an \
                      empty one stands for none. Losing a pepper loses the passwords that were hashed with it.",
            must: "a text without commas, or up to four such texts",
            read: |to, text| {
                let mut peppers = text.split(',').map(Pepper::new);
                to.config.passwords.pepper = peppers.next().filter(|pepper| !pepper.expose().is_empty());
                put(&mut to.config.passwords.former_peppers, Ok(peppers.collect()))
            },
            disclosure: Disclosure::Hidden,
            core: Some(Setting::PasswordPepper),
        },
        ARGON2,
    ],
};
