//! The pages in a headless Chromium: `cargo test -p tenant-auth-conformance --test browser`. Names read
//! `axum::sign_in::the_keyboard_is_enough`, and any part of one is a filter.

mod browser {
    pub(crate) mod account;
    pub(crate) mod aloud;
    pub(crate) mod audit;
    pub(crate) mod dialogs;
    pub(crate) mod docs;
    pub(crate) mod figures;
    pub(crate) mod frame;
    pub(crate) mod identity;
    pub(crate) mod judge;
    pub(crate) mod languages;
    pub(crate) mod links;
    pub(crate) mod lists;
    pub(crate) mod look;
    pub(crate) mod meanwhile;
    pub(crate) mod operator;
    pub(crate) mod organization;
    pub(crate) mod people;
    pub(crate) mod phone;
    pub(crate) mod pictures;
    pub(crate) mod returning;
    pub(crate) mod sentences;
    pub(crate) mod sign_in;
    pub(crate) mod start;
    pub(crate) mod tabs;
    pub(crate) mod unsaved;
    pub(crate) mod vision;
    pub(crate) mod webhooks;
    pub(crate) mod words;
}

use browser::{
    account, aloud, audit, dialogs, docs, figures, frame, identity, judge, languages, links, lists, look, meanwhile, operator,
    organization, people, pictures, returning, sentences, sign_in, start, tabs, unsaved, vision, webhooks, words,
};

fn main() -> std::process::ExitCode {
    let scenarios = [
        sign_in::scenarios(),
        returning::scenarios(),
        links::scenarios(),
        account::scenarios(),
        audit::scenarios(),
        frame::scenarios(),
        organization::scenarios(),
        people::scenarios(),
        webhooks::scenarios(),
        operator::scenarios(),
        figures::scenarios(),
        unsaved::scenarios(),
        meanwhile::scenarios(),
        identity::scenarios(),
        dialogs::scenarios(),
        docs::scenarios(),
        lists::scenarios(),
        look::scenarios(),
        words::scenarios(),
        sentences::scenarios(),
        aloud::scenarios(),
        vision::scenarios(),
        languages::scenarios(),
        start::scenarios(),
        tabs::scenarios(),
        pictures::scenarios(),
        judge::scenarios(),
    ];
    tenant_auth_conformance::browser::main(&scenarios.concat())
}
