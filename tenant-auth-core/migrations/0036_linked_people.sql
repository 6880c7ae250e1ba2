-- By which id the log of an imported organization knows somebody who had an account here already (import): whoever erases the account
-- erases those entries, too.
CREATE TABLE tenant_auth_linked_people (
    org_id    TEXT NOT NULL REFERENCES tenant_auth_organizations (id) ON DELETE CASCADE,
    former_id TEXT NOT NULL,
    user_id   TEXT NOT NULL REFERENCES tenant_auth_users (id) ON DELETE CASCADE,
    PRIMARY KEY (org_id, former_id)
);
CREATE INDEX tenant_auth_linked_people_by_user ON tenant_auth_linked_people (user_id);
