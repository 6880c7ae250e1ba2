// The audit log: what happened here, who did it and whom it was about, found by person, kind and time. Admins only.

import { badge, busy, button, device, download, empty, facts, field, fill, form, h, heading, listing, loading, moment, open, page, rewrite, rowButton, toast } from '../kit.js';
import { KINDS } from '../kinds.js';

const AUTHORS = { user: 'Somebody', api_key: 'An API key', deployment_key: 'A deployment key', system: 'The service' };
const KIND_OPTIONS = [['', 'Everything'], ...Object.entries(KINDS).flatMap(([group, kinds]) => [
	[`${group}.*`, `Every ${group} event`], ...kinds.split(' ').map((kind) => [`${group}.${kind}`, `${group}.${kind}`]),
])];

export function audit({ org, detail, query: wanted }) {
	// One page of them: names of others are shown by their ids.
	const whole = loading(() => page('/org/members', 'members', { limit: 1000 }), ({ items }) => {
		const people = new Map(items.map((one) => [one.userId, one]));
		const list = h('div');
		const form = search(items, { person: detail, ...wanted }, (query) => fill(list, entries(people, query)), org);
		form.show();
		return [form, list];
	});
	return [heading('Audit log', `Who did what in ${org.name}, the latest first. Each entry is chained to the one before.`), whole];
}

// The choice of entries; `show` is given the parameters of the request.
function search(members, wanted, show, org) {
	const options = h('datalist', { id: 'people' }, members.map((one) => h('option', { value: one.email }, one.name)));
	const who = field({ label: 'Person', name: 'person', value: wanted.person ?? '', optional: true, list: 'people', autocomplete: 'off', placeholder: 'name@example.com', maxlength: 254 });
	const part = field({ label: 'The person', name: 'part', value: wanted.part ?? 'user', options: [['user', 'is whom it was about'], ['actor', 'is who did it']] });
	const kind = field({ label: 'What happened', name: 'kind', value: wanted.kind ?? '', options: KIND_OPTIONS, optional: true });
	const from = field({ label: 'From', name: 'from', type: 'date', value: wanted.from ?? '', optional: true });
	const to = field({ label: 'To', name: 'to', type: 'date', value: wanted.to ?? '', optional: true });
	const text = () => who.value.trim();
	const id = () => (text().startsWith('usr_') ? text() : members.find((one) => one.email.toLowerCase() === text().toLowerCase())?.userId);
	// Whole days of the reader's zone, the last one included.
	const days = () => ({ ...(from.value && { from: new Date(`${from.value}T00:00`).toISOString() }), ...(to.value && { to: after(to.value) }) });
	const save = button('Export', () => {
		element.say.clear();
		const saved = () => download('/org/audit/export', days(), `audit-${org.slug}.ndjson`).then(() => toast('The audit log is saved.'));
		busy(save, () => saved().catch((error) => element.say.fail(error)));
	}, { title: 'Every entry of these days, as a file that can be verified' });
	const element = form({
		fields: [who, part, kind, from, to, options], submit: 'Show', kind: '', extra: [save],
		check: () => text() && !id() && ['person', 'Nobody here has this address. Former members are found by their id, usr_….'],
		keeps: false,
		onsubmit: async () => {
			const chosen = Object.fromEntries([who, part, kind, from, to].map((one) => [one.input.name, one.value.trim()]));
			rewrite({ ...chosen, part: text() && chosen.part }, '#/audit');
			element.show();
		},
	});
	element.classList.add('filters');
	return Object.assign(element, { show: () => show({ ...(id() && { [part.value]: id() }), ...(kind.value && { kind: kind.value }), ...days() }) });
}

function after(date) {
	const day = new Date(`${date}T00:00`);
	day.setDate(day.getDate() + 1);
	return day.toISOString();
}

function entries(people, query) {
	const name = (id) => people.get(id)?.name ?? id;
	const author = (one) => one.actor.name ?? (one.actor.type === 'user' ? name(one.actor.id) : AUTHORS[one.actor.type]);
	return listing({
		path: '/org/audit', key: 'entries', noun: 'entries', query, columns: ['When', 'What', 'Who', 'About', ''],
		line: (one) => [
			moment(one.timestamp),
			h('code', one.type),
			author(one),
			one.user ? name(one.user) : '',
			rowButton('Details', `${one.type} ${one.sequence}`, () => details(one, author(one), one.user && name(one.user))),
		],
		nothing: () => empty('audit', 'Nothing found', 'Nothing that is kept was like this.'),
	});
}

function details(one, author, about) {
	const { ip, userAgent, sessionId } = one.context ?? {};
	open(one.type, () => [
		facts(
			['When', moment(one.timestamp)], ['Who', h('span', author, one.actor.id && h('code.break', ` ${one.actor.id}`))],
			...(about ? [['About', h('a', { href: `#/members/${one.user}` }, h('bdi', about), h('code.break', ` ${one.user}`))]] : []),
			...(ip ? [['Address', ip]] : []), ...(userAgent ? [['Device', device(userAgent)]] : []), ...(sessionId ? [['Session', h('code.break', sessionId)]] : []),
			['Number', String(one.sequence)], ['Entry', h('code.break', one.id)], ['Hash', h('code.break', one.hash)]),
		one.erased ? h('p', badge('Erased', 'wait'), ' What it said of a person was erased with the person’s account.') : [h('h3', 'Data'), h('pre', { tabindex: '0', 'aria-label': 'Data' }, JSON.stringify(one.data, null, 2))],
	], { wide: true });
}
