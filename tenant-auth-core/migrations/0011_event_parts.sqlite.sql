-- Events in parts, chained by hashes: what an event tells (`data`) and what was known of the request (`context`) can be wiped, while
-- their digests stay. A former version that still runs writes `payload` as before; the next commit of this one takes it apart.
-- SQLite can drop a column, but not its NOT NULL.
ALTER TABLE tenant_auth_events RENAME COLUMN payload TO whole;
ALTER TABLE tenant_auth_events ADD COLUMN payload TEXT;
UPDATE tenant_auth_events SET payload = whole;
ALTER TABLE tenant_auth_events DROP COLUMN whole;
-- Who caused it, and whom it is about.
ALTER TABLE tenant_auth_events ADD COLUMN actor_type TEXT;
ALTER TABLE tenant_auth_events ADD COLUMN actor_id TEXT;
ALTER TABLE tenant_auth_events ADD COLUMN user_id TEXT;
-- A part and its salt are NULL once they are wiped. An event without a hash is still whole, in `payload`.
ALTER TABLE tenant_auth_events ADD COLUMN data TEXT;
ALTER TABLE tenant_auth_events ADD COLUMN data_salt TEXT;
ALTER TABLE tenant_auth_events ADD COLUMN data_digest TEXT;
ALTER TABLE tenant_auth_events ADD COLUMN context TEXT;
ALTER TABLE tenant_auth_events ADD COLUMN context_salt TEXT;
ALTER TABLE tenant_auth_events ADD COLUMN context_digest TEXT;
ALTER TABLE tenant_auth_events ADD COLUMN hash TEXT;
CREATE INDEX tenant_auth_events_by_actor ON tenant_auth_events (org_id, actor_id, sequence) WHERE actor_id IS NOT NULL;
CREATE INDEX tenant_auth_events_by_user ON tenant_auth_events (org_id, user_id, sequence) WHERE user_id IS NOT NULL;
CREATE INDEX tenant_auth_events_by_kind ON tenant_auth_events (org_id, kind, sequence);
CREATE INDEX tenant_auth_events_with_context ON tenant_auth_events (created_at) WHERE context IS NOT NULL AND context <> 'null';

-- The head of the chain, which a commit reads and writes under this row's lock: the number of the last event that is chained, its
-- hash (NULL: the beginning, SHA-256 of the organization's id) and its time. And where what is kept of the chain begins: the first
-- number, and the hash before it.
ALTER TABLE tenant_auth_event_sequences ADD COLUMN chained BIGINT NOT NULL DEFAULT 0;
ALTER TABLE tenant_auth_event_sequences ADD COLUMN hash TEXT;
ALTER TABLE tenant_auth_event_sequences ADD COLUMN last_at BIGINT NOT NULL DEFAULT 0;
ALTER TABLE tenant_auth_event_sequences ADD COLUMN first_sequence BIGINT NOT NULL DEFAULT 1;
ALTER TABLE tenant_auth_event_sequences ADD COLUMN first_previous TEXT;
