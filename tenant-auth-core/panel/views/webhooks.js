// Where the organization's events are sent. The signing secret is shown once.

import { addButton, api, ask, button, checkbox, choices, day, empty, field, h, heading, listing, showOnce, statusBadge } from '../kit.js';
import { groupName, KINDS } from '../kinds.js';

export function webhooks({ org }) {
	const add = () => create(list.reload);
	const list = listing({
		path: '/org/webhooks', key: 'webhooks', noun: 'webhooks', columns: ['Endpoint', 'Events', 'Status', 'Created', ''], search: true,
		line: (one) => [
			h('div.who', h('strong', one.url), one.description && h('small', one.description)),
			h('span', { title: one.events.join(', ') }, one.events.includes('*') ? 'All' : String(one.events.length)),
			statusBadge(one),
			day(one.createdAt),
			h('a.button.small', { href: `#/webhooks/${one.id}`, 'aria-label': `Open ${one.url}` }, 'Open'),
		],
		nothing: () => empty('webhooks', 'No webhooks', 'Your application can be told what happens here, as it happens.', button('Create a webhook', add)),
	});
	return [heading('Webhooks', `Signed notifications of what happens in ${org.name}, sent to your endpoints.`, addButton('Create webhook', add)), list];
}

// The fields of a webhook's form; `read()` answers the body of a request.
export function webhookFields(one) {
	const url = field({ label: 'Endpoint URL', name: 'url', type: 'url', value: one?.url ?? '', placeholder: 'https://app.example.com/webhooks', hint: 'The service must be able to reach it; in production it must use https.' });
	const description = field({ label: 'Description', name: 'description', value: one?.description ?? '', maxlength: 200, optional: true });
	const kinds = picker(one?.events ?? []);
	return {
		fields: [url, kinds, description],
		check: () => !kinds.picked().length && ['events', 'Choose at least one.'],
		read: () => ({ url: url.value.trim(), events: kinds.picked(), description: description.value }),
	};
}

// Kinds by group: everything, a whole group, or one by one.
function picker(chosen) {
	const box = (value, label) => checkbox('events', value, label, chosen.includes(value));
	const whole = box('*', 'Everything, also kinds that come later');
	const groups = Object.entries(KINDS).map(([name, kinds]) => ({
		name, every: box(`${name}.*`, `Every ${groupName(name)} event`), each: kinds.split(' ').map((kind) => box(`${name}.${kind}`, `${name}.${kind}`)),
	}));
	const settle = () => {
		for (const { every, each } of groups) {
			every.input.disabled = whole.input.checked;
			for (const one of each) one.input.disabled = whole.input.checked || every.input.checked;
		}
	};
	const sections = groups.map(({ name, every, each }) => h('details', { open: [every, ...each].some((one) => one.input.checked) }, h('summary', groupName(name)), every, each));
	const element = choices('Events', whole, sections);
	element.addEventListener('change', settle);
	settle();
	return element;
}

function create(done) {
	const { fields, check, read } = webhookFields();
	ask({
		title: 'Create a webhook', wide: true, fields, check, submit: 'Create webhook', request: () => ['POST', '/org/webhooks', read()], onsubmit: () => api('POST', '/org/webhooks', read()),
		done({ webhook, secret }) {
			done();
			showSigningSecret(secret, () => (location.hash = `#/webhooks/${webhook.id}`));
		},
	});
}

export const showSigningSecret = (secret, onclose) => showOnce({
	title: 'The secret of this webhook', label: 'Signing secret', secret, onclose,
	text: ['Your endpoint checks signatures with it. A library for Standard Webhooks wants it with ', h('code', 'whsec_'), ' in place of ', h('code', 'whs_'), '.'],
});
