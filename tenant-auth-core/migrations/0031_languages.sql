-- The language of mails: what the person's browser asked for at the last login, and what the browser asked for that a waiting request for
-- a mail came from. NULL: none.
ALTER TABLE tenant_auth_users ADD COLUMN language TEXT;
ALTER TABLE tenant_auth_reset_requests ADD COLUMN language TEXT;
ALTER TABLE tenant_auth_sign_up_requests ADD COLUMN language TEXT;
