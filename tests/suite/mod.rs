//! The suites, by topic. A new one is a line here; a new scenario is a function and a line in its suite's table of contents.

use tenant_auth_conformance::Scenario;

macro_rules! suites {
    ($($suite:ident),* $(,)?) => {
        $(mod $suite;)*

        pub(crate) fn scenarios() -> Vec<Scenario> {
            [$($suite::scenarios()),*].concat()
        }
    };
}

suites![
    accepting,
    api_keys,
    at_rest,
    bodies,
    browsers,
    callers,
    cookies,
    invite_mail,
    invites,
    login,
    logout,
    long_lists,
    members,
    metadata,
    organization,
    outage,
    pagination,
    passwords,
    profile,
    public_reads,
    refresh,
    routing,
    sessions,
    slug,
    suspension,
    tokens,
    verify,
];
