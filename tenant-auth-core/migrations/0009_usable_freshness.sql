-- The longest freshness that a process may use (ms). To lower the deployment's number, this one is lowered first, and `freshness`, for
-- which changes wait, once nobody can still use what was before.
ALTER TABLE tenant_auth_memory ADD COLUMN usable BIGINT NOT NULL DEFAULT 0;
UPDATE tenant_auth_memory SET usable = freshness;
