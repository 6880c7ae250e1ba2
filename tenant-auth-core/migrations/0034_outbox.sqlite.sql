-- Events that wait to be turned into deliveries, a narrow row each: to unmark the event itself would write its row and all its indexes
-- anew. Events of organizations without webhooks never wait. sequence, kind and created_at are the event's.
CREATE TABLE tenant_auth_outbox (
    event_id   TEXT   NOT NULL PRIMARY KEY,
    org_id     TEXT   NOT NULL REFERENCES tenant_auth_organizations (id) ON DELETE CASCADE,
    sequence   BIGINT NOT NULL,
    kind       TEXT   NOT NULL,
    created_at BIGINT NOT NULL
);
CREATE INDEX tenant_auth_outbox_by_organization ON tenant_auth_outbox (org_id);
INSERT INTO tenant_auth_outbox (event_id, org_id, sequence, kind, created_at)
SELECT id, org_id, sequence, kind, created_at FROM tenant_auth_events WHERE undelivered;
DROP INDEX tenant_auth_events_undelivered;
ALTER TABLE tenant_auth_events DROP COLUMN undelivered;

-- Deliveries are swept by their ids, which sort by creation.
DROP INDEX tenant_auth_deliveries_by_time;
