-- The scheme and the cost of a password hash that an import brought, until the person's first login replaces the hash. A failed login
-- takes as long as with the dearest of them.
ALTER TABLE tenant_auth_users ADD COLUMN foreign_scheme TEXT;
ALTER TABLE tenant_auth_users ADD COLUMN foreign_cost BIGINT;
CREATE INDEX tenant_auth_users_by_foreign_cost ON tenant_auth_users (foreign_scheme, foreign_cost) WHERE foreign_scheme IS NOT NULL;
