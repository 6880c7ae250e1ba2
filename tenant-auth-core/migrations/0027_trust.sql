-- Organizations that sign-up made: whether they may send as many invites as any other, and until when it is open whether anybody comes
-- back to them. NULL: somebody did, or it was never asked.
ALTER TABLE tenant_auth_organizations ADD COLUMN is_trusted BOOLEAN NOT NULL DEFAULT TRUE;
ALTER TABLE tenant_auth_organizations ADD COLUMN unproven_until BIGINT;
CREATE INDEX tenant_auth_organizations_unproven ON tenant_auth_organizations (unproven_until) WHERE unproven_until IS NOT NULL;
