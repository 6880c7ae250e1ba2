-- A refresh is the most frequent write there is. Its session's row is found by the sweep by the hour in which it becomes idle, which most
-- refreshes leave as it is: then no index has to be written (HOT), for which pages need some room.
ALTER TABLE tenant_auth_superseded_generations DROP CONSTRAINT tenant_auth_superseded_generations_session_id_fkey;
ALTER TABLE tenant_auth_sessions ADD COLUMN idle_hour BIGINT NOT NULL DEFAULT 0;
UPDATE tenant_auth_sessions SET idle_hour = idle_until / 3600000;
DROP INDEX tenant_auth_sessions_by_end;
CREATE INDEX tenant_auth_sessions_by_idle_hour ON tenant_auth_sessions (idle_hour);
ALTER TABLE tenant_auth_sessions SET (fillfactor = 85);
