// The kinds of events; a test compares.

import { t } from './text.js';

export const KINDS = {
	invite: 'created resent revoked accepted',
	member: 'joined updated role_changed suspended reactivated removed',
	session: 'created revoked reuse_detected',
	login: 'blocked',
	user: 'updated password_changed email_verified two_factor_enabled two_factor_disabled recovery_codes_replaced recovery_code_used deleted',
	org: 'created updated suspended reactivated deletion_scheduled deletion_cancelled exported imported',
	audit: 'exported checkpoint',
	api_key: 'created rotated revoked',
	webhook: 'created updated deleted secret_rotated test disabled',
};

// What is done to webhooks is chosen by name alone: `*` and `webhook.*` leave it out. A test compares.
export const BY_NAME_ALONE = ['webhook.created', 'webhook.updated', 'webhook.deleted', 'webhook.secret_rotated'];

// What a group of kinds is called.
export const groupName = (group) => t(`panel.group.${group}`);

// What a webhook's choice is called: `*` and `member.*` stand for many.
export function kindName(kind) {
	if (kind === '*') return t('panel.kinds.everything');
	return kind.endsWith('.*') ? t('panel.kinds.every', { group: groupName(kind.slice(0, -2)) }) : kind;
}
