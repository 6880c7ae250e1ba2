// The audit log: what happened here, who did it and whom it was about, found by person, kind and time. Admins only.

import { badge, busy, button, device, download, empty, facts, field, fill, form, h, heading, listing, loading, moment, open, page, rewrite, rowButton, t, toast } from '../kit.js';
import { KINDS } from '../kinds.js';

const AUTHORS = { user: t('panel.author.user'), api_key: t('panel.author.api_key'), deployment_key: t('panel.author.deployment_key'), system: t('panel.author.system') };
const KIND_OPTIONS = [['', t('panel.kinds.everything')], ...Object.entries(KINDS).flatMap(([group, kinds]) => [
	[`${group}.*`, t('panel.kinds.every', { group })], ...kinds.split(' ').map((kind) => [`${group}.${kind}`, `${group}.${kind}`]),
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
	return [heading(t('panel.view.audit'), t('panel.audit.lead', { organization: org.name })), whole];
}

// The choice of entries; `show` is given the parameters of the request.
function search(members, wanted, show, org) {
	const options = h('datalist', { id: 'people' }, members.map((one) => h('option', { value: one.email }, one.name)));
	const who = field({ label: t('panel.audit.person'), name: 'person', value: wanted.person ?? '', optional: true, list: 'people', autocomplete: 'off', placeholder: 'name@example.com', maxlength: 254 });
	const part = field({ label: t('panel.audit.part'), name: 'part', value: wanted.part ?? 'user', options: [['user', t('panel.audit.part.user')], ['actor', t('panel.audit.part.actor')]] });
	const kind = field({ label: t('panel.audit.kind'), name: 'kind', value: wanted.kind ?? '', options: KIND_OPTIONS, optional: true });
	const from = field({ label: t('panel.audit.from'), name: 'from', type: 'date', value: wanted.from ?? '', optional: true });
	const to = field({ label: t('panel.audit.to'), name: 'to', type: 'date', value: wanted.to ?? '', optional: true });
	const text = () => who.value.trim();
	const id = () => (text().startsWith('usr_') ? text() : members.find((one) => one.email.toLowerCase() === text().toLowerCase())?.userId);
	// Whole days of the reader's zone, the last one included.
	const days = () => ({ ...(from.value && { from: new Date(`${from.value}T00:00`).toISOString() }), ...(to.value && { to: after(to.value) }) });
	const save = button(t('panel.audit.export'), () => {
		element.say.clear();
		const saved = () => download('/org/audit/export', days(), `audit-${org.slug}.ndjson`).then(() => toast(t('panel.audit.saved')));
		busy(save, () => saved().catch((error) => element.say.fail(error)));
	}, { title: t('panel.audit.export.title') });
	const element = form({
		fields: [who, part, kind, from, to, options], submit: t('panel.audit.show'), kind: '', extra: [save],
		check: () => text() && !id() && ['person', t('panel.audit.nobody')],
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
		path: '/org/audit', key: 'entries', noun: 'entries', query, columns: [t('panel.column.when'), t('panel.column.what'), t('panel.column.who'), t('panel.column.about'), ''],
		line: (one) => [
			moment(one.timestamp),
			h('code', one.type),
			h('bdi', author(one)),
			one.user ? h('bdi', name(one.user)) : '',
			rowButton(t('panel.details'), `${one.type} ${one.sequence}`, () => details(one, author(one), one.user && name(one.user))),
		],
		nothing: () => empty('audit', t('panel.list.nothing'), t('panel.audit.nothing')),
	});
}

function details(one, author, about) {
	const { ip, userAgent, sessionId } = one.context ?? {};
	open(one.type, () => [
		facts(
			[t('panel.column.when'), moment(one.timestamp)], [t('panel.column.who'), h('span', h('bdi', author), one.actor.id && h('code.break', ` ${one.actor.id}`))],
			...(about ? [[t('panel.column.about'), h('a', { href: `#/members/${one.user}` }, h('bdi', about), h('code.break', ` ${one.user}`))]] : []),
			...(ip ? [[t('panel.audit.address'), ip]] : []), ...(userAgent ? [[t('panel.column.device'), device(userAgent)]] : []), ...(sessionId ? [[t('panel.audit.session'), h('code.break', sessionId)]] : []),
			[t('panel.audit.number'), String(one.sequence)], [t('panel.audit.entry'), h('code.break', one.id)], [t('panel.audit.hash'), h('code.break', one.hash)]),
		one.erased ? h('p', badge(t('panel.audit.erased'), 'wait'), ` ${t('panel.audit.erased.text')}`) : [h('h3', t('panel.audit.data')), h('pre', { tabindex: '0', 'aria-label': t('panel.audit.data') }, JSON.stringify(one.data, null, 2))],
	], { wide: true });
}
