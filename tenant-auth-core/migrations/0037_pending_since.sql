-- When the first of the reservations that are held together was made. Who settles an attempt whose reservation ended with its lease frees
-- none of those that came after.
ALTER TABLE tenant_auth_throttles ADD COLUMN pending_since BIGINT NOT NULL DEFAULT 0;
