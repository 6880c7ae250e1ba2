-- A refresh is the most frequent write there is. A superseded generation refers to no session any more: a session that ends leaves it to
-- the sweep, which comes for it once the refresh grace is over. SQLite cannot drop a reference, so the table is made anew.
CREATE TABLE tenant_auth_generations (
    session_id    TEXT   NOT NULL,
    generation    BIGINT NOT NULL,
    superseded_at BIGINT NOT NULL,
    PRIMARY KEY (session_id, generation)
);
INSERT INTO tenant_auth_generations (session_id, generation, superseded_at)
SELECT session_id, generation, superseded_at FROM tenant_auth_superseded_generations;
DROP TABLE tenant_auth_superseded_generations;
ALTER TABLE tenant_auth_generations RENAME TO tenant_auth_superseded_generations;
CREATE INDEX tenant_auth_superseded_generations_by_age ON tenant_auth_superseded_generations (superseded_at);
-- The hour in which the session becomes idle, which most refreshes leave as it is: the sweep finds the session by it.
ALTER TABLE tenant_auth_sessions ADD COLUMN idle_hour BIGINT NOT NULL DEFAULT 0;
UPDATE tenant_auth_sessions SET idle_hour = idle_until / 3600000;
DROP INDEX tenant_auth_sessions_by_end;
CREATE INDEX tenant_auth_sessions_by_idle_hour ON tenant_auth_sessions (idle_hour);
