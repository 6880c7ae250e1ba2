-- When an organization's audit log was last signed at its head, and the number of the entry that told of it: a log that did not grow
-- since is not signed again.
ALTER TABLE tenant_auth_event_sequences ADD COLUMN checkpoint_at BIGINT NOT NULL DEFAULT 0;
ALTER TABLE tenant_auth_event_sequences ADD COLUMN checkpointed BIGINT NOT NULL DEFAULT 0;
CREATE INDEX tenant_auth_event_sequences_by_checkpoint ON tenant_auth_event_sequences (checkpoint_at);
