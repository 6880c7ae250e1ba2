-- When an organization is to be deleted, and whether its admins were reminded. Since when it is being removed: from then on it is known
-- by its id alone, which stands in the place of its slug too. And until when a worker holds the removal.
ALTER TABLE tenant_auth_organizations ADD COLUMN deletes_at BIGINT;
ALTER TABLE tenant_auth_organizations ADD COLUMN is_reminded BOOLEAN NOT NULL DEFAULT FALSE;
ALTER TABLE tenant_auth_organizations ADD COLUMN removed_at BIGINT;
ALTER TABLE tenant_auth_organizations ADD COLUMN removal_held_until BIGINT NOT NULL DEFAULT 0;
CREATE INDEX tenant_auth_organizations_by_deletion ON tenant_auth_organizations (deletes_at) WHERE deletes_at IS NOT NULL;

-- The slugs of organizations that were removed, as SHA-256: none of them is given out again.
CREATE TABLE tenant_auth_former_slugs (
    digest     TEXT   NOT NULL PRIMARY KEY,
    id         TEXT   NOT NULL,
    removed_at BIGINT NOT NULL
);

-- Whether an invite waits for somebody's address, in any organization: then the account stays without a membership.
CREATE INDEX tenant_auth_invites_by_address ON tenant_auth_invites (email_key);
