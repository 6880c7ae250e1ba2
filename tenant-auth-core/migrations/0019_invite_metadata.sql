-- The metadata that wait for somebody who was a member where the organization came from, and who is invited here (import).
ALTER TABLE tenant_auth_invites ADD COLUMN metadata TEXT;
