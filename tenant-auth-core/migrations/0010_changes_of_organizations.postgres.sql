-- What changed of one organization's answers since a place in the log, for backends that remember: such a place may be minutes old.
CREATE INDEX tenant_auth_changes_by_org ON tenant_auth_changes (org_id, xid);

-- The places of the last marks. What was visible at the oldest of them is swept; `previous` in `tenant_auth_memory` is what a former
-- version sweeps by.
CREATE TABLE tenant_auth_marks (
    mark  BIGINT NOT NULL PRIMARY KEY,
    place TEXT   NOT NULL
);
INSERT INTO tenant_auth_marks (mark, place) SELECT mark, newest FROM tenant_auth_memory;
