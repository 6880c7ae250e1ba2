// The organization itself: admins change it, everybody sees the facts and may leave.

import { api, appField, badge, button, card, confirm, facts, field, fill, form, h, heading, moment, nameField, said, statusBadge, toast } from '../kit.js';
import { leave } from '../stops.js';
import { forget } from '../store.js';

export function settings(context) {
	const { org, isAdmin } = context;
	const quit = () => confirm({
		title: said`Leave ${org.name}?`, action: 'Leave',
		text: 'You lose access at once. To come back you need a new invite.',
		run: () => api('POST', '/org/leave'),
		done() {
			forget(org.slug);
			leave('left');
		},
	});
	const known = h('div');
	const show = () => fill(known, factsOf(context.org));
	show();
	return [
		heading('Settings', isAdmin ? `How ${org.name} presents itself, and which pages may call the API.` : `The facts about ${org.name}.`),
		isAdmin && details(context, show),
		card('Details', null, known),
		card('Leave', `You lose access to ${org.name} at once and need a new invite to come back. The last active admin cannot leave.`, button('Leave organization', quit, { kind: 'danger-quiet' })),
	];
}

const factsOf = (org) => facts(
	['Name', org.name],
	['Slug', h('code', org.slug)],
	['Id', h('code', org.id)],
	['Application', org.appUrl ? h('a', { href: org.appUrl }, org.appUrl) : '—'],
	['Plan', badge(org.plan)],
	['Status', statusBadge(org)],
	['Created', moment(org.createdAt)]);

function details(context, done) {
	const { org } = context;
	const [name, app] = [nameField({ value: org.name }), appField(org.appUrl)];
	const origins = field({
		label: 'Further allowed origins', name: 'allowedOrigins', type: 'textarea', rows: 3, value: org.allowedOrigins.join('\n'), optional: true, class: 'code',
		placeholder: 'https://admin.example.com', hint: 'Other origins whose pages may call the API from a browser, one a line.',
	});
	return card('Organization', null, form({
		fields: [name, app, origins], submit: 'Save changes',
		onsubmit: async () => {
			const { org: now } = await api('PATCH', '/org', { name: name.value, appUrl: app.value.trim() || null, allowedOrigins: origins.value.split(/\s+/).filter(Boolean) });
			toast('The settings were saved.');
			context.org = now;
			done();
			context.refresh();
		},
	}));
}
