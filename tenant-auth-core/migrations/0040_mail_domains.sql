-- The domains that an organization's mails wait for, and the mail of each that is due longest: one step for each, however many wait for it.
CREATE INDEX tenant_auth_mails_by_domain ON tenant_auth_mails (org_id, recipient_domain, next_attempt_at, id) WHERE next_attempt_at IS NOT NULL;
