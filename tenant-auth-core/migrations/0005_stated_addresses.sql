-- Whether the address of a login that waits for its second factor was stated by the organization's backend: what is counted by it is
-- counted in that organization alone.
ALTER TABLE tenant_auth_pending_logins ADD COLUMN is_ip_stated BOOLEAN NOT NULL DEFAULT FALSE;
