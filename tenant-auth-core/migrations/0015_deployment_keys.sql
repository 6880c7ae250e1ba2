-- Deployment keys: the credentials of the product that runs the deployment. They belong to no organization.
CREATE TABLE tenant_auth_deployment_keys (
    id           TEXT   NOT NULL PRIMARY KEY,
    name         TEXT   NOT NULL,
    digest       TEXT   NOT NULL,
    prefix       TEXT   NOT NULL,
    last_four    TEXT   NOT NULL,
    scopes       TEXT   NOT NULL,
    networks     TEXT   NOT NULL,
    created_at   BIGINT NOT NULL,
    expires_at   BIGINT,
    last_used_at BIGINT,
    replaced_by  TEXT
);
CREATE INDEX tenant_auth_deployment_keys_by_end ON tenant_auth_deployment_keys (expires_at);
