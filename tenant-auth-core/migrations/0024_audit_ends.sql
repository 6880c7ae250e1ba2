-- The audit log of what one actor did to one person: of the many entries about somebody few are of a rare actor.
CREATE INDEX tenant_auth_events_by_user_and_actor ON tenant_auth_events (org_id, user_id, actor_id, sequence)
 WHERE user_id IS NOT NULL AND actor_id IS NOT NULL;
-- Since when another key signs; NULL for those that were retired before this was known.
ALTER TABLE tenant_auth_audit_keys ADD COLUMN retired_at BIGINT;
-- The deployment key that sent an invite, with which the invite ends.
ALTER TABLE tenant_auth_invites ADD COLUMN invited_by_key TEXT;
CREATE INDEX tenant_auth_invites_by_key ON tenant_auth_invites (invited_by_key) WHERE invited_by_key IS NOT NULL;
