// The organization's members, for every member; admins open one to manage it.

import { addButton, day, h, heading, listing, roleBadge, rowButton, statusBadge } from '../kit.js';
import { parseKeepingMetadata } from '../json.js';
import { inviteSomebody } from './invites.js';
import { openMember } from './member.js';

const FILTERS = [
	['role', 'Role', [['', 'Every role'], ['org_admin', 'Admins'], ['member', 'Members']]],
	['status', 'Status', [['', 'Every status'], ['active', 'Active'], ['suspended', 'Suspended']]],
];

export function members(context) {
	const { org, user, isAdmin } = context;
	const list = listing({
		path: '/org/members', key: 'members', noun: 'members', columns: ['Member', 'Role', 'Status', 'Joined', ''], parse: parseKeepingMetadata,
		search: true, filters: FILTERS,
		line: (one) => [
			h('div.who', h('strong', one.name, one.userId === user.id && h('span.you', ' you')), h('small', one.email)),
			roleBadge(one),
			statusBadge(one),
			day(one.joinedAt),
			rowButton(isAdmin ? 'Manage' : 'Details', one.name, () => openMember(context, one, list.reload)),
		],
	});
	return [heading('Members', `Everybody who belongs to ${org.name}.`, isAdmin && addButton('Invite', () => inviteSomebody())), list];
}
