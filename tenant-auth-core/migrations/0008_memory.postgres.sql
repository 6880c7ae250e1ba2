-- The log of changes on which a remembered answer may rest, by the writing transaction: numbers of a sequence commit out of order,
-- and a reader past a number would never see one below it. What the former table held was read by nobody.
DROP TABLE tenant_auth_changes;
CREATE TABLE tenant_auth_changes (
    xid    BIGINT NOT NULL DEFAULT (pg_current_xact_id()::text::bigint),
    org_id TEXT,
    kind   TEXT   NOT NULL,
    id     TEXT   NOT NULL
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 20000);
CREATE INDEX tenant_auth_changes_by_xid ON tenant_auth_changes (xid);

-- Which database this is. Transaction numbers go back in a crash and in a failover; an unlogged row is gone after either, and
-- reading the row is an error on a standby. Whoever finds no row makes one, with a token that nobody knows.
CREATE UNLOGGED TABLE tenant_auth_incarnation (
    one   INTEGER NOT NULL PRIMARY KEY CHECK (one = 1),
    token TEXT    NOT NULL
);

-- The deployment's freshness (the largest that a process announced, in ms; 0: nobody remembers), and the marks of the sweep.
CREATE TABLE tenant_auth_memory (
    one       INTEGER NOT NULL PRIMARY KEY CHECK (one = 1),
    freshness BIGINT  NOT NULL,
    mark      BIGINT  NOT NULL,
    previous  TEXT    NOT NULL,
    newest    TEXT    NOT NULL
);
INSERT INTO tenant_auth_memory (one, freshness, mark, previous, newest)
VALUES (1, 0, 0, pg_current_snapshot()::text, pg_current_snapshot()::text);
