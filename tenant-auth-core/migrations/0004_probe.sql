-- The row that is written to learn whether the database takes writes (readiness). It means nothing else.
CREATE TABLE tenant_auth_probe (
    id     INTEGER NOT NULL PRIMARY KEY,
    trials BIGINT  NOT NULL
);
