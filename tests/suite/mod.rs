//! The suites, by topic. A new one is a `mod` and a line below; a new scenario is a function and a line in its suite's table of
//! contents. Forgetting either line is dead code, and the compiler says so.

mod accepting;
mod api_key_lives;
mod api_keys;
mod at_rest;
mod bodies;
mod browsers;
mod callers;
mod cookies;
mod in_flight;
mod invite_links;
mod invite_mail;
mod invites;
mod login;
mod logout;
mod long_lists;
mod members;
mod metadata;
mod organization;
mod outage;
mod pagination;
mod parity;
mod passwords;
mod profile;
mod public_reads;
mod races;
mod refresh;
mod robustness;
mod roles;
mod routing;
mod sessions;
mod settings;
mod slug;
mod suspension;
mod tokens;
mod verify;

use tenant_auth_conformance::Scenario;

pub(crate) fn scenarios() -> Vec<Scenario> {
    [
        accepting::scenarios(),
        api_key_lives::scenarios(),
        api_keys::scenarios(),
        at_rest::scenarios(),
        bodies::scenarios(),
        browsers::scenarios(),
        callers::scenarios(),
        cookies::scenarios(),
        in_flight::scenarios(),
        invite_links::scenarios(),
        invite_mail::scenarios(),
        invites::scenarios(),
        login::scenarios(),
        logout::scenarios(),
        long_lists::scenarios(),
        members::scenarios(),
        metadata::scenarios(),
        organization::scenarios(),
        outage::scenarios(),
        pagination::scenarios(),
        parity::scenarios(),
        passwords::scenarios(),
        profile::scenarios(),
        public_reads::scenarios(),
        races::scenarios(),
        refresh::scenarios(),
        robustness::scenarios(),
        roles::scenarios(),
        routing::scenarios(),
        sessions::scenarios(),
        settings::scenarios(),
        slug::scenarios(),
        suspension::scenarios(),
        tokens::scenarios(),
        verify::scenarios(),
    ]
    .concat()
}
