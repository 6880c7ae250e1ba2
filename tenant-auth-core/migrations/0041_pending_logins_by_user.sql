-- Whose logins wait for a second factor: a change of the password ends them in every organization.
CREATE INDEX tenant_auth_pending_logins_by_user ON tenant_auth_pending_logins (user_id);
