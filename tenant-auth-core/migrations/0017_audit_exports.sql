-- The export of an audit log that is being written to an admin: one for each organization, as long as its time has not run out.
CREATE TABLE tenant_auth_audit_exports (
    org_id     TEXT   NOT NULL PRIMARY KEY REFERENCES tenant_auth_organizations (id) ON DELETE CASCADE,
    token      TEXT   NOT NULL,
    held_until BIGINT NOT NULL
);
