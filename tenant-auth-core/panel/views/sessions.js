// A person's own sessions in this organization, and ending them.

import { ago, api, badge, button, confirm, device, h, heading, listing, moment, rowButton, t } from '../kit.js';

export function sessions({ org }) {
	const end = (path, title, action, text, said) => confirm({ title, action, text, run: () => api('DELETE', path).then(() => said), done: () => list.reload() });
	const others = () => end('/auth/sessions', t('panel.sessions.others.title'), t('panel.sessions.others'), t('panel.sessions.others.text', { organization: org.name }), t('panel.sessions.others.done'));
	const line = (one) => {
		const what = device(one.userAgent);
		const endIt = () => end(`/auth/sessions/${one.id}`, t('panel.session.end.title'), t('panel.session.end.action'), t('panel.session.end.text', { device: what, address: one.ip ?? t('panel.session.somewhere') }), t('panel.session.ended'));
		return [
			h('div.who', h('strong', what), h('small', one.ip ?? t('panel.session.no_address'))),
			moment(one.createdAt),
			one.current ? badge(t('panel.session.this'), 'good') : ago(one.lastUsedAt),
			one.current ? '' : rowButton(t('panel.session.end'), what, endIt, 'danger-quiet'),
		];
	};
	const list = listing({
		path: '/auth/sessions', key: 'sessions', noun: 'sessions', columns: [t('panel.column.device'), t('panel.column.signed_in'), t('panel.column.last_used'), ''], search: 'search', line,
		sort: (a, b) => b.current - a.current || b.lastUsedAt.localeCompare(a.lastUsedAt),
	});
	return [heading(t('panel.view.sessions'), t('panel.sessions.lead', { organization: org.name }), button(t('panel.sessions.others'), others, { kind: 'danger-quiet' })), list];
}
