// The organization's members, for every member; admins open one to manage it.

import { addButton, ahead, all, api, busy, button, day, h, heading, is, listing, place, roleBadge, rowButton, save, statusBadge, toast, topDialog } from '../kit.js';
import { csv } from '../csv.js';
import { parseKeepingMetadata } from '../json.js';
import { words } from '../words.js';
import { inviteMany } from './bulk.js';
import { inviteSomebody } from './invites.js';
import { openMember } from './member.js';

const FILTERS = [
	['role', 'Role', [['', 'Every role'], ['org_admin', 'Admins'], ['member', 'Members']]],
	['status', 'Status', [['', 'Every status'], ['active', 'Active'], ['suspended', 'Suspended']]],
];

export function members(context) {
	const { org, user, isAdmin, detail } = context;
	const show = (one) => openMember(context, one, list.reload);
	const store = button('Export CSV', () => busy(store, () => exportMembers(org).catch((error) => toast(words(error)))), { title: 'The members that are shown, all pages of them' });
	const list = listing({
		path: '/org/members', key: 'members', noun: 'members', columns: ['Member', 'Role', 'Status', 'Joined', ''], parse: parseKeepingMetadata,
		search: true, filters: FILTERS,
		line: (one) => [
			h('div.who', h('strong', one.name, one.userId === user.id && h('span.you', ' you')), h('small', one.email)),
			roleBadge(one),
			statusBadge(one),
			day(one.joinedAt),
			rowButton(isAdmin ? 'Manage' : 'Details', one.name, () => show(one)),
		],
	});
	if (detail) findMember(detail).then((one) => topDialog() || show(one), (error) => toast(is(error, 'not_found') ? 'Nobody here has this id.' : words(error)));
	return [
		heading('Members', ['Everybody who belongs to ', h('bdi', org.name), '.'], isAdmin && addButton('Invite', () => inviteSomebody()), isAdmin && button('Invite many', () => inviteMany(() => {})), isAdmin && store),
		list,
	];
}

// The list as the panel shows it first, asked for while it is not known yet who asks.
export const membersAhead = () => ahead('/org/members?limit=100', { parse: parseKeepingMetadata });

const findMember = (id) => api('GET', `/org/members/${encodeURIComponent(id)}`, undefined, { parse: parseKeepingMetadata }).then(({ member }) => member);

// Those the address asks for. Metadata stays here: an application reads it by the API, digit for digit.
async function exportMembers(org) {
	const found = await all('/org/members', 'members', { query: place().query });
	const rows = found.map((one) => [one.name, one.email, one.role, one.status, one.joinedAt, one.userId]);
	save(csv([['name', 'email', 'role', 'status', 'joined', 'id'], ...rows]), `members-${org.slug}.csv`);
	toast(`${found.length.toLocaleString('en')} members were saved.`);
}
