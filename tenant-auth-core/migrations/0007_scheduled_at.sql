-- When the next attempt was scheduled. In the future: the clock was set back since, and the wait is counted anew from now.
ALTER TABLE tenant_auth_mails ADD COLUMN scheduled_at BIGINT;
ALTER TABLE tenant_auth_deliveries ADD COLUMN scheduled_at BIGINT;
