-- How much of a kind happened on a day (UTC, counted from 1970-01-01), in parts: transactions of different organizations seldom wait for
-- the same row. A reader adds the parts up.
CREATE TABLE tenant_auth_tallies (
    day    BIGINT NOT NULL,
    kind   TEXT   NOT NULL,
    part   TEXT   NOT NULL,
    amount BIGINT NOT NULL,
    PRIMARY KEY (day, kind, part)
);
