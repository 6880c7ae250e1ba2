// The kinds of events a webhook can ask for, by what they are about. A test holds this list against the service's own.

/** Every kind, in groups; `group.*` stands for all of one group, `*` for everything. */
export const KINDS = [
  'invite.created', 'invite.resent', 'invite.revoked', 'invite.accepted',
  'member.joined', 'member.updated', 'member.role_changed', 'member.suspended', 'member.reactivated', 'member.removed',
  'session.created', 'session.revoked', 'session.reuse_detected',
  'user.updated', 'user.password_changed', 'user.email_verified', 'user.two_factor_enabled', 'user.two_factor_disabled',
  'org.updated', 'org.suspended', 'org.reactivated',
  'api_key.created', 'api_key.rotated', 'api_key.revoked',
];
