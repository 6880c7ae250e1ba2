// A person's own sessions in this organization, and ending them.

import { ago, api, badge, button, confirm, device, h, heading, listing, moment, rowButton } from '../kit.js';

export function sessions({ org }) {
	const end = (path, title, action, text) => confirm({ title, action, text, run: () => api('DELETE', path), done: () => list.reload() });
	const others = () => end('/auth/sessions', 'End all other sessions?', 'End all others', `Every other device is signed out of ${org.name} at once.`);
	const line = (one) => {
		const what = device(one.userAgent);
		const endIt = () => end(`/auth/sessions/${one.id}`, 'End this session?', 'End session', `${what}, signed in from ${one.ip ?? 'an unknown address'}, is signed out at once.`);
		return [
			h('div.who', h('strong', what), h('small', one.ip ?? 'Unknown address')),
			moment(one.createdAt),
			one.current ? badge('This one', 'good') : ago(one.lastUsedAt),
			one.current ? '' : rowButton('End', what, endIt, 'danger-quiet'),
		];
	};
	const list = listing({
		path: '/auth/sessions', key: 'sessions', noun: 'sessions', columns: ['Device', 'Signed in', 'Last used', ''], search: true, line,
		sort: (a, b) => b.current - a.current || b.lastUsedAt.localeCompare(a.lastUsedAt),
	});
	return [heading('Sessions', `Where you are signed in to ${org.name}. Each organization has sessions of its own.`, button('End all others', others, { kind: 'danger-quiet' })), list];
}
