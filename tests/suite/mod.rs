//! The suites, by topic. A new one is a `mod` and a line below; a new scenario is a function and a line in its suite's table of
//! contents. Forgetting either line is dead code, and the compiler says so.

mod accepting;
mod account;
mod accounts_by_operator;
mod api_key_lives;
mod api_keys;
mod at_rest;
mod at_rest_accounts;
mod authenticator;
mod bodies;
mod browsers;
mod busy_day;
mod callers;
mod cookies;
mod deliveries;
mod delivery_again;
mod delivery_background;
mod delivery_changes;
mod delivery_defects;
mod delivery_health;
mod delivery_http;
mod delivery_retries;
mod delivery_workers;
mod email_address;
mod email_change;
mod embedding;
mod embedding_refresh;
mod embedding_remote;
mod events;
mod events_catalogue;
mod events_sessions;
mod events_users;
mod hooks;
mod in_flight;
mod invite_limit;
mod invite_links;
mod invite_mail;
mod invites;
mod isolation;
mod key_rotation;
mod listener;
mod login;
mod logout;
mod long_lists;
mod members;
mod metadata;
mod metrics;
mod openapi;
mod operator_organizations;
mod operators;
mod organization;
mod outage;
mod own_sessions;
mod pagination;
mod panel;
mod parity;
mod passwords;
mod profile;
mod public_reads;
mod races;
mod recovery;
mod recovery_races;
mod refresh;
mod robustness;
mod roles;
mod routing;
mod second_factor;
mod second_factor_limits;
mod second_factor_login;
mod second_factor_paths;
mod second_factor_races;
mod second_factor_recovery;
mod second_factor_tokens;
mod security_mails;
mod sessions;
mod settings;
mod slug;
mod store_contract;
mod stored;
mod suspension;
mod throttling;
mod throttling_addresses;
mod throttling_edges;
mod throttling_races;
mod throttling_wide;
mod tokens;
mod topologies;
mod verify;
mod webhook_fields;
mod webhook_races;
mod webhook_rights;
mod webhook_secrets;
mod webhook_targets;
mod webhooks;

use tenant_auth_conformance::Scenario;

pub(crate) fn scenarios() -> Vec<Scenario> {
    [
        accepting::scenarios(),
        accounts_by_operator::scenarios(),
        api_key_lives::scenarios(),
        api_keys::scenarios(),
        at_rest::scenarios(),
        at_rest_accounts::scenarios(),
        bodies::scenarios(),
        browsers::scenarios(),
        callers::scenarios(),
        cookies::scenarios(),
        deliveries::scenarios(),
        delivery_again::scenarios(),
        delivery_background::scenarios(),
        delivery_changes::scenarios(),
        delivery_defects::scenarios(),
        delivery_health::scenarios(),
        delivery_http::scenarios(),
        delivery_retries::scenarios(),
        delivery_workers::scenarios(),
        email_address::scenarios(),
        email_change::scenarios(),
        events::scenarios(),
        events_catalogue::scenarios(),
        events_sessions::scenarios(),
        events_users::scenarios(),
        embedding::scenarios(),
        embedding_refresh::scenarios(),
        embedding_remote::scenarios(),
        in_flight::scenarios(),
        invite_limit::scenarios(),
        invite_links::scenarios(),
        invite_mail::scenarios(),
        invites::scenarios(),
        isolation::scenarios(),
        key_rotation::scenarios(),
        login::scenarios(),
        logout::scenarios(),
        long_lists::scenarios(),
        members::scenarios(),
        metadata::scenarios(),
        metrics::scenarios(),
        openapi::scenarios(),
        operator_organizations::scenarios(),
        operators::scenarios(),
        openapi::scenarios(),
        organization::scenarios(),
        outage::scenarios(),
        own_sessions::scenarios(),
        pagination::scenarios(),
        panel::scenarios(),
        parity::scenarios(),
        passwords::scenarios(),
        profile::scenarios(),
        public_reads::scenarios(),
        races::scenarios(),
        recovery::scenarios(),
        recovery_races::scenarios(),
        refresh::scenarios(),
        robustness::scenarios(),
        roles::scenarios(),
        routing::scenarios(),
        second_factor::scenarios(),
        second_factor_limits::scenarios(),
        second_factor_login::scenarios(),
        second_factor_paths::scenarios(),
        second_factor_races::scenarios(),
        second_factor_recovery::scenarios(),
        second_factor_tokens::scenarios(),
        security_mails::scenarios(),
        sessions::scenarios(),
        settings::scenarios(),
        slug::scenarios(),
        store_contract::scenarios(),
        suspension::scenarios(),
        throttling::scenarios(),
        throttling_addresses::scenarios(),
        throttling_edges::scenarios(),
        throttling_races::scenarios(),
        throttling_wide::scenarios(),
        tokens::scenarios(),
        topologies::scenarios(),
        verify::scenarios(),
        webhook_fields::scenarios(),
        webhook_races::scenarios(),
        webhook_rights::scenarios(),
        webhook_secrets::scenarios(),
        webhook_targets::scenarios(),
        webhooks::scenarios(),
    ]
    .concat()
}
