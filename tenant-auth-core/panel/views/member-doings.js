// What a member does here: where they are signed in, and what the audit log has of them. For admins.

import { ago, all, api, badge, confirm, device, h, linkButton, loading, moment, page, parts, rowButton, t, table } from '../kit.js';

export function sessionsOf({ name }, path) {
	const end = (one, what) => confirm({
		title: t('panel.session.end.title'), action: t('panel.session.end.action'), run: () => api('DELETE', `${path}/sessions/${one.id}`).then(() => t('panel.session.ended')), done: () => box.reload(),
		text: parts('panel.member.session.text', { name: h('bdi', name), device: what }),
	});
	const line = (one) => {
		const what = device(one.userAgent);
		return [
			h('div.who', h('strong', what), h('small', one.ip ?? t('panel.session.no_address'))),
			moment(one.createdAt),
			one.current ? badge(t('panel.session.this'), 'good') : ago(one.lastUsedAt),
			one.current ? '' : rowButton(t('panel.session.end'), what, () => end(one, what), 'danger-quiet'),
		];
	};
	const box = loading(() => all(`${path}/sessions`, 'sessions'), (list) => (list.length
		? table(t('panel.view.sessions'), [t('panel.column.device'), t('panel.column.signed_in'), t('panel.column.last_used'), ''], list.toSorted((a, b) => b.lastUsedAt.localeCompare(a.lastUsedAt)).map(line))
		: h('p.hint', t('panel.member.nowhere'))));
	return box;
}

const FEW = 5;

export function activityOf({ userId }) {
	const latest = loading(() => page('/org/audit', 'entries', { limit: FEW, query: { user: userId } }), ({ items }) => (items.length
		? table(t('panel.member.activity'), [t('panel.column.when'), t('panel.column.what'), t('panel.column.who')], items.map((one) => [moment(one.timestamp), h('code.break', one.type), h('bdi', one.actor.name ?? (one.actor.id === userId ? t('panel.member.themselves') : one.actor.id ?? t('panel.author.system')))]))
		: h('p.hint', t('panel.member.no_activity'))));
	return [latest, h('div.actions', linkButton(t('panel.member.happened'), `#/audit/${userId}`, 'small'), linkButton(t('panel.member.did'), `#/audit/${userId}?part=actor`, 'small'))];
}
