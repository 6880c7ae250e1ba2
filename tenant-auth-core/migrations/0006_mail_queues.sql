-- One waiting wish for a reset mail for each organization and recipient. Rows of an older version have no key and stay apart.
ALTER TABLE tenant_auth_reset_requests ADD COLUMN email_key TEXT;
CREATE UNIQUE INDEX tenant_auth_reset_requests_waiting ON tenant_auth_reset_requests (org_id, email_key);

-- Whose server takes a waiting mail, so that few mails wait for one server at once; wiped with the content.
ALTER TABLE tenant_auth_mails ADD COLUMN recipient_domain TEXT;
CREATE INDEX tenant_auth_mails_queues ON tenant_auth_mails (org_id, next_attempt_at) WHERE next_attempt_at IS NOT NULL;
