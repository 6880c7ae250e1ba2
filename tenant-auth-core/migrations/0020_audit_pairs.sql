-- The audit log of one actor or about one person, of one kind: where somebody has a million entries, few of them are of a rare kind.
CREATE INDEX tenant_auth_events_by_actor_and_kind ON tenant_auth_events (org_id, actor_id, kind, sequence) WHERE actor_id IS NOT NULL;
CREATE INDEX tenant_auth_events_by_user_and_kind ON tenant_auth_events (org_id, user_id, kind, sequence) WHERE user_id IS NOT NULL;
