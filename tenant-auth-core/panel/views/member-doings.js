// What a member does here: where they are signed in, and what the audit log has of them. For admins.

import { ago, all, api, badge, confirm, device, h, linkButton, loading, moment, page, rowButton, table } from '../kit.js';

export function sessionsOf({ name }, path) {
	const end = (one, what) => confirm({
		title: 'End this session?', action: 'End session', run: () => api('DELETE', `${path}/sessions/${one.id}`), done: () => box.reload(),
		text: [h('bdi', name), ` is signed out of ${what} at once. Other sessions stay.`],
	});
	const line = (one) => {
		const what = device(one.userAgent);
		return [
			h('div.who', h('strong', what), h('small', one.ip ?? 'Unknown address')),
			moment(one.createdAt),
			one.current ? badge('This one', 'good') : ago(one.lastUsedAt),
			one.current ? '' : rowButton('End', what, () => end(one, what), 'danger-quiet'),
		];
	};
	const box = loading(() => all(`${path}/sessions`, 'sessions'), (list) => (list.length
		? table('Sessions', ['Device', 'Signed in', 'Last used', ''], list.toSorted((a, b) => b.lastUsedAt.localeCompare(a.lastUsedAt)).map(line))
		: h('p.hint', 'Not signed in anywhere.')));
	return box;
}

const FEW = 5;

export function activityOf({ userId }) {
	const latest = loading(() => page('/org/audit', 'entries', { limit: FEW, query: { user: userId } }), ({ items }) => (items.length
		? table('Latest activity', ['When', 'What', 'Who'], items.map((one) => [moment(one.timestamp), h('code.break', one.type), one.actor.name ?? (one.actor.id === userId ? 'Themselves' : one.actor.id ?? 'The service')]))
		: h('p.hint', 'Nothing that is kept.')));
	return [latest, h('div.actions', linkButton('What happened to this member', `#/audit/${userId}`, 'small'), linkButton('What this member did', `#/audit/${userId}?part=actor`, 'small'))];
}
