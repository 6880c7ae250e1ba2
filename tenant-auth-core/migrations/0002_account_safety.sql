-- Failed attempts, counted before anything is hashed. A key names whom or what is counted: an account at an address, an address,
-- an account, an account's second factor; the subject is the account, where there is one. Accounts stand as digests of the address typed, whether there is one or not.
CREATE TABLE tenant_auth_throttles (
    key            TEXT   NOT NULL PRIMARY KEY,
    subject        TEXT,
    failures       BIGINT NOT NULL,
    pending        BIGINT NOT NULL,
    pending_until  BIGINT NOT NULL,
    window_ends_at BIGINT NOT NULL,
    blocked_until  BIGINT NOT NULL,
    forget_at      BIGINT NOT NULL
);
CREATE INDEX tenant_auth_throttles_by_subject ON tenant_auth_throttles (subject);
CREATE INDEX tenant_auth_throttles_by_end ON tenant_auth_throttles (forget_at);

-- Where an account logged in from with its password.
CREATE TABLE tenant_auth_known_addresses (
    account_key   TEXT   NOT NULL,
    ip_key        TEXT   NOT NULL,
    last_login_at BIGINT NOT NULL,
    PRIMARY KEY (account_key, ip_key)
);
CREATE INDEX tenant_auth_known_addresses_by_age ON tenant_auth_known_addresses (last_login_at);

-- Time-based one-time passwords. The secret is sealed; until enabled_at is set it guards nothing.
CREATE TABLE tenant_auth_second_factors (
    user_id    TEXT   NOT NULL PRIMARY KEY REFERENCES tenant_auth_users (id) ON DELETE CASCADE,
    secret     TEXT   NOT NULL,
    enabled_at BIGINT,
    last_step  BIGINT NOT NULL,
    created_at BIGINT NOT NULL
);

CREATE TABLE tenant_auth_recovery_codes (
    user_id TEXT NOT NULL REFERENCES tenant_auth_users (id) ON DELETE CASCADE,
    digest  TEXT NOT NULL,
    PRIMARY KEY (user_id, digest)
);

-- Logins that wait for the second factor; the id becomes the session's.
CREATE TABLE tenant_auth_pending_logins (
    id         TEXT   NOT NULL PRIMARY KEY,
    org_id     TEXT   NOT NULL,
    user_id    TEXT   NOT NULL,
    user_epoch BIGINT NOT NULL,
    method     TEXT   NOT NULL,
    attempts   BIGINT NOT NULL,
    ip         TEXT,
    user_agent TEXT,
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    FOREIGN KEY (org_id, user_id) REFERENCES tenant_auth_memberships (org_id, user_id) ON DELETE CASCADE
);
CREATE INDEX tenant_auth_pending_logins_by_member ON tenant_auth_pending_logins (org_id, user_id);
CREATE INDEX tenant_auth_pending_logins_by_end ON tenant_auth_pending_logins (expires_at);

-- Single-use links in mails: reset a password, verify an address, change to another.
CREATE TABLE tenant_auth_links (
    id           TEXT   NOT NULL PRIMARY KEY,
    org_id       TEXT   NOT NULL REFERENCES tenant_auth_organizations (id) ON DELETE CASCADE,
    user_id      TEXT   NOT NULL REFERENCES tenant_auth_users (id) ON DELETE CASCADE,
    purpose      TEXT   NOT NULL,
    email        TEXT   NOT NULL,
    token_digest TEXT   NOT NULL UNIQUE,
    created_at   BIGINT NOT NULL,
    expires_at   BIGINT NOT NULL
);
CREATE INDEX tenant_auth_links_by_user ON tenant_auth_links (user_id, purpose);
CREATE INDEX tenant_auth_links_by_org ON tenant_auth_links (org_id);
CREATE INDEX tenant_auth_links_by_end ON tenant_auth_links (expires_at);

-- Wishes for a reset mail. Asking costs one row whether or not the address has an account; the worker finds out later.
CREATE TABLE tenant_auth_reset_requests (
    id         TEXT   NOT NULL PRIMARY KEY,
    org_id     TEXT   NOT NULL REFERENCES tenant_auth_organizations (id) ON DELETE CASCADE,
    email      TEXT   NOT NULL,
    created_at BIGINT NOT NULL
);
CREATE INDEX tenant_auth_reset_requests_by_age ON tenant_auth_reset_requests (created_at);
CREATE INDEX tenant_auth_reset_requests_by_org ON tenant_auth_reset_requests (org_id);

-- When a signing key was replaced; its tokens are honoured until the last of them has expired.
ALTER TABLE tenant_auth_signing_keys ADD COLUMN retired_at BIGINT;
CREATE UNIQUE INDEX tenant_auth_signing_keys_next ON tenant_auth_signing_keys (purpose) WHERE status = 'next';

-- How many invitations an organization has sent lately.
CREATE INDEX tenant_auth_mails_by_org ON tenant_auth_mails (org_id, kind, created_at);
