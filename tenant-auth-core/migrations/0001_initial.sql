-- Times are BIGINT milliseconds since the Unix epoch, ids are TEXT, JSON is TEXT: one dialect with {other_engine}. Everything carries
-- the prefix tenant_auth_, for the database may be the host application's own.

CREATE TABLE tenant_auth_organizations (
    id              TEXT    NOT NULL PRIMARY KEY,
    name            TEXT    NOT NULL,
    slug            TEXT    NOT NULL UNIQUE,
    plan            TEXT    NOT NULL,
    status          TEXT    NOT NULL,
    app_url         TEXT,
    allowed_origins TEXT    NOT NULL,
    revision        BIGINT  NOT NULL,
    created_at      BIGINT  NOT NULL
);
CREATE INDEX tenant_auth_organizations_by_age ON tenant_auth_organizations (created_at, id);

-- The order of an organization's events. A table of its own, so that a login neither waits for nor invalidates its organization.
CREATE TABLE tenant_auth_event_sequences (
    org_id   TEXT   NOT NULL PRIMARY KEY REFERENCES tenant_auth_organizations (id) ON DELETE CASCADE,
    sequence BIGINT NOT NULL
);

-- Which origins browsers may call from: derived from app_url and allowed_origins, for preflights that name no organization.
CREATE TABLE tenant_auth_organization_origins (
    org_id TEXT NOT NULL REFERENCES tenant_auth_organizations (id) ON DELETE CASCADE,
    origin TEXT NOT NULL,
    PRIMARY KEY (origin, org_id)
);
CREATE INDEX tenant_auth_organization_origins_by_org ON tenant_auth_organization_origins (org_id);

CREATE TABLE tenant_auth_users (
    id                TEXT    NOT NULL PRIMARY KEY,
    name              TEXT    NOT NULL,
    email             TEXT    NOT NULL,
    email_key         TEXT    NOT NULL UNIQUE,
    role              TEXT    NOT NULL,
    is_email_verified BOOLEAN NOT NULL,
    bio               TEXT,
    phone             TEXT,
    password_hash     TEXT    NOT NULL,
    epoch             BIGINT  NOT NULL,
    created_at        BIGINT  NOT NULL
);

CREATE TABLE tenant_auth_memberships (
    org_id    TEXT   NOT NULL REFERENCES tenant_auth_organizations (id) ON DELETE CASCADE,
    user_id   TEXT   NOT NULL REFERENCES tenant_auth_users (id) ON DELETE CASCADE,
    id        TEXT   NOT NULL UNIQUE,
    role      TEXT   NOT NULL,
    status    TEXT   NOT NULL,
    metadata  TEXT   NOT NULL,
    joined_at BIGINT NOT NULL,
    PRIMARY KEY (org_id, user_id)
);
CREATE INDEX tenant_auth_memberships_by_age ON tenant_auth_memberships (org_id, joined_at, user_id);
CREATE INDEX tenant_auth_memberships_by_user ON tenant_auth_memberships (user_id, org_id);

CREATE TABLE tenant_auth_sessions (
    id           TEXT   NOT NULL PRIMARY KEY,
    org_id       TEXT   NOT NULL,
    user_id      TEXT   NOT NULL,
    user_epoch   BIGINT NOT NULL,
    generation   BIGINT NOT NULL,
    amr          TEXT   NOT NULL,
    auth_time    BIGINT NOT NULL,
    refreshed_at BIGINT NOT NULL,
    last_used_at BIGINT NOT NULL,
    idle_until   BIGINT NOT NULL,
    expires_at   BIGINT NOT NULL,
    ip           TEXT,
    user_agent   TEXT,
    FOREIGN KEY (org_id, user_id) REFERENCES tenant_auth_memberships (org_id, user_id) ON DELETE CASCADE
);
CREATE INDEX tenant_auth_sessions_by_member ON tenant_auth_sessions (org_id, user_id, auth_time, id);
CREATE INDEX tenant_auth_sessions_by_user ON tenant_auth_sessions (user_id);
CREATE INDEX tenant_auth_sessions_by_end ON tenant_auth_sessions (idle_until);

-- When a session's former generations were superseded. A row is worth keeping as long as the refresh grace lasts.
CREATE TABLE tenant_auth_superseded_generations (
    session_id    TEXT   NOT NULL REFERENCES tenant_auth_sessions (id) ON DELETE CASCADE,
    generation    BIGINT NOT NULL,
    superseded_at BIGINT NOT NULL,
    PRIMARY KEY (session_id, generation)
);
CREATE INDEX tenant_auth_superseded_generations_by_age ON tenant_auth_superseded_generations (superseded_at);

CREATE TABLE tenant_auth_invites (
    id           TEXT   NOT NULL PRIMARY KEY,
    org_id       TEXT   NOT NULL REFERENCES tenant_auth_organizations (id) ON DELETE CASCADE,
    email        TEXT   NOT NULL,
    email_key    TEXT   NOT NULL,
    role         TEXT   NOT NULL,
    token_digest TEXT   NOT NULL UNIQUE,
    invited_by   TEXT   REFERENCES tenant_auth_users (id) ON DELETE CASCADE,
    mail_id      TEXT   NOT NULL,
    created_at   BIGINT NOT NULL,
    expires_at   BIGINT NOT NULL,
    UNIQUE (org_id, email_key)
);
CREATE INDEX tenant_auth_invites_by_age ON tenant_auth_invites (org_id, created_at, id);
CREATE INDEX tenant_auth_invites_by_sender ON tenant_auth_invites (org_id, invited_by);
CREATE INDEX tenant_auth_invites_by_user ON tenant_auth_invites (invited_by);
CREATE INDEX tenant_auth_invites_by_end ON tenant_auth_invites (expires_at);

CREATE TABLE tenant_auth_api_keys (
    id           TEXT   NOT NULL PRIMARY KEY,
    org_id       TEXT   NOT NULL REFERENCES tenant_auth_organizations (id) ON DELETE CASCADE,
    name         TEXT   NOT NULL,
    digest       TEXT   NOT NULL,
    prefix       TEXT   NOT NULL,
    last_four    TEXT   NOT NULL,
    scopes       TEXT   NOT NULL,
    created_by   TEXT   REFERENCES tenant_auth_users (id) ON DELETE SET NULL,
    created_at   BIGINT NOT NULL,
    expires_at   BIGINT,
    last_used_at BIGINT,
    replaced_by  TEXT
);
CREATE INDEX tenant_auth_api_keys_by_age ON tenant_auth_api_keys (org_id, created_at, id);
CREATE INDEX tenant_auth_api_keys_by_creator ON tenant_auth_api_keys (created_by);
CREATE INDEX tenant_auth_api_keys_by_end ON tenant_auth_api_keys (expires_at);

-- What happened, written in the transaction of the change (outbox).
CREATE TABLE tenant_auth_events (
    id         TEXT   NOT NULL PRIMARY KEY,
    org_id     TEXT   NOT NULL REFERENCES tenant_auth_organizations (id) ON DELETE CASCADE,
    sequence   BIGINT NOT NULL,
    kind       TEXT   NOT NULL,
    payload    TEXT   NOT NULL,
    created_at BIGINT NOT NULL,
    UNIQUE (org_id, sequence)
);
CREATE INDEX tenant_auth_events_by_age ON tenant_auth_events (created_at);

-- Mail on its way. The content is sealed, and wiped once it is sent or given up.
CREATE TABLE tenant_auth_mails (
    id              TEXT   NOT NULL PRIMARY KEY,
    org_id          TEXT   NOT NULL REFERENCES tenant_auth_organizations (id) ON DELETE CASCADE,
    kind            TEXT   NOT NULL,
    content         TEXT,
    status          TEXT   NOT NULL,
    attempts        BIGINT NOT NULL,
    next_attempt_at BIGINT,
    useless_after   BIGINT NOT NULL,
    last_error      TEXT,
    created_at      BIGINT NOT NULL
);
CREATE INDEX tenant_auth_mails_due ON tenant_auth_mails (next_attempt_at) WHERE next_attempt_at IS NOT NULL;
CREATE INDEX tenant_auth_mails_by_age ON tenant_auth_mails (created_at);

-- What other processes must forget: one row for each thing a transaction changed.
CREATE TABLE tenant_auth_changes (
    seq        {counting_key},
    kind       TEXT   NOT NULL,
    id         TEXT   NOT NULL,
    created_at BIGINT NOT NULL
);
CREATE INDEX tenant_auth_changes_by_age ON tenant_auth_changes (created_at);

CREATE TABLE tenant_auth_signing_keys (
    kid         TEXT   NOT NULL PRIMARY KEY,
    purpose     TEXT   NOT NULL,
    status      TEXT   NOT NULL,
    private_key TEXT   NOT NULL,
    created_at  BIGINT NOT NULL
);
CREATE UNIQUE INDEX tenant_auth_signing_keys_active ON tenant_auth_signing_keys (purpose) WHERE status = 'active';
