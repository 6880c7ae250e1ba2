// The organization itself: admins change it, everybody sees the facts and may leave.

import { api, appField, badge, button, card, changes, confirm, facts, field, fill, form, h, heading, keepFocus, loading, moment, nameField, sentence, statusBadge, t, toast } from '../kit.js';
import { leave } from '../stops.js';
import { forget } from '../store.js';

export function settings(context) {
	const { org, isAdmin } = context;
	const quit = () => confirm({
		title: sentence('panel.settings.leave.title', { organization: org.name }), action: t('panel.settings.leave'),
		text: t('panel.settings.leave.text'),
		run: () => api('POST', '/org/leave').then(() => t('panel.settings.left')),
		done() {
			forget(org.slug);
			leave('left');
		},
	});
	// As it is now, which the page may have learned long ago.
	const whole = loading(() => api('GET', '/org'), ({ org: now }) => {
		const box = h('div');
		const show = (one) => fill(box, isAdmin && details(context, one, (saved) => keepFocus(box, () => show(saved))), card(t('panel.details'), null, factsOf(one)));
		show(now);
		return box;
	});
	return [
		heading(t('panel.view.settings'), isAdmin ? t('panel.settings.lead.admin', { organization: org.name }) : t('panel.settings.lead.member', { organization: org.name })),
		whole,
		card(t('panel.settings.leave'), t('panel.settings.leave.card', { organization: org.name }), button(t('panel.settings.leave.action'), quit, { kind: 'danger-quiet' })),
	];
}

const factsOf = (org) => facts(
	[t('field.name'), h('bdi', org.name)],
	[t('panel.column.slug'), h('code', org.slug)],
	[t('panel.column.id'), h('code', org.id)],
	[t('panel.column.application'), org.appUrl ? h('a', { href: org.appUrl }, org.appUrl) : '—'],
	[t('panel.column.plan'), badge(org.plan)],
	[t('panel.column.status'), statusBadge(org)],
	[t('panel.column.created'), moment(org.createdAt)]);

function details(context, org, done) {
	const [name, app] = [nameField({ value: org.name }), appField(org.appUrl)];
	const origins = field({
		label: t('panel.settings.origins'), name: 'allowedOrigins', type: 'textarea', rows: 3, value: org.allowedOrigins.join('\n'), optional: true, class: 'code',
		placeholder: 'https://admin.example.com', hint: t('panel.settings.origins.hint'),
	});
	const read = () => ({ name: name.value, appUrl: app.value.trim() || null, allowedOrigins: origins.value.split(/\s+/).filter(Boolean) });
	let saved = read();
	return card(t('panel.view.organization'), null, form({
		fields: [name, app, origins], submit: t('panel.save_changes'),
		onsubmit: async () => {
			const wanted = read();
			const { org: now } = await api('PATCH', '/org', changes(saved, wanted));
			toast(t('panel.settings.saved'));
			context.refresh();
			// What others have changed is shown, but over nothing that was typed meanwhile.
			if (!Object.keys(changes(wanted, read())).length) return done(now);
			saved = wanted;
		},
	}));
}
