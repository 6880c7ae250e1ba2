// The organization's members, for every member; admins open one to manage it.

import { addButton, ahead, all, api, busy, button, counted, day, h, heading, is, listing, place, roleBadge, rowButton, save, sentence, statusBadge, t, toast, topDialog } from '../kit.js';
import { csv } from '../csv.js';
import { parseKeepingMetadata } from '../json.js';
import { words } from '../words.js';
import { inviteMany } from './bulk.js';
import { inviteSomebody } from './invites.js';
import { openMember } from './member.js';

const FILTERS = [
	['role', t('panel.role'), [['', t('panel.members.every_role')], ['org_admin', t('panel.members.admins')], ['member', t('panel.view.members')]]],
	['status', t('panel.column.status'), [['', t('panel.every_status')], ['active', t('panel.state.active')], ['suspended', t('panel.state.suspended')]]],
];

export function members(context) {
	const { org, user, isAdmin, detail } = context;
	// As the member is now, which the list may have learned long ago; nobody waits for what comes late.
	const isAwaited = () => list.isConnected && !topDialog();
	const show = (id) => findMember(id).then((one) => isAwaited() && openMember(context, one, list.reload), (error) => isAwaited() && toast(is(error, 'not_found') ? t('panel.members.unknown') : words(error), true));
	const manage = (one) => {
		const element = rowButton(isAdmin ? t('panel.members.manage') : t('panel.details'), one.name, () => busy(element, () => show(one.userId)));
		return element;
	};
	const store = button(t('panel.members.export'), () => busy(store, () => exportMembers(org).catch((error) => toast(words(error), true))), { title: t('panel.members.export.title') });
	const list = listing({
		path: '/org/members', key: 'members', noun: 'members', columns: [t('panel.role.member'), t('panel.role'), t('panel.column.status'), t('panel.column.joined'), ''], parse: parseKeepingMetadata,
		search: 'q', filters: FILTERS,
		line: (one) => [
			h('div.who', h('strong', h('bdi', one.name), one.userId === user.id && h('span.you', ` ${t('panel.members.you')}`)), h('small', one.email)),
			roleBadge(one),
			statusBadge(one),
			day(one.joinedAt),
			manage(one),
		],
	});
	if (detail) show(detail);
	return [
		heading(t('panel.view.members'), sentence('panel.members.lead', { organization: org.name }), isAdmin && addButton(t('panel.invite'), () => inviteSomebody()), isAdmin && button(t('panel.invite_many'), () => inviteMany(() => {})), isAdmin && store),
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
	toast(counted('panel.members.saved', found.length));
}
