// The kinds of events, by what they are about. A test holds them against the service's own.

export const KINDS = {
	invite: 'created resent revoked accepted',
	member: 'joined updated role_changed suspended reactivated removed',
	session: 'created revoked reuse_detected',
	user: 'updated password_changed email_verified two_factor_enabled two_factor_disabled',
	org: 'updated suspended reactivated',
	api_key: 'created rotated revoked',
	webhook: 'test disabled',
};
