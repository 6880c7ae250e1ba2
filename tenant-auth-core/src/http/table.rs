//! The route table: every operation there is, once.

use std::sync::OnceLock;

use ::http::Method;
use matchit::Router;
use percent_encoding::percent_decode_str;

#[cfg(feature = "openapi")]
use super::endpoints::openapi;
use super::{
    codes::{
        ACCOUNT_EXISTS, ALREADY_INVITED, ALREADY_MEMBER, ALREADY_ROTATED, CANNOT_TARGET_SELF, INVALID_CREDENTIALS, INVALID_INVITE,
        INVALID_LINK, INVALID_REQUEST, LAST_ADMIN, LIMIT_REACHED, NOT_A_MEMBER, NOT_FOUND, OPERATOR_ORGANIZATION, RATE_LIMITED,
        SECOND_FACTOR_ENABLED, SECOND_FACTOR_MISSING, SESSION_REQUIRED, SLUG_TAKEN, SUSPENDED, WEAK_PASSWORD, WEBHOOK_DISABLED,
        WRONG_CODE, WRONG_ORGANIZATION, WRONG_PASSWORD,
    },
    context::Context,
    endpoints::{admin, api_keys, auth, invites, jwks, members, org, profile, public, recovery, sessions, two_factor, webhooks},
    refusal::Unrouted,
    route::{Row, route},
};

const GET: Method = Method::GET;
const POST: Method = Method::POST;
const PUT: Method = Method::PUT;
const PATCH: Method = Method::PATCH;
const DELETE: Method = Method::DELETE;

/// Every row, in the order of the specification.
pub fn routes() -> &'static [Row] {
    static ROWS: OnceLock<Vec<Row>> = OnceLock::new();
    ROWS.get_or_init(rows)
}

fn rows() -> Vec<Row> {
    let rows = operations();
    #[cfg(feature = "openapi")]
    let rows = rows.into_iter().chain(documents()).collect();
    rows
}

/// The document of all the others, and its page.
#[cfg(feature = "openapi")]
fn documents() -> [Row; 3] {
    [route(GET, "/openapi.json", openapi::document), route(GET, "/docs", openapi::page), route(GET, "/docs.css", openapi::style)]
}

#[rustfmt::skip]
fn operations() -> Vec<Row> {
    vec![
        route(POST, "/auth/login", auth::login).may(&[INVALID_CREDENTIALS, NOT_A_MEMBER, SUSPENDED, RATE_LIMITED]),
        route(POST, "/auth/refresh", auth::refresh).may(&[SESSION_REQUIRED, WRONG_ORGANIZATION]),
        route(POST, "/auth/logout", auth::logout).may(&[SESSION_REQUIRED, WRONG_ORGANIZATION]),
        route(GET, "/auth/profile", profile::get),
        route(PUT, "/auth/profile", profile::update),
        route(POST, "/auth/change-password", profile::change_password).may(&[WEAK_PASSWORD, WRONG_PASSWORD, RATE_LIMITED]),

        route(POST, "/auth/verify-2fa", two_factor::verify).may(&[SUSPENDED, RATE_LIMITED]),
        route(GET, "/auth/2fa", two_factor::status),
        route(POST, "/auth/2fa/setup", two_factor::setup).may(&[WRONG_PASSWORD, SECOND_FACTOR_ENABLED, RATE_LIMITED]),
        route(POST, "/auth/2fa/enable", two_factor::enable)
            .may(&[WRONG_CODE, SECOND_FACTOR_ENABLED, SECOND_FACTOR_MISSING, RATE_LIMITED]),
        route(POST, "/auth/2fa/disable", two_factor::disable)
            .may(&[WRONG_PASSWORD, WRONG_CODE, SECOND_FACTOR_MISSING, RATE_LIMITED]),
        route(POST, "/auth/2fa/recovery-codes", two_factor::recovery_codes)
            .may(&[WRONG_PASSWORD, WRONG_CODE, SECOND_FACTOR_MISSING, RATE_LIMITED]),

        route(GET, "/auth/sessions", sessions::list),
        route(DELETE, "/auth/sessions", sessions::end_others),
        route(DELETE, "/auth/sessions/{id}", sessions::end),

        route(POST, "/auth/forgot-password", recovery::forgot_password),
        route(POST, "/auth/reset-password", recovery::reset_password).may(&[INVALID_LINK, WEAK_PASSWORD]),
        route(POST, "/auth/verify-email", recovery::verify_email).may(&[INVALID_LINK]),
        route(POST, "/auth/verify-email/send", recovery::send_verification).may(&[RATE_LIMITED]),
        route(POST, "/auth/change-email", recovery::change_email)
            .may(&[WRONG_PASSWORD, WRONG_CODE, SECOND_FACTOR_MISSING, RATE_LIMITED]),
        route(POST, "/auth/change-email/confirm", recovery::confirm_email).may(&[INVALID_LINK]),

        route(GET, "/org", org::get),
        route(PATCH, "/org", org::update),
        route(POST, "/org/leave", members::leave).may(&[LAST_ADMIN, NOT_FOUND]),
        route(GET, "/org/members", members::list),
        route(PATCH, "/org/members/{userId}", members::set_metadata),
        route(DELETE, "/org/members/{userId}", members::remove).may(&[CANNOT_TARGET_SELF, LAST_ADMIN]),
        route(PUT, "/org/members/{userId}/role", members::set_role).may(&[LAST_ADMIN]),
        route(PUT, "/org/members/{userId}/status", members::set_status).may(&[CANNOT_TARGET_SELF, LAST_ADMIN]),
        route(DELETE, "/org/members/{userId}/sessions", members::end_sessions),

        route(POST, "/org/members/invite", invites::create).created().may(&[ALREADY_MEMBER, ALREADY_INVITED, RATE_LIMITED]),
        route(GET, "/org/invites", invites::list),
        route(POST, "/org/invites/preview", invites::preview).may(&[INVALID_INVITE]),
        route(POST, "/org/invites/{token}/accept", invites::accept)
            .may(&[INVALID_INVITE, WEAK_PASSWORD, ACCOUNT_EXISTS, ALREADY_MEMBER, SUSPENDED]),
        route(POST, "/org/invites/{invite}/resend", invites::resend).may(&[RATE_LIMITED]),
        route(DELETE, "/org/invites/{invite}", invites::revoke),

        route(GET, "/org/api-keys", api_keys::list),
        route(POST, "/org/api-keys", api_keys::create).created().may(&[LIMIT_REACHED]),
        route(POST, "/org/api-keys/{id}/rotate", api_keys::rotate).created().may(&[INVALID_REQUEST, ALREADY_ROTATED]),
        route(DELETE, "/org/api-keys/{id}", api_keys::revoke),

        route(GET, "/org/webhooks", webhooks::list),
        route(POST, "/org/webhooks", webhooks::create).created().may(&[LIMIT_REACHED]),
        route(GET, "/org/webhooks/{id}", webhooks::get),
        route(PATCH, "/org/webhooks/{id}", webhooks::update),
        route(DELETE, "/org/webhooks/{id}", webhooks::delete),
        route(POST, "/org/webhooks/{id}/test", webhooks::test).accepted().may(&[WEBHOOK_DISABLED, RATE_LIMITED]),
        route(POST, "/org/webhooks/{id}/rotate-secret", webhooks::rotate_secret).may(&[INVALID_REQUEST]),
        route(GET, "/org/webhooks/{id}/deliveries", webhooks::deliveries),
        route(POST, "/org/webhooks/{id}/deliveries/{deliveryId}/redeliver", webhooks::redeliver).accepted().may(&[WEBHOOK_DISABLED]),

        route(POST, "/public/verify", public::verify),
        route(GET, "/public/users/{userId}", public::user),
        route(GET, "/public/members", public::members),
        route(GET, "/public/members/{userId}", public::member),

        route(GET, "/admin/organizations", admin::list),
        route(POST, "/admin/organizations", admin::create).created().may(&[SLUG_TAKEN]),
        route(PATCH, "/admin/organizations/{slug}", admin::update).may(&[OPERATOR_ORGANIZATION]),
        route(POST, "/admin/organizations/{slug}/invites", admin::invite).created().may(&[ALREADY_MEMBER, ALREADY_INVITED]),

        route(GET, "/.well-known/jwks.json", jwks::get),
    ]
}

/// Finds rows by path and method.
pub(crate) struct Table {
    /// For each path template, its rows.
    paths: Router<Vec<&'static Row>>,
}

impl Table {
    pub(crate) fn new() -> Self {
        let mut paths: Vec<(&'static str, Vec<&'static Row>)> = Vec::new();
        for row in routes() {
            match paths.iter_mut().find(|(path, _)| *path == row.path) {
                Some((_, rows)) => rows.push(row),
                None => paths.push((row.path, vec![row])),
            }
        }
        let mut router = Router::new();
        for (path, rows) in paths {
            let inserted = router.insert(path, rows);
            debug_assert!(inserted.is_ok(), "{path} collides with another path");
        }
        Self { paths: router }
    }

    /// The row of a request and the parameters of its path, decoded here and nowhere else. A HEAD is answered by the GET.
    pub(crate) fn find(&self, base: &str, context: &Context) -> Result<(&'static Row, Vec<String>), Unrouted> {
        let path = context.path().strip_prefix(base).ok_or(Unrouted::NoSuchPath)?;
        let matched = self.paths.at(path).map_err(|_| Unrouted::NoSuchPath)?;
        let method = if *context.method() == Method::HEAD { &GET } else { context.method() };
        let Some(row) = matched.value.iter().find(|row| row.method == *method) else {
            let path = matched.value.first().map_or("", |row| row.path);
            return Err(Unrouted::WrongMethod { path, methods: methods(matched.value) });
        };
        let params = matched.params.iter().map(|(_, raw)| percent_decode_str(raw).decode_utf8_lossy().into_owned()).collect();
        Ok((row, params))
    }
}

fn methods(rows: &[&'static Row]) -> Vec<Method> {
    let mut methods: Vec<Method> = rows.iter().map(|row| row.method.clone()).collect();
    if methods.contains(&GET) {
        methods.push(Method::HEAD);
    }
    methods
}

impl std::fmt::Debug for Table {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Table({} rows)", routes().len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_path_finds_its_own_row() {
        let table = Table::new();
        for row in routes() {
            let path =
                row.path.replace("{userId}", "usr_x").replace("{token}", "t").replace("{invite}", "inv_x").replace("{id}", "key_x");
            let matched = table.paths.at(&path).expect(row.path);
            assert!(matched.value.iter().any(|found| found.path == row.path && found.method == row.method), "{row:?}");
        }
    }
}
