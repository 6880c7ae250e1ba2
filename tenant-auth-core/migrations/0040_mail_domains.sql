-- The domains that an organization's mails wait for: one step for each, however many mails wait for it.
CREATE INDEX tenant_auth_mails_by_domain ON tenant_auth_mails (org_id, recipient_domain, next_attempt_at) WHERE next_attempt_at IS NOT NULL;
