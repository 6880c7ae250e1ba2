-- The log of changes on which a remembered answer may rest. SQLite has one writer, so the numbers stand in the order of the commits;
-- without AUTOINCREMENT they would begin anew after a sweep. What the former table held was read by nobody.
DROP TABLE tenant_auth_changes;
CREATE TABLE tenant_auth_changes (
    seq    INTEGER PRIMARY KEY AUTOINCREMENT,
    org_id TEXT,
    kind   TEXT NOT NULL,
    id     TEXT NOT NULL
);

-- Which database this is: another token means that nothing that is remembered holds.
CREATE TABLE tenant_auth_incarnation (
    one   INTEGER NOT NULL PRIMARY KEY CHECK (one = 1),
    token TEXT    NOT NULL
);
INSERT INTO tenant_auth_incarnation (one, token) VALUES (1, lower(hex(randomblob(16))));

-- The deployment's freshness (the largest that a process announced, in ms; 0: nobody remembers), and the marks of the sweep.
CREATE TABLE tenant_auth_memory (
    one       INTEGER NOT NULL PRIMARY KEY CHECK (one = 1),
    freshness BIGINT  NOT NULL,
    mark      BIGINT  NOT NULL,
    previous  BIGINT  NOT NULL,
    newest    BIGINT  NOT NULL
);
INSERT INTO tenant_auth_memory (one, freshness, mark, previous, newest) VALUES (1, 0, 0, 0, 0);
