//! The words of the document: what each operation is called and does. The rest is derived.

/// What is said of one operation.
#[derive(Debug)]
pub(super) struct Words {
    pub(super) tag: &'static str,
    pub(super) method: &'static str,
    pub(super) path: &'static str,
    /// `operationId`: stable, for generators of clients.
    pub(super) id: &'static str,
    pub(super) summary: &'static str,
    pub(super) description: &'static str,
}

macro_rules! operations {
    ($($tag:literal $about:literal { $($method:ident $path:literal $id:ident: $summary:literal, $description:literal;)* })*) => {
        /// The groups of operations, in the order of the document.
        pub(super) const TAGS: &[(&str, &str)] = &[$(($tag, $about)),*];

        /// Every operation's words.
        pub(super) const OPERATIONS: &[Words] = &[$($(Words {
            tag: $tag,
            method: stringify!($method),
            path: $path,
            id: stringify!($id),
            summary: $summary,
            description: $description,
        },)*)*];
    };
}

#[rustfmt::skip]
operations! {
    "Sessions" "Logging in, staying logged in, logging out." {
        POST "/auth/login" login: "Log in",
            "Opens a session, or, where the account has a second factor, answers `requires2FA` and sets the cookie for the second step. Browsers get the tokens in cookies only.";
        POST "/auth/verify-2fa" verifySecondFactor: "Take the second step of a login",
            "`code` is a six-digit TOTP code or a recovery code. Five wrong codes use up the login's first step.";
        POST "/auth/refresh" refresh: "Refresh the session",
            "Replaces both tokens. A token superseded a moment ago gets the current ones; one superseded longer ago ends the session.";
        POST "/auth/logout" logout: "Log out",
            "Ends the session and clears the cookies; they are cleared without a session, too.";
        GET "/auth/sessions" listSessions: "List one's own sessions", "Those of this organization.";
        DELETE "/auth/sessions" endOtherSessions: "End all other sessions", "Those of this organization; the caller's stays.";
        DELETE "/auth/sessions/{id}" endSession: "End one of one's own sessions", "It is dead at once.";
    }
    "Account" "A person's own account." {
        GET "/auth/profile" getProfile: "Read one's profile", "`bio` and `phone` are left out where they are not set.";
        PUT "/auth/profile" updateProfile: "Replace one's profile", "An absent `bio` or `phone` is removed.";
        POST "/auth/change-password" changePassword: "Change the password", "Ends every other session of the account in all organizations.";
        POST "/auth/forgot-password" forgotPassword: "Ask for a link to reset the password",
            "Always answers 200, whether the address is known or not. The link works once, for 30 minutes.";
        POST "/auth/reset-password" resetPassword: "Reset the password with a link", "Ends every session of the account; opens none.";
        POST "/auth/verify-email" verifyEmail: "Verify an address with a link", "The link works once.";
        POST "/auth/verify-email/send" sendEmailVerification: "Ask for a link to verify the address", "Nothing is sent where it is verified already.";
        POST "/auth/change-email" changeEmail: "Ask for a change of address",
            "`code` is required where the account has a second factor. The old address is told at once, the new one gets a link; the answer is the same whether it is free or taken.";
        POST "/auth/change-email/confirm" confirmEmailChange: "Confirm a change of address with a link", "In a live session of the same person.";
    }
    "Two-factor authentication" "A second factor for one's own account: TOTP and recovery codes." {
        GET "/auth/2fa" getSecondFactor: "Read whether a second factor is in force", "And how many recovery codes are left.";
        POST "/auth/2fa/setup" setUpSecondFactor: "Prepare a second factor", "Shows the secret, also as a QR code. Not in force until enabled.";
        POST "/auth/2fa/enable" enableSecondFactor: "Enable the second factor", "With a code of the prepared secret. The recovery codes are shown once.";
        POST "/auth/2fa/disable" disableSecondFactor: "Disable the second factor", "With the password and a TOTP or recovery code.";
        POST "/auth/2fa/recovery-codes" renewRecoveryCodes: "Replace the recovery codes", "The old ones are dead; the new ones are shown once.";
    }
    "Organization" "The organization itself." {
        GET "/org" getOrganization: "Read the organization", "`allowedOrigins` is shown to org_admins only.";
        PATCH "/org" updateOrganization: "Change the organization", "An absent field stays as it is; null removes `appUrl` and `allowedOrigins`.";
        POST "/org/leave" leaveOrganization: "Leave the organization", "The last active org_admin cannot.";
    }
    "Members" "Who belongs to the organization." {
        GET "/org/members" listMembers: "List the members", "Ordered by when they joined.";
        PATCH "/org/members/{userId}" setMetadata: "Replace a member's metadata", "The whole object is replaced; unchanged keys must be sent again.";
        DELETE "/org/members/{userId}" removeMember: "Remove a member", "Their sessions here end. Neither oneself nor the last active org_admin can be removed.";
        PUT "/org/members/{userId}/role" setRole: "Change a member's role", "The last active org_admin stays one.";
        PUT "/org/members/{userId}/status" setStatus: "Suspend or reactivate a member", "Neither oneself nor the last active org_admin can be suspended.";
        DELETE "/org/members/{userId}/sessions" endMemberSessions: "End a member's sessions", "Those of this organization.";
    }
    "Invites" "Inviting people, and accepting." {
        POST "/org/members/invite" createInvite: "Invite somebody", "Mails a link that is good for seven days.";
        GET "/org/invites" listInvites: "List the pending invites", "An expired invite is not pending.";
        POST "/org/invites/preview" previewInvite: "Look at an invite", "Without accepting it: a page shows what it is for.";
        POST "/org/invites/{token}/accept" acceptInvite: "Accept an invite",
            "A new account needs `name` and `password`; an existing one must send neither. Opens a session, or leads to the second step of a login.";
        POST "/org/invites/{invite}/resend" resendInvite: "Send an invite again", "With a new link; the old one is dead.";
        DELETE "/org/invites/{invite}" revokeInvite: "Revoke an invite", "Its link is dead at once.";
    }
    "API keys" "What the organization's backends call with." {
        GET "/org/api-keys" listApiKeys: "List the API keys", "Without their secrets.";
        POST "/org/api-keys" createApiKey: "Create an API key", "The key is shown once. `expiresAt` must be in the future.";
        POST "/org/api-keys/{id}/rotate" rotateApiKey: "Replace an API key by a successor", "The old key dies after `overlapSeconds`, a day unless stated otherwise.";
        DELETE "/org/api-keys/{id}" revokeApiKey: "Revoke an API key", "It is dead at once.";
    }
    "Webhooks" "Where the organization's events are sent: signed as Standard Webhooks 1.0.0, tried again for days." {
        GET "/org/webhooks" listWebhooks: "List the webhooks", "Without their secrets.";
        POST "/org/webhooks" createWebhook: "Create a webhook", "The signing secret is shown once. `events` names kinds such as `member.joined`, groups such as `member.*`, or `*`.";
        GET "/org/webhooks/{id}" getWebhook: "Read a webhook", "Without its secrets.";
        PATCH "/org/webhooks/{id}" updateWebhook: "Change a webhook", "Disabling it cancels what is pending; a null `description` empties it.";
        DELETE "/org/webhooks/{id}" deleteWebhook: "Delete a webhook", "With its deliveries.";
        POST "/org/webhooks/{id}/test" testWebhook: "Send a test delivery", "A `webhook.test` event, whatever the webhook selected; the deliveries tell what came of it.";
        POST "/org/webhooks/{id}/rotate-secret" rotateWebhookSecret: "Replace the signing secret", "The old secret signs beside the new one for `overlapSeconds`, a day unless stated otherwise.";
        GET "/org/webhooks/{id}/deliveries" listDeliveries: "List a webhook's deliveries", "Those of the last 30 days.";
        POST "/org/webhooks/{id}/deliveries/{deliveryId}/redeliver" redeliver: "Send a delivery again", "A new delivery with the same `webhook-id`.";
    }
    "Operator" "The deployment's organizations. Asks for an account with the role `admin`, in the operator's organization, logged in with a second factor within 12 hours." {
        GET "/admin/organizations" listOrganizations: "List the organizations", "All of the deployment's.";
        POST "/admin/organizations" createOrganization: "Create an organization", "Its first org_admin is invited by mail.";
        PATCH "/admin/organizations/{slug}" changeOrganization: "Change an organization", "Its name, plan, application or status; a suspended one admits nobody.";
        POST "/admin/organizations/{slug}/invites" inviteAdmin: "Invite an org_admin", "For an organization that nobody administers any more.";
    }
    "Server to server" "What a backend asks with its API key. Never from a browser." {
        POST "/public/verify" verifyToken: "Ask who an access token belongs to",
            "Grant access when `valid` is true and `membership.status` is `active`. An invalid token is 200 with `valid` false.";
        GET "/public/users/{userId}" getUser: "Read a member's account and membership", "404 unless they are a member of this organization.";
        GET "/public/members" listMembersAsBackend: "List the members", "As `GET /org/members`.";
        GET "/public/members/{userId}" getMember: "Read a member", "404 unless they are a member of this organization.";
    }
    "Documents" "What needs no organization." {
        GET "/.well-known/jwks.json" getKeys: "The public keys of access tokens", "A JWK set (RFC 7517). An offline check cannot see a logout; `POST /public/verify` can.";
        GET "/openapi.json" getOpenApi: "This document", "OpenAPI 3.1.";
        GET "/docs" getDocs: "This document as a page", "For people.";
        GET "/docs.css" getDocsStyle: "The style of that page", "Nothing is loaded from anywhere else.";
    }
}
