-- Where an organization wants its events sent. events holds kinds and patterns, separated by spaces; failing_since is when the
-- endpoint last stopped answering well.
CREATE TABLE tenant_auth_webhooks (
    id            TEXT   NOT NULL PRIMARY KEY,
    org_id        TEXT   NOT NULL REFERENCES tenant_auth_organizations (id) ON DELETE CASCADE,
    url           TEXT   NOT NULL,
    events        TEXT   NOT NULL,
    description   TEXT   NOT NULL,
    status        TEXT   NOT NULL,
    failing_since BIGINT,
    created_by    TEXT   REFERENCES tenant_auth_users (id) ON DELETE SET NULL,
    created_at    BIGINT NOT NULL,
    UNIQUE (org_id, id)
);
CREATE INDEX tenant_auth_webhooks_by_age ON tenant_auth_webhooks (org_id, created_at, id);
CREATE INDEX tenant_auth_webhooks_by_creator ON tenant_auth_webhooks (created_by);

-- What a webhook's deliveries are signed with, sealed: one secret, and for a while after a rotation the one before it.
CREATE TABLE tenant_auth_webhook_secrets (
    id         TEXT   NOT NULL PRIMARY KEY,
    org_id     TEXT   NOT NULL,
    webhook_id TEXT   NOT NULL,
    secret     TEXT   NOT NULL,
    created_at BIGINT NOT NULL,
    expires_at BIGINT,
    FOREIGN KEY (org_id, webhook_id) REFERENCES tenant_auth_webhooks (org_id, id) ON DELETE CASCADE
);
CREATE INDEX tenant_auth_webhook_secrets_by_webhook ON tenant_auth_webhook_secrets (org_id, webhook_id);
CREATE INDEX tenant_auth_webhook_secrets_by_end ON tenant_auth_webhook_secrets (expires_at);

-- One event on its way to one webhook. A row that is due is claimed by moving next_attempt_at to the end of a lease.
CREATE TABLE tenant_auth_deliveries (
    id               TEXT   NOT NULL PRIMARY KEY,
    org_id           TEXT   NOT NULL,
    webhook_id       TEXT   NOT NULL,
    event_id         TEXT   NOT NULL,
    event_kind       TEXT   NOT NULL,
    status           TEXT   NOT NULL,
    attempts         BIGINT NOT NULL,
    next_attempt_at  BIGINT,
    last_status_code BIGINT,
    last_error       TEXT,
    created_at       BIGINT NOT NULL,
    FOREIGN KEY (org_id, webhook_id) REFERENCES tenant_auth_webhooks (org_id, id) ON DELETE CASCADE
);
CREATE INDEX tenant_auth_deliveries_by_age ON tenant_auth_deliveries (org_id, webhook_id, created_at, id);
CREATE INDEX tenant_auth_deliveries_by_time ON tenant_auth_deliveries (created_at);
CREATE INDEX tenant_auth_deliveries_by_event ON tenant_auth_deliveries (event_id);
CREATE INDEX tenant_auth_deliveries_due ON tenant_auth_deliveries (webhook_id, next_attempt_at) WHERE next_attempt_at IS NOT NULL;
CREATE INDEX tenant_auth_deliveries_next ON tenant_auth_deliveries (next_attempt_at) WHERE next_attempt_at IS NOT NULL;

-- Whether an event still waits to be turned into deliveries. Events of organizations without webhooks never do.
ALTER TABLE tenant_auth_events ADD COLUMN undelivered BOOLEAN NOT NULL DEFAULT FALSE;
CREATE INDEX tenant_auth_events_undelivered ON tenant_auth_events (created_at, id) WHERE undelivered;
