-- The former incarnations of the database, and the last number of the log when each ended. A cursor of one of them counts if its place
-- lies before that end: what came after belongs to a life of the file that a restored backup undid.
CREATE TABLE tenant_auth_past_incarnations (
    number   INTEGER PRIMARY KEY AUTOINCREMENT,
    token    TEXT   NOT NULL,
    ended_at BIGINT NOT NULL
);
