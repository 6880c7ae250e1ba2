-- What came of each attempt of a delivery, one line each (see store/attempt_log.rs). Beside the delivery, so that recording an outcome
-- stays one statement over one table.
ALTER TABLE tenant_auth_deliveries ADD COLUMN attempt_log TEXT NOT NULL DEFAULT '';
