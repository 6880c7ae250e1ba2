-- Sign-up: who asked for a link to make an organization with, and the links that were mailed. Both know an address and no account: the
-- address may have none, and nobody learns whether it has. One request waits for each address; a worker claims it with a lease, which is
-- its next attempt.
CREATE TABLE tenant_auth_sign_up_requests (
    id              TEXT   NOT NULL PRIMARY KEY,
    email           TEXT   NOT NULL,
    email_key       TEXT   NOT NULL UNIQUE,
    attempts        BIGINT NOT NULL,
    next_attempt_at BIGINT NOT NULL,
    created_at      BIGINT NOT NULL
);
CREATE INDEX tenant_auth_sign_up_requests_due ON tenant_auth_sign_up_requests (next_attempt_at);
CREATE INDEX tenant_auth_sign_up_requests_by_age ON tenant_auth_sign_up_requests (created_at);
CREATE TABLE tenant_auth_sign_up_links (
    id           TEXT   NOT NULL PRIMARY KEY,
    email        TEXT   NOT NULL,
    email_key    TEXT   NOT NULL,
    token_digest TEXT   NOT NULL UNIQUE,
    created_at   BIGINT NOT NULL,
    expires_at   BIGINT NOT NULL
);
CREATE INDEX tenant_auth_sign_up_links_by_address ON tenant_auth_sign_up_links (email_key);
CREATE INDEX tenant_auth_sign_up_links_by_end ON tenant_auth_sign_up_links (expires_at);
