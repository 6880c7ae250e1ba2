// Where the organization's events are sent. The signing secret is shown once.

import { addButton, api, ask, button, checkbox, choices, day, empty, field, h, heading, listing, parts, showOnce, statusBadge, t } from '../kit.js';
import { BY_NAME_ALONE, groupName, KINDS } from '../kinds.js';

export function webhooks({ org }) {
	const add = () => create(list.reload);
	const list = listing({
		path: '/org/webhooks', key: 'webhooks', noun: 'webhooks', columns: [t('panel.column.endpoint'), t('panel.column.events'), t('panel.column.status'), t('panel.column.created'), ''], search: 'search',
		line: (one) => [
			h('div.who', h('strong', one.url), one.description && h('small', one.description)),
			h('span', { title: one.events.join(', ') }, one.events.includes('*') ? t('panel.webhooks.all_events') : String(one.events.length)),
			statusBadge(one),
			day(one.createdAt),
			h('a.button.small', { href: `#/webhooks/${one.id}`, 'aria-label': t('panel.webhooks.open_one', { url: one.url }) }, t('panel.webhooks.open')),
		],
		nothing: () => empty('webhooks', t('panel.webhooks.none.title'), t('panel.webhooks.none.text'), button(t('panel.webhooks.create_one'), add)),
	});
	return [heading(t('panel.view.webhooks'), t('panel.webhooks.lead', { organization: org.name }), addButton(t('panel.webhooks.create'), add)), list];
}

// The fields of a webhook's form; `read()` answers the body of a request.
export function webhookFields(one) {
	const url = field({ label: t('panel.webhooks.url'), name: 'url', type: 'url', value: one?.url ?? '', placeholder: 'https://app.example.com/webhooks', hint: t('panel.webhooks.url.hint') });
	const description = field({ label: t('panel.webhooks.description'), name: 'description', value: one?.description ?? '', maxlength: 200, optional: true });
	const kinds = picker(one?.events ?? []);
	return {
		fields: [url, kinds, description],
		check: () => !kinds.picked().length && ['events', t('panel.choose_one')],
		read: () => ({ url: url.value.trim(), events: kinds.picked(), description: description.value }),
	};
}

// Kinds by group: everything, a whole group, or one by one.
function picker(chosen) {
	const box = (value, label) => checkbox('events', value, label, chosen.includes(value));
	const whole = box('*', t('panel.webhooks.everything'));
	const groups = Object.entries(KINDS).map(([name, kinds]) => ({
		name, every: box(`${name}.*`, t('panel.kinds.every', { group: groupName(name) })), each: kinds.split(' ').map((kind) => box(`${name}.${kind}`, `${name}.${kind}`)),
	}));
	const settle = () => {
		for (const { every, each } of groups) {
			every.input.disabled = whole.input.checked;
			for (const one of each) one.input.disabled = !BY_NAME_ALONE.includes(one.input.value) && (whole.input.checked || every.input.checked);
		}
	};
	const sections = groups.map(({ name, every, each }) => h('details', { open: [every, ...each].some((one) => one.input.checked) }, h('summary', groupName(name)), every, each));
	const element = choices(t('panel.column.events'), whole, sections);
	element.addEventListener('change', settle);
	settle();
	return element;
}

function create(done) {
	const { fields, check, read } = webhookFields();
	ask({
		title: t('panel.webhooks.create_one'), wide: true, fields, check, submit: t('panel.webhooks.create'), request: () => ['POST', '/org/webhooks', read()], onsubmit: () => api('POST', '/org/webhooks', read()),
		done({ webhook, secret }) {
			done();
			showSigningSecret(secret, () => (location.hash = `#/webhooks/${webhook.id}`));
		},
	});
}

export const showSigningSecret = (secret, onclose) => showOnce({
	title: t('panel.webhooks.secret.title'), label: t('panel.webhooks.secret.label'), secret, onclose,
	text: parts('panel.webhooks.secret.text', { standard: h('code', 'whsec_'), ours: h('code', 'whs_') }),
});
