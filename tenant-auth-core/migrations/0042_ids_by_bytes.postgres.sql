-- Ids sort by time as bytes do, and in the order of some languages they do not (in Lithuanian y stands at i): by a database's own
-- order the sweep would take new deliveries for old ones, and the oldest event or request would not come first. In the order in which
-- requests and workers take these tables.
LOCK TABLE tenant_auth_reset_requests IN ACCESS EXCLUSIVE MODE;
LOCK TABLE tenant_auth_outbox IN ACCESS EXCLUSIVE MODE;
LOCK TABLE tenant_auth_deliveries IN ACCESS EXCLUSIVE MODE;
ALTER TABLE tenant_auth_reset_requests ALTER COLUMN id TYPE TEXT COLLATE "C";
ALTER TABLE tenant_auth_outbox ALTER COLUMN event_id TYPE TEXT COLLATE "C";
ALTER TABLE tenant_auth_deliveries ALTER COLUMN id TYPE TEXT COLLATE "C";
