-- An organization's oldest events, where another's backlog is deep: one step for each, however many wait.
DROP INDEX tenant_auth_outbox_by_organization;
CREATE INDEX tenant_auth_outbox_by_organization ON tenant_auth_outbox (org_id, sequence);
