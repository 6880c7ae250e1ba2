// Where the organization's events are sent. The signing secret is shown once.

import { addButton, api, ask, button, checkbox, day, empty, field, h, heading, listing, showOnce, statusBadge } from '../kit.js';
import { KINDS } from '../kinds.js';

export function webhooks({ org }) {
	const add = () => create(list.reload);
	const list = listing({
		path: '/org/webhooks', key: 'webhooks', noun: 'webhooks', columns: ['Endpoint', 'Events', 'Status', 'Created', ''],
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
	const url = field({ label: 'Endpoint URL', name: 'url', type: 'url', value: one?.url ?? '', placeholder: 'https://app.example.com/webhooks', hint: 'It must use https and be reachable from the internet.' });
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
		name, every: box(`${name}.*`, `Every ${name} event`), each: kinds.split(' ').map((kind) => box(`${name}.${kind}`, `${name}.${kind}`)),
	}));
	const error = h('p.hint', { role: 'alert' });
	const settle = () => {
		error.textContent = '';
		for (const { every, each } of groups) {
			every.input.disabled = whole.input.checked;
			for (const one of each) one.input.disabled = whole.input.checked || every.input.checked;
		}
	};
	const sections = groups.map(({ name, every, each }) => h('details', { open: [every, ...each].some((one) => one.input.checked) }, h('summary', name), every, each));
	const element = h('fieldset', { onchange: settle }, h('legend', 'Events'), whole, sections, error);
	settle();
	return Object.assign(element, {
		input: whole.input,
		fail(message) {
			element.classList.toggle('wrong', Boolean(message));
			error.textContent = message;
		},
		picked: () => [...element.querySelectorAll('input:checked:enabled')].map((input) => input.value),
	});
}

function create(done) {
	const { fields, check, read } = webhookFields();
	ask({
		title: 'Create a webhook', wide: true, fields, check, submit: 'Create webhook', onsubmit: () => api('POST', '/org/webhooks', read()),
		done({ webhook, secret }) {
			done();
			showSecret(secret, () => (location.hash = `#/webhooks/${webhook.id}`));
		},
	});
}

export const showSecret = (secret, onclose) => showOnce({
	title: 'The secret of this webhook', label: 'Signing secret', secret, onclose,
	text: 'Your endpoint checks signatures with it, by any library for Standard Webhooks.',
});
