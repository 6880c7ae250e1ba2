-- The keys that sign exports and checkpoints of audit logs. A public half is kept for ever, because whoever kept a file may verify it at
-- any time; a private half, which is sealed, until the key is retired or compromised.
CREATE TABLE tenant_auth_audit_keys (
    kid         TEXT   NOT NULL PRIMARY KEY,
    public_key  TEXT   NOT NULL,
    private_key TEXT,
    status      TEXT   NOT NULL,
    created_at  BIGINT NOT NULL,
    revoked_at  BIGINT
);
CREATE UNIQUE INDEX tenant_auth_audit_keys_active ON tenant_auth_audit_keys (status) WHERE status = 'active';
