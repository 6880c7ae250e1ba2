-- The deployment's own log: what concerns no organization, or whether there is one. Its entries are chained as those of organizations
-- are, and nothing of them is told to webhooks. There is one head, which a commit reads and writes under its row's lock.
CREATE TABLE tenant_auth_deployment_chain (
    id       BIGINT NOT NULL PRIMARY KEY,
    sequence BIGINT NOT NULL,
    hash     TEXT,
    last_at  BIGINT NOT NULL
);
INSERT INTO tenant_auth_deployment_chain (id, sequence, hash, last_at) VALUES (1, 0, NULL, 0);
CREATE TABLE tenant_auth_deployment_entries (
    sequence       BIGINT NOT NULL PRIMARY KEY,
    id             TEXT   NOT NULL,
    kind           TEXT   NOT NULL,
    created_at     BIGINT NOT NULL,
    actor_type     TEXT   NOT NULL,
    actor_id       TEXT,
    user_id        TEXT,
    data           TEXT   NOT NULL,
    data_salt      TEXT   NOT NULL,
    data_digest    TEXT   NOT NULL,
    context_salt   TEXT   NOT NULL,
    context_digest TEXT   NOT NULL,
    hash           TEXT   NOT NULL
);
CREATE INDEX tenant_auth_deployment_entries_by_time ON tenant_auth_deployment_entries (created_at);
