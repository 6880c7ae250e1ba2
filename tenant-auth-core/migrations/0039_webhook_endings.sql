-- Webhooks that were disabled or deleted with more deliveries than one transaction takes: a worker looks for them often, and there are few.
CREATE INDEX tenant_auth_webhooks_ending ON tenant_auth_webhooks (id) WHERE status IN ('cancelling', 'deleted');
