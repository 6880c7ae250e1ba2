//! The route table: every operation there is, once. A row says which method and path it answers, which function does, what the
//! documentation says of it and how its rule can refuse; who may call, what comes in and what goes out follow from the types of the
//! function (see `route.rs`).
//!
//! # A new row
//!
//! 1. **The row**, in the group that the documentation shows it in.
//! 2. **The function**, in `endpoints/`.
//! 3. **Its types**: each request and answer derives `ToSchema`; without it the row does not compile. Where the type alone does not
//!    say everything:
//!    - an `Option` of an answer is taken to be always there, as null when empty; one that is left out
//!      (`skip_serializing_if`) says so: `#[schema(nullable = false)]`;
//!    - limits that a function checks by hand: `#[schema(minimum = 0, maximum = 2_592_000)]`, `#[schema(min_items = 1)]`;
//!    - a field with `deserialize_with` names what it reads: `#[schema(value_type = Option<AppUrl>)]`.
//!
//!    Names of types are names of components of the document: a test fails when two types share one.
//! 4. **Its scenarios**, in `tests/suite/`.
//!
//! The kept copy of the document, `openapi.json`, is generated; the test that finds it stale says how.

use std::sync::OnceLock;

use ::http::Method;

use super::{
    endpoints::{
        admin, api_keys, audit, audit_keys, auth, bulk_invites, events, figures, invites, jwks, leaked, members, openapi, org,
        product, profile, public, recovery, sessions, sign_up, two_factor, webhooks,
    },
    error_code::ErrorCode::*,
    route::{Group, Purpose, Row, Serving, group},
};

const GET: Method = Method::GET;
const POST: Method = Method::POST;
const PUT: Method = Method::PUT;
const PATCH: Method = Method::PATCH;
const DELETE: Method = Method::DELETE;

/// Every row.
pub fn routes() -> impl Iterator<Item = &'static Row> {
    groups().iter().flat_map(|group| &group.rows)
}

/// The rows by group, in the order of the documentation.
pub(crate) fn groups() -> &'static [Group] {
    static GROUPS: OnceLock<Vec<Group>> = OnceLock::new();
    GROUPS.get_or_init(table::<Serving>)
}

/// The rows, made for a purpose.
#[rustfmt::skip]
pub(crate) fn table<P: Purpose>() -> Vec<Group<P::Facts>> {
    vec![
        group("Sessions", "Logging in, staying logged in, logging out.", vec![
            P::route(POST, "/auth/login", auth::login)
                .says("login", "Log in",
                    "Opens a session, or, where the account has a second factor, answers `requires2FA` and sets the cookie for \
                    the second step. Browsers get the tokens in cookies only.")
                .may(&[InvalidCredentials, NotAMember, Suspended, RateLimited]),
            P::route(POST, "/auth/verify-2fa", two_factor::verify)
                .says("verifySecondFactor", "Take the second step of a login",
                    "`code` is a six-digit TOTP code or a recovery code. Five wrong codes use up the login's first step.")
                .may(&[Suspended, RateLimited]),
            P::route(POST, "/auth/refresh", auth::refresh)
                .says("refresh", "Refresh the session",
                    "Replaces both tokens. The refresh token comes as the cookie; without one, and from callers that are no browsers, \
                    in the body. A token superseded a moment ago gets the current ones; one superseded longer ago ends the session.")
                .may(&[SessionRequired, WrongOrganization]),
            P::route(POST, "/auth/logout", auth::logout)
                .says("logout", "Log out", "Ends the session and clears the cookies; they are cleared without a session, too.")
                .may(&[SessionRequired, WrongOrganization]),
            P::route(GET, "/auth/sessions", sessions::list)
                .says("listSessions", "List one's own sessions", "Those of this organization."),
            P::route(DELETE, "/auth/sessions", sessions::end_others)
                .says("endOtherSessions", "End all other sessions", "Those of this organization; the caller's stays."),
            P::route(DELETE, "/auth/sessions/{id}", sessions::end)
                .says("endSession", "End one of one's own sessions", "It is dead at once."),
        ]),
        group("Account", "A person's own account.", vec![
            P::route(GET, "/auth/profile", profile::get)
                .says("getProfile", "Read one's profile", "`bio` and `phone` are left out where they are not set."),
            P::route(PUT, "/auth/profile", profile::update)
                .says("updateProfile", "Replace one's profile", "An absent `bio` or `phone` is removed.")
                .may(&[RateLimited]),
            P::route(POST, "/auth/change-password", profile::change_password)
                .says("changePassword", "Change the password", "Ends every other session of the account in all organizations. The current password is no new one.")
                .may(&[WeakPassword, WrongPassword, RateLimited]),
            P::route(POST, "/auth/forgot-password", recovery::forgot_password)
                .says("forgotPassword", "Ask for a link to reset the password",
                    "Answers the same whether the address is known or not. The link works once, for 30 minutes.")
                .may(&[RateLimited]),
            P::route(POST, "/auth/reset-password", recovery::reset_password)
                .says("resetPassword", "Reset the password with a link", "Ends every session of the account; opens none.")
                .may(&[InvalidLink, WeakPassword, RateLimited]),
            P::route(POST, "/auth/links/preview", recovery::preview)
                .says("previewLink", "Look at a mailed link",
                    "At one that resets a password or verifies an address, without using it up: a page shows which account it is for.")
                .may(&[InvalidLink, RateLimited]),
            P::route(POST, "/auth/verify-email", recovery::verify_email)
                .says("verifyEmail", "Verify an address with a link",
                    "In a live session of the account, or with its `password`. The link works once.")
                .may(&[InvalidLink, WrongPassword, RateLimited]),
            P::route(POST, "/auth/verify-email/send", recovery::send_verification)
                .says("sendEmailVerification", "Ask for a link to verify the address",
                    "Nothing is sent where it is verified already.")
                .may(&[RateLimited]),
            P::route(POST, "/auth/change-email", recovery::change_email)
                .says("changeEmail", "Ask for a change of address",
                    "`code` is required where the account has a second factor. The old address is told at once, the new one gets \
                    a link; the answer is the same whether it is free or taken.")
                .may(&[WrongPassword, WrongCode, SecondFactorMissing, RateLimited]),
            P::route(POST, "/auth/change-email/confirm", recovery::confirm_email)
                .says("confirmEmailChange", "Confirm a change of address with a link", "In a live session of the same person.")
                .may(&[InvalidLink, RateLimited]),
        ]),
        group("Sign-up", "Making an organization of one's own, where the deployment's settings open that.", vec![
            P::route(POST, "/auth/sign-up", sign_up::request)
                .says("requestSignUp", "Ask for a link to sign up with",
                    "Mails a link that is good for a day, whether or not the address has an account; the answer is always the same.")
                .may(&[SignUpClosed, RateLimited]),
            P::route(POST, "/auth/sign-up/preview", sign_up::preview)
                .says("previewSignUp", "Look at a sign-up", "Without using its link up: a page shows what to ask for.")
                .may(&[SignUpClosed, InvalidLink, RateLimited]),
            P::route(POST, "/auth/sign-up/complete", sign_up::complete)
                .says("completeSignUp", "Make an organization",
                    "Opens a session in it. A new account needs `name` and `password`, and so does one whose address was never \
                    verified, which becomes the caller's alone; any other its `password` and, with two-factor authentication, a \
                    `code`, and no `name`. The link stays good until this succeeds.")
                .created()
                .may(&[SignUpClosed, InvalidLink, SlugReserved, SlugTaken, AccountExists, WrongPassword, WrongCode, WeakPassword,
                    RateLimited]),
        ]),
        group("Two-factor authentication", "A second factor for one's own account: TOTP and recovery codes.", vec![
            P::route(GET, "/auth/2fa", two_factor::status)
                .says("getSecondFactor", "Read whether a second factor is in force", "And how many recovery codes are left."),
            P::route(POST, "/auth/2fa/setup", two_factor::setup)
                .says("setUpSecondFactor", "Prepare a second factor",
                    "Shows the secret, also as a QR code. Not in force until enabled.")
                .may(&[WrongPassword, SecondFactorEnabled, RateLimited]),
            P::route(POST, "/auth/2fa/enable", two_factor::enable)
                .says("enableSecondFactor", "Enable the second factor",
                    "With a code of the prepared secret. The recovery codes are shown once.")
                .may(&[WrongCode, SecondFactorEnabled, SecondFactorMissing, RateLimited]),
            P::route(POST, "/auth/2fa/disable", two_factor::disable)
                .says("disableSecondFactor", "Disable the second factor", "With the password and a TOTP or recovery code.")
                .may(&[WrongPassword, WrongCode, SecondFactorMissing, RateLimited]),
            P::route(POST, "/auth/2fa/recovery-codes", two_factor::recovery_codes)
                .says("renewRecoveryCodes", "Replace the recovery codes", "The old ones are dead; the new ones are shown once.")
                .may(&[WrongPassword, WrongCode, SecondFactorMissing, RateLimited]),
        ]),
        group("Organization", "The organization itself.", vec![
            P::route(GET, "/org", org::get)
                .says("getOrganization", "Read the organization", "`allowedOrigins` is shown to org_admins only."),
            P::route(PATCH, "/org", org::update)
                .says("updateOrganization", "Change the organization",
                    "An absent field stays as it is; null removes `appUrl` and `allowedOrigins`.")
                .may(&[RateLimited]),
            P::route(GET, "/org/appearance", product::appearance)
                .says("getAppearance", "Read how the product and the organization are shown",
                    "For a page before anybody has signed in: the product's name, logo, colour and place of support, and the \
                    organization's name.")
                .may(&[Suspended]),
            P::route(POST, "/org/leave", members::leave)
                .says("leaveOrganization", "Leave the organization", "The last active org_admin cannot.")
                .may(&[LastAdmin, NotFound]),
        ]),
        group("Members", "Who belongs to the organization.", vec![
            P::route(GET, "/org/members", members::list)
                .says("listMembers", "List the members", "Ordered by when they joined."),
            P::route(GET, "/org/members/{userId}", members::get)
                .says("getOrganizationMember", "Read a member", "As in the list."),
            P::route(PATCH, "/org/members/{userId}", members::set_metadata)
                .says("setMetadata", "Replace a member's metadata",
                    "The whole object is replaced; unchanged keys must be sent again.")
                .may(&[RateLimited]),
            P::route(DELETE, "/org/members/{userId}", members::remove)
                .says("removeMember", "Remove a member",
                    "Their sessions here end. Neither oneself nor the last active org_admin can be removed.")
                .may(&[CannotTargetSelf, LastAdmin]),
            P::route(PUT, "/org/members/{userId}/role", members::set_role)
                .says("setRole", "Change a member's role", "The last active org_admin stays one.")
                .may(&[LastAdmin, RateLimited]),
            P::route(PUT, "/org/members/{userId}/status", members::set_status)
                .says("setStatus", "Suspend or reactivate a member",
                    "Neither oneself nor the last active org_admin can be suspended.")
                .may(&[CannotTargetSelf, LastAdmin, RateLimited]),
            P::route(GET, "/org/members/{userId}/sessions", sessions::of_member)
                .says("listMemberSessions", "List a member's sessions", "Those of this organization, as the member sees them."),
            P::route(DELETE, "/org/members/{userId}/sessions", members::end_sessions)
                .says("endMemberSessions", "End a member's sessions", "Those of this organization."),
            P::route(DELETE, "/org/members/{userId}/sessions/{id}", sessions::end_of_member)
                .says("endMemberSession", "End one of a member's sessions", "One of this organization."),
        ]),
        group("Invites", "Inviting people, and accepting.", vec![
            P::route(POST, "/org/members/invite", invites::create)
                .says("createInvite", "Invite somebody", "Mails a link that is good for seven days. Of an organization that sign-up made and nobody trusts: 10 mails an hour to one address, 20 a day with all such organizations.")
                .created().may(&[AlreadyMember, AlreadyInvited, RateLimited]),
            P::route(POST, "/org/members/invite/bulk", bulk_invites::create)
                .says("createInvites", "Invite several people",
                    "1 to 100 addresses, each judged alone: the answer has a result for each, in their order, with the invite or the \
                    `code` of its refusal.")
                .may(&[RateLimited]),
            P::route(GET, "/org/invites", invites::list)
                .says("listInvites", "List the pending invites", "An expired invite is not pending."),
            P::route(POST, "/org/invites/preview", invites::preview)
                .says("previewInvite", "Look at an invite", "Without accepting it: a page shows what it is for.")
                .may(&[InvalidInvite, RateLimited]),
            P::route(POST, "/org/invites/{token}/accept", invites::accept)
                .says("acceptInvite", "Accept an invite",
                    "A new account needs `name` and `password`; an existing one must send neither. Opens a session, or leads to \
                    the second step of a login.")
                .may(&[InvalidInvite, WeakPassword, AccountExists, AlreadyMember, Suspended, RateLimited]),
            P::route(POST, "/org/invites/{invite}/resend", invites::resend)
                .says("resendInvite", "Send an invite again", "With a new link; the old one is dead. Of an organization that sign-up made and nobody trusts: 10 mails an hour to one address, 20 a day with all such organizations.")
                .may(&[RateLimited]),
            P::route(DELETE, "/org/invites/{invite}", invites::revoke)
                .says("revokeInvite", "Revoke an invite", "Its link is dead at once."),
        ]),
        group("API keys", "What the organization's backends call with.", vec![
            P::route(GET, "/org/api-keys", api_keys::list)
                .says("listApiKeys", "List the API keys", "Without their secrets."),
            P::route(POST, "/org/api-keys", api_keys::create)
                .says("createApiKey", "Create an API key",
                    "The key is shown once. `expiresAt` must be in the future. The scope `proxy` is given on the server's command \
                    line or by a deployment key.")
                .created().may(&[LimitReached, RateLimited]),
            P::route(POST, "/org/api-keys/{id}/rotate", api_keys::rotate)
                .says("rotateApiKey", "Replace an API key by a successor",
                    "The old key dies after `overlapSeconds`, a day unless stated otherwise.")
                .created().may(&[InvalidRequest, AlreadyRotated, RateLimited]),
            P::route(DELETE, "/org/api-keys/{id}", api_keys::revoke)
                .says("revokeApiKey", "Revoke an API key", "It is dead at once."),
            P::route(POST, "/keys/leaked", leaked::report)
                .says("reportLeakedKeys", "Report leaked API keys",
                    "For whoever found keys in public, such as a secret scanner: one as `key`, or up to 100 as `keys`. A live key is \
                    revoked before the answer, which is the same whether or not there was one; its org_admins are told by mail.")
                .may(&[RateLimited]),
        ]),
        group("Webhooks",
            "Where the organization's events are sent: signed as Standard Webhooks 1.0.0, tried again for days.", vec![
            P::route(GET, "/org/webhooks", webhooks::list)
                .says("listWebhooks", "List the webhooks", "Without their secrets."),
            P::route(POST, "/org/webhooks", webhooks::create)
                .says("createWebhook", "Create a webhook",
                    "The signing secret is shown once. `events` names kinds such as `member.joined`, groups such as `member.*`, \
                    or `*`; what is done to webhooks is selected by name alone.")
                .created().may(&[LimitReached, RateLimited]),
            P::route(GET, "/org/webhooks/{id}", webhooks::get)
                .says("getWebhook", "Read a webhook", "Without its secrets."),
            P::route(PATCH, "/org/webhooks/{id}", webhooks::update)
                .says("updateWebhook", "Change a webhook",
                    "Disabling it cancels what is pending; a null `description` empties it.")
                .may(&[RateLimited]),
            P::route(DELETE, "/org/webhooks/{id}", webhooks::delete)
                .says("deleteWebhook", "Delete a webhook", "With its deliveries."),
            P::route(POST, "/org/webhooks/{id}/test", webhooks::test)
                .says("testWebhook", "Send a test delivery",
                    "A `webhook.test` event, whatever the webhook selected; the deliveries tell what came of it.")
                .accepted().may(&[WebhookDisabled, RateLimited]),
            P::route(POST, "/org/webhooks/{id}/rotate-secret", webhooks::rotate_secret)
                .says("rotateWebhookSecret", "Replace the signing secret",
                    "The old secret signs beside the new one for `overlapSeconds`, a day unless stated otherwise.")
                .may(&[InvalidRequest, RateLimited]),
            P::route(GET, "/org/webhooks/{id}/deliveries", webhooks::deliveries)
                .says("listDeliveries", "List a webhook's deliveries", "Those of the last 30 days."),
            P::route(GET, "/org/webhooks/{id}/deliveries/{deliveryId}", webhooks::delivery)
                .says("getDelivery", "Read a delivery", "With the body that it sends, and what came of each attempt."),
            P::route(POST, "/org/webhooks/{id}/deliveries/{deliveryId}/redeliver", webhooks::redeliver)
                .says("redeliver", "Send a delivery again", "A new delivery with the same `webhook-id`.")
                .accepted().may(&[WebhookDisabled, RateLimited]),
        ]),
        group("Audit log", "What happened in the organization, who did it, and from where.", vec![
            P::route(GET, "/org/audit", audit::list)
                .says("listAudit", "Read the audit log",
                    "The newest entries first. `user` is whom an entry is about, and `actor.name` today's name. `data` is null and \
                    `erased` true where the person was erased."),
            P::route(POST, "/org/audit/export", audit::export)
                .says("exportAudit", "Export the audit log",
                    "A file of JSON lines that can be verified without the service, of one moment; `from` inclusive, `to` exclusive. A \
                    file without its last line is not whole. One at a time, and 24 in 24 hours.")
                .may(&[RateLimited]),
        ]),
        group("Operator",
            "The deployment's organizations. Asks for an account with the role `admin`, in the operator's organization, logged \
            in with a second factor within 12 hours; or for a deployment key with the scope `organizations`, and no organization.", vec![
            P::route(GET, "/admin/figures", figures::get)
                .says("getFigures", "Read the deployment's figures",
                    "How many organizations, accounts and members there are, and what happened on each of the last 30 days (UTC), today last."),
            P::route(GET, "/admin/organizations", admin::list)
                .says("listOrganizations", "List the organizations", "All of the deployment's."),
            P::route(POST, "/admin/organizations", admin::create)
                .says("createOrganization", "Create an organization", "Its first org_admin is invited by mail.")
                .created().may(&[SlugTaken]),
            P::route(GET, "/admin/organizations/{slug}", admin::get)
                .says("getOrganizationAsOperator", "Read an organization", "`deletesAt` is null unless it is to be deleted. `figures` counts its people; `createdBy` is who signed it up."),
            P::route(PATCH, "/admin/organizations/{slug}", admin::update)
                .says("changeOrganization", "Change an organization",
                    "Its name, plan, application or status; a suspended one admits nobody. `deletesAt` null cancels its deletion and \
                    leaves it suspended.")
                .may(&[OperatorOrganization, DeletionScheduled]),
            P::route(DELETE, "/admin/organizations/{slug}", admin::delete)
                .says("deleteOrganization", "Delete an organization",
                    "It is suspended at once, and removed with everything that belongs to it at `deletesAt`, 30 days later unless the \
                    service is set up otherwise. Once more changes nothing. Deployment keys may delete 20 in 24 hours.")
                .accepted().may(&[OperatorOrganization]),
            P::route(POST, "/admin/organizations/{slug}/invites", admin::invite)
                .says("inviteAdmin", "Invite an org_admin", "For an organization that nobody administers any more.")
                .created().may(&[AlreadyMember, AlreadyInvited]),
        ]),
        group("Server to server", "What a backend asks with its API key. Never from a browser.", vec![
            P::route(POST, "/public/verify", public::verify)
                .says("verifyToken", "Ask who an access token belongs to",
                    "Grant access when `valid` is true and `membership.status` is `active`. An invalid token is 200 with `valid` \
                    false."),
            P::route(GET, "/public/changes", public::changes)
                .says("listChanges", "Ask which answers are no longer true",
                    "For a backend that keeps the answers of verify: the sessions and the users whose answers no longer count since \
                    the cursor `after`, as soon as there are any, or after `wait` with none. Without `after`: the cursor of now. When \
                    `everything` is true, no answer counts. With a deployment key and without `X-Org-Slug`, of all organizations. A \
                    cursor is good for ten minutes at least; 16 questions of a key may wait at once."),
            P::route(GET, "/public/events", events::list)
                .says("listEvents", "Read what happened",
                    "The organization's events after a place, in their order, as webhooks get them; as soon as there are any, or after \
                    `wait` with none. Their numbers have no gaps. 410 when events after the place are gone: begin anew with \
                    `GET /public/members`. 16 questions of a key may wait at once.")
                .may(&[EventsExpired]),
            P::route(GET, "/public/users/{userId}", public::user)
                .says("getUser", "Read a member's account and membership", "404 unless they are a member of this organization."),
            P::route(GET, "/public/members", public::members)
                .says("listMembersAsBackend", "List the members", "As `GET /org/members`. The first page says from where to read events on."),
            P::route(GET, "/public/members/{userId}", public::member)
                .says("getMember", "Read a member", "404 unless they are a member of this organization."),
        ]),
        group("Documents", "What needs no organization.", vec![
            P::route(GET, "/.well-known/jwks.json", jwks::get)
                .says("getKeys", "The public keys of access tokens",
                    "A JWK set (RFC 7517). An offline check cannot see a logout; `POST /public/verify` can."),
            P::route(GET, "/.well-known/audit-keys.json", audit_keys::get)
                .says("getAuditKeys", "The public keys of audit files",
                    "Every key there ever was. `revokedAt` says since when somebody else may have one: what it signed later is worth \
                    nothing."),
            P::route(GET, "/logo", product::logo)
                .says("getLogo", "The product's logo", "A PNG, JPEG, WebP or SVG file; 404 where the deployment has none.")
                .may(&[NotFound]),
            P::route(GET, "/openapi.json", openapi::document)
                .says("getOpenApi", "This document", "OpenAPI 3.1."),
            P::route(GET, "/docs", openapi::page)
                .says("getDocs", "This document as a page", "For people."),
            P::route(GET, "/docs.css", openapi::style)
                .says("getDocsStyle", "The style of that page", "Nothing is loaded from anywhere else."),
            P::route(GET, "/docs.js", openapi::script)
                .says("getDocsScript", "The script of that page", "It searches the page, and tries operations out with the browser's own session."),
        ]),
    ]
}
