// The kinds of events; a test compares.

export const KINDS = {
	invite: 'created resent revoked accepted',
	member: 'joined updated role_changed suspended reactivated removed',
	session: 'created revoked reuse_detected',
	login: 'blocked',
	user: 'updated password_changed email_verified two_factor_enabled two_factor_disabled deleted',
	org: 'created updated suspended reactivated deletion_scheduled deletion_cancelled exported imported',
	audit: 'exported checkpoint',
	api_key: 'created rotated revoked',
	webhook: 'test disabled',
};
